"""The light side of Kafka, on kafka-python: what `Client` needs, as few verbs, and nothing else.

Bulk goes through confluent-kafka (the modules beside); here a pure-Python client is enough, and it proves that
any Kafka client can publish, register and consume. Values are bytes, readers see committed records only, and
the partitioner is murmur2, as everywhere in tidewire.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType, NewTopic
from kafka.errors import (
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    TopicAlreadyExistsError,
)

from connectors.kafka.failure import BrokerUnavailable, KafkaFailure, NotAllWritten
from connectors.kafka.record import KafkaRecord

_POLL_MS = 200
_BATCH = 5_000
_FIRST_STEP = 64
_ACKNOWLEDGED_SECONDS = 60.0
_UNREACHABLE = (KafkaConnectionError, KafkaTimeoutError)


class LightReader:
    """Reads some partitions from given positions; iterate over `poll()` results or call `to_end()`."""

    def __init__(self, properties: Mapping[str, object]) -> None:
        settings = {"isolation_level": "read_committed", "enable_auto_commit": False, "auto_offset_reset": "earliest"}
        with _named("connecting to Kafka"):
            self._consumer = KafkaConsumer(**{**settings, **properties})

    def partitions(self, topic: str) -> list[int]:
        """Return the topic's partition numbers in order; empty if there is no such topic."""
        with _named(f"listing the partitions of `{topic}`"):
            return sorted(self._consumer.partitions_for_topic(topic) or ())

    def assign(self, topic: str, partitions: Iterable[int] | None = None, *, at_end: bool = False) -> None:
        """Read `partitions` (all if None) of `topic` from their beginning, or from what their end is now."""
        self.assign_all([(topic, p) for p in (self.partitions(topic) if partitions is None else partitions)], at_end)

    def assign_all(self, wanted: Sequence[tuple[str, int]], at_end: bool = False) -> None:
        """Read the (topic, partition) pairs from their beginning, or from what their end is now."""
        chosen = [TopicPartition(topic, partition) for topic, partition in wanted]
        with _named("reading from Kafka"):
            self._consumer.assign(chosen)
            bounds = self._consumer.end_offsets(chosen) if at_end else self._consumer.beginning_offsets(chosen)
            for partition in chosen:
                self._consumer.seek(partition, bounds[partition])

    def poll(self, timeout: float = 0.2) -> list[KafkaRecord]:
        """Return what has come, waiting up to `timeout` seconds for the first record."""
        with _named("reading from Kafka"):
            polled = self._consumer.poll(timeout_ms=int(timeout * 1000), max_records=_BATCH)
        return [
            KafkaRecord(r.topic, r.partition, r.offset, r.timestamp, r.key, r.value)
            for records in polled.values()
            for r in records
        ]

    def begin_offsets(self) -> dict[tuple[str, int], int]:
        """Return the lowest offset that each assigned partition still has."""
        with _named("reading from Kafka"):
            found = self._consumer.beginning_offsets(sorted(self._consumer.assignment()))
        return {(p.topic, p.partition): offset for p, offset in found.items()}

    def end_offsets(self) -> dict[tuple[str, int], int]:
        """Return, for each assigned partition, the offset behind its last committed record."""
        with _named("reading from Kafka"):
            found = self._consumer.end_offsets(sorted(self._consumer.assignment()))
        return {(p.topic, p.partition): offset for p, offset in found.items()}

    def to_end(self) -> Iterator[KafkaRecord]:
        """Yield everything up to what is the end now, then stop."""
        ends = self.end_offsets()
        while self._behind(ends):
            for record in self.poll(_POLL_MS / 1000):
                if record.offset < ends[record.topic, record.partition]:
                    yield record

    def newest(self, wanted: Callable[[KafkaRecord], bool]) -> KafkaRecord | None:
        """Return the last record that is `wanted` in the one partition assigned, None if there is none.

        Reads backwards from the end, in steps that grow; what is polled afterwards stands behind that end.
        Cost: O(records behind the one found).
        """
        if not self._consumer.assignment():
            return None
        [where] = self._consumer.assignment()
        [begin], [end] = self.begin_offsets().values(), self.end_offsets().values()
        high, step = end, _FIRST_STEP
        found: KafkaRecord | None = None
        while found is None and high > begin:
            low = max(begin, high - step)
            found = next((record for record in reversed(self._between(where, low, high)) if wanted(record)), None)
            high, step = low, step * 4
        with _named("reading from Kafka"):
            self._consumer.seek(where, end)
        return found

    def _between(self, where: TopicPartition, low: int, high: int) -> list[KafkaRecord]:
        """Return the committed records from offset `low` up to before `high`."""
        records: list[KafkaRecord] = []
        with _named("reading from Kafka"):
            self._consumer.seek(where, low)
        while self._behind({(where.topic, where.partition): high}):
            records += [record for record in self.poll(_POLL_MS / 1000) if record.offset < high]
        return records

    def _behind(self, ends: Mapping[tuple[str, int], int]) -> bool:
        with _named("reading from Kafka"):
            return any(self._consumer.position(TopicPartition(*where)) < end for where, end in ends.items())

    def close(self) -> None:
        """Leave the broker."""
        self._consumer.close()


class LightKafka:
    """One connection's worth of settings, with a producer that is made when it is first needed."""

    def __init__(self, properties: Mapping[str, object]) -> None:
        self._properties = dict(properties)
        self._producer: Any = None
        self._making = threading.Lock()

    def reader(self) -> LightReader:
        """Return a new reader; the caller closes it."""
        return LightReader(self._properties)

    def send(self, topic: str, records: Iterable[tuple[bytes | None, bytes | None]]) -> list[tuple[int, int]]:
        """Write (key, value) pairs in order and return the (partition, offset) of each, once the broker has them all.

        Raises NotAllWritten for the first that was refused, or when nothing was acknowledged for 60 s. What has not
        been acknowledged by then is not sent any more.
        """
        pairs, written = list(records), list[tuple[int, int]]()
        futures: list[Any] = []
        try:
            with _named(f"writing to `{topic}`"):
                producer = self._open_producer()
                for key, value in pairs:
                    futures.append(producer.send(topic, key=key, value=value))
                for future in futures:
                    metadata = future.get(timeout=_ACKNOWLEDGED_SECONDS)
                    written.append((metadata.partition, metadata.offset))
        except KafkaFailure as failure:
            self._abandon(futures)
            raise NotAllWritten(failure, len(written), len(pairs) - len(written)) from failure
        except KeyboardInterrupt as stopped:
            self._abandon(futures)
            stopped.add_note(f"the first {len(written):,} of {len(pairs):,} records for `{topic}` are surely written")
            raise
        return written

    def _open_producer(self) -> Any:
        with self._making:
            if self._producer is None:
                self._producer = KafkaProducer(**{"acks": "all", "linger_ms": 5, **self._properties})
            return self._producer

    def _abandon(self, futures: Sequence[Any]) -> None:
        """Write nothing more of what waits: sent later, it would undo what the caller writes meanwhile.

        kafka-python closes a producer without sending only by the way that its own `close` takes at the end.
        """
        if all(future.is_done for future in futures):
            return
        with self._making:
            producer, self._producer = self._producer, None
        if producer is not None:
            producer._sender.force_close()
            with contextlib.suppress(KafkaTimeoutError):
                producer.close(timeout=1)

    def create_topic(self, topic: str, partitions: int, config: Mapping[str, str] | None = None) -> bool:
        """Create `topic` unless it is there; return whether it was created."""
        new = NewTopic(topic, num_partitions=partitions, replication_factor=-1, topic_configs=dict(config or {}))
        with _named(f"creating the topic `{topic}`"):
            admin = KafkaAdminClient(**self._properties)
            try:
                if topic in admin.list_topics():
                    return False
                admin.create_topics([new])
            except TopicAlreadyExistsError:
                return False
            finally:
                admin.close()
        return True

    def is_compacted(self, topic: str) -> bool:
        """Whether `topic`, if it is there, forgets records that a later one of the same key has replaced."""
        with _named(f"describing the topic `{topic}`"):
            admin = KafkaAdminClient(**self._properties)
            try:
                asked = ConfigResource(ConfigResourceType.TOPIC, topic, {"cleanup.policy": None})
                found = admin.describe_configs([asked], config_filter="all")
            finally:
                admin.close()
        policies = (entries.get("cleanup.policy", "") for by_name in found.values() for entries in by_name.values())
        return any("compact" in str(policy) for policy in policies)

    def close(self) -> None:
        """Flush and leave the broker."""
        if self._producer is not None:
            self._producer.close(timeout=10)
            self._producer = None

    def __enter__(self) -> LightKafka:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _named:  # noqa: N801 - reads as a phrase where it is used
    """Turn kafka-python's errors inside the block into `KafkaFailure`: "<doing> failed: ..."."""

    def __init__(self, doing: str) -> None:
        self._doing = doing

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, KafkaError):
            return
        said = str(error) or type(error).__name__
        if isinstance(error, _UNREACHABLE):
            raise BrokerUnavailable(
                f"{self._doing} failed: no Kafka broker answers ({said}). "
                "Start it (`tidewire up` starts one), or say where it is by --bootstrap (setting `bootstrap`)."
            ) from error
        failure = KafkaFailure(f"{self._doing} failed: {said}. See the broker's log for the reason.")
        failure.retry_helps = bool(getattr(error, "retriable", False))
        raise failure from error
