"""Read Kafka without a consumer group: a range, everything up to now, or everything from now on.

All readers are read_committed. "Up to now" means up to the newest record, those of open transactions included: the
reader waits until each such transaction is decided (committed, aborted, or timed out by the broker), so that nothing
committed before the call can be missed behind somebody's stalled transaction.

Trap: a confluent-kafka Message of a tombstone is falsy, so `if message:` loses it; it is compared with None.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from connectors.kafka.admin import Admin, Place
from connectors.kafka.client import PREFETCH, REQUEST_SECONDS, Ear, configuration
from connectors.kafka.failure import KafkaFailure
from connectors.kafka.properties import KafkaProperties
from connectors.kafka.record import KafkaRecord

_AT_ONCE = 1_000
_GROUP = "tidewire-reader"
_END_WAIT_MS = 20
"""The end of a partition shows only in a fetch that brings nothing, which by default the broker holds back 500 ms."""


class OffsetTrimmed(KafkaFailure):
    """The records asked for are no longer kept."""

    code = "offset_trimmed"


class Reader:
    """Read topics from given offsets. Each reading has a consumer of its own; closing the iterator closes it.

    *Cost*: opening a reading takes about 10 ms; then about 200,000 small records/s.
    """

    def __init__(self, properties: KafkaProperties, timeout: float = REQUEST_SECONDS) -> None:
        self._properties = properties
        self._timeout = timeout
        self.admin = Admin(properties, timeout)

    def read_range(self, topic: str, partition: int, start: int, stop: int) -> Iterator[KafkaRecord]:
        """Yield the records of [start, stop) of one partition; waits for those that are not written yet.

        Raises:
            OffsetTrimmed: `start` is no longer kept.
        """
        return self._read({(topic, partition): start}, {(topic, partition): stop})

    def read_ranges(self, topic: str, ranges: Mapping[int, tuple[int, int]]) -> Iterator[KafkaRecord]:
        """Yield the records of a range of each partition, as `read_range` does; partitions interleave."""
        starts, stops = ({number: pair[i] for number, pair in ranges.items()} for i in (0, 1))
        return self._read(_places(topic, starts), _places(topic, stops))

    def read_to_end(
        self,
        topic: str,
        partitions: Sequence[int] | None = None,
        start: Mapping[int, int] | None = None,
        header: str = "",
    ) -> Iterator[KafkaRecord]:
        """Yield what is in `topic` now, from the oldest record kept or from `start` (partition -> offset).

        Records of one partition come in order; partitions interleave. Open transactions are waited for. They come with
        the header of the name `header`, if one is asked for.
        """
        ends = self.admin.end_offsets(topic, partitions)
        starts = self.admin.begin_offsets(topic, ends) | {p: o for p, o in (start or {}).items() if p in ends}
        return self._read(_places(topic, starts), _places(topic, ends), header)

    def tail(
        self, topic: str, start: Mapping[int, int] | None = None, idle: float = 0.5
    ) -> Iterator[KafkaRecord | None]:
        """Yield records for ever, from now on or from `start`; None whenever nothing came for `idle` seconds.

        What is written after this call returns is yielded, even if iteration begins later.
        """
        starts = self.admin.end_offsets(topic, committed=True) | dict(start or {})
        return self._follow(_places(topic, starts), idle)

    def _follow(self, starts: Mapping[Place, int], idle: float) -> Iterator[KafkaRecord | None]:
        with _Reading(self._properties, starts, eof=False) as reading:
            while True:
                messages = reading.poll(idle)
                yield from map(record_of, messages)
                if not messages:
                    yield None

    def _read(self, starts: Mapping[Place, int], stops: Mapping[Place, int], header: str = "") -> Iterator[KafkaRecord]:
        open_places = {place: stop for place, stop in stops.items() if starts[place] < stop}
        if not open_places:
            return
        with _Reading(self._properties, {place: starts[place] for place in open_places}, eof=True) as reading:
            heard = time.monotonic()
            while open_places:
                messages = reading.poll(0.5)
                for message in messages:
                    place, offset, ended = (message.topic(), message.partition()), message.offset(), _is_end(message)
                    stop = open_places.get(place, -1)
                    if not ended and offset < stop:
                        yield record_of(message) if not header else _with_header(message, header)
                    if offset + (not ended) >= stop:
                        open_places.pop(place, None)
                heard = self._still_there(heard, bool(messages))

    def _still_there(self, heard: float, now: bool) -> float:
        """Ask whether the broker lives when nothing was heard for long. *Raises* BrokerUnavailable."""
        if now:
            return time.monotonic()
        if time.monotonic() - heard < self._timeout:
            return heard
        self.admin.topics()
        return time.monotonic()


class _Reading:
    """An open consumer with fixed starts."""

    def __init__(self, properties: KafkaProperties, starts: Mapping[Place, int], eof: bool) -> None:
        self._ear = Ear(properties.bootstrap)
        own = {
            "group.id": _GROUP,
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "auto.offset.reset": "error",
            "enable.partition.eof": eof,
        }
        defaults = PREFETCH | ({"fetch.wait.max.ms": _END_WAIT_MS} if eof else {})
        self._consumer = Consumer(configuration(properties, self._ear, own, defaults))
        self._consumer.assign([TopicPartition(topic, number, offset) for (topic, number), offset in starts.items()])

    def __enter__(self) -> _Reading:
        return self

    def __exit__(self, *_: object) -> None:
        self._consumer.close()

    def poll(self, seconds: float) -> list[Message]:
        """Return what is there, ends of partitions among it; waits up to `seconds` for the first."""
        try:
            first = self._consumer.poll(seconds)
            messages = [] if first is None else [first, *self._consumer.consume(_AT_ONCE - 1, 0)]
        except KafkaException as error:
            raise self._ear.explain(error, "reading") from error
        return [message for message in messages if self._usable(message)]

    def _usable(self, message: Message) -> bool:
        error = message.error()
        if error is None or error.code() == KafkaError._PARTITION_EOF:
            return True
        if error.code() == KafkaError._AUTO_OFFSET_RESET:
            raise OffsetTrimmed(f"reading `{message.topic()}` [{message.partition()}]: {error.str()}.")
        failure = self._ear.explain(error, f"reading `{message.topic()}`")
        if not failure.retry_helps:
            raise failure
        return False


def record_of(message: Message) -> KafkaRecord:
    """Copy what confluent-kafka returned. *Cost*: about 1 us."""
    return KafkaRecord(
        message.topic(), message.partition(), message.offset(), message.timestamp()[1], message.key(), message.value()
    )


def _with_header(message: Message, name: str) -> KafkaRecord:
    """Copy a record with the last header of a name."""
    found = [value for given, value in message.headers() or [] if given == name]
    return replace(record_of(message), header=found[-1] if found else None)


def _is_end(message: Message) -> bool:
    return message.error() is not None


def _places(topic: str, offsets: Mapping[int, int]) -> dict[Place, int]:
    return {(topic, partition): offset for partition, offset in offsets.items()}
