"""Read topics as a member of a consumer group whose positions are kept by transactions.

The owner of a partition must restore what belongs to it before it consumes. So an assignment is only noted
when it arrives: nothing is fetched until `start` says from where. The group's metadata is taken at that moment as well:
it names the generation under which records are consumed, and a transaction that sends it is refused once the
partitions have moved on.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from connectors.kafka.admin import Place
from connectors.kafka.client import PREFETCH, REQUEST_SECONDS, Ear, configuration
from connectors.kafka.failure import KafkaFailure, NotAuthorised
from connectors.kafka.properties import KafkaProperties
from connectors.kafka.reader import OffsetTrimmed, record_of
from connectors.kafka.record import KafkaRecord

_PERSIST_SECONDS = 15.0
_GATHER_SECONDS = 0.003
"""After the first record, wait this long for more: a progress reaches all partitions at nearly the same moment."""


@dataclass(frozen=True, slots=True, eq=False)
class Assignment:
    """What this member owns until the next one; compared by identity. `group` goes into each transaction."""

    places: frozenset[Place]
    group: object


class GroupConsumer:
    """A member of `group`. Not safe to use from several threads.

    Args:
        properties: the cluster.
        group: the group's id.
        topics: co-partitioned topics: partition i of all of them goes to one member (range assignor).
        client_id: what others see of this member in `Admin.members`.
        session_seconds: after how long without a sign of life others take over.
    """

    def __init__(
        self,
        properties: KafkaProperties,
        group: str,
        topics: Sequence[str],
        client_id: str,
        session_seconds: float = 6.0,
    ) -> None:
        self.assignment = Assignment(frozenset(), None)
        self.positions: dict[Place, int] = {}
        self._group = group
        self._ear = Ear(properties.bootstrap)
        own = {
            "group.id": group,
            "client.id": client_id,
            "group.protocol": "classic",
            "partition.assignment.strategy": "range",
            "session.timeout.ms": int(session_seconds * 1000),
            "heartbeat.interval.ms": int(session_seconds * 1000 / 3),
            "max.poll.interval.ms": 120_000,
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "auto.offset.reset": "error",
            "enable.partition.eof": True,
        }
        self._consumer = Consumer(configuration(properties, self._ear, own, PREFETCH))
        self._consumer.subscribe(list(topics), on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._revoked)

    def committed(self, places: Iterable[Place]) -> dict[Place, int | None]:
        """Return the group's committed positions (None: never committed).

        Asks again while a transaction that carries positions is still open (the broker says unstable) or the
        coordinator does not answer, for up to 15 s. *Raises* KafkaFailure.
        """
        request = [TopicPartition(topic, number) for topic, number in places]
        deadline = time.monotonic() + _PERSIST_SECONDS
        while True:
            try:
                found = self._consumer.committed(request, timeout=REQUEST_SECONDS)
                problem = next((place.error for place in found if place.error is not None), None)
            except KafkaException as error:
                problem = error.args[0]
            if problem is None:
                return {(place.topic, place.partition): place.offset if place.offset >= 0 else None for place in found}
            failure = self._ear.explain(problem, f"asking for the positions of the group `{self._group}`")
            if not failure.retry_helps or time.monotonic() > deadline:
                raise failure
            time.sleep(0.05)

    def start(self, positions: Mapping[Place, int]) -> None:
        """Consume from `positions` on: the next offset of each place owned."""
        self.positions = dict(positions)
        self._consumer.assign([TopicPartition(topic, number, offset) for (topic, number), offset in positions.items()])

    def pause(self) -> None:
        """Consume nothing until the next `start`; stay a member."""
        self.positions = {}
        self._consumer.assign([])

    def poll(self, seconds: float, limit: int) -> list[KafkaRecord]:
        """Return up to `limit` records and move `positions`; waits up to `seconds` for the first.

        `assignment` may be another one afterwards; then nothing more comes until `start`. At the end of a
        partition its position moves over what readers never see (transaction markers).

        Raises:
            OffsetTrimmed: the next records of some place are no longer kept.
            KafkaFailure: an error that trying again does not mend.
        """
        try:
            first = self._consumer.poll(seconds)
            messages = [] if first is None else [first]
            if messages and limit > 1:
                messages += self._consumer.consume(limit - 1, _GATHER_SECONDS)
        except KafkaException as error:
            raise self._ear.explain(error, "consuming") from error
        return [record_of(message) for message in messages if self._take(message)]

    def close(self) -> None:
        """Leave the group at once, so that others take over without waiting."""
        self._consumer.close()

    def _take(self, message: Message) -> bool:
        """Move the position over `message`; return whether it is a record to hand out."""
        place, error = (message.topic(), message.partition()), message.error()
        if error is not None and error.code() != KafkaError._PARTITION_EOF:
            self._complain(error)
            return False
        if place not in self.positions:
            return False
        if error is not None:
            self.positions[place] = max(self.positions[place], message.offset())
            return False
        self.positions[place] = message.offset() + 1
        return True

    def _complain(self, error: KafkaError) -> None:
        if error.code() == KafkaError._AUTO_OFFSET_RESET:
            raise OffsetTrimmed(f"consuming: {error.str()}.")
        failure: KafkaFailure = self._ear.explain(error, "consuming")
        if error.fatal() or isinstance(failure, NotAuthorised):
            raise failure

    def _assigned(self, consumer: Consumer, places: list[TopicPartition]) -> None:
        self._consumer.assign([])
        owned = frozenset((place.topic, place.partition) for place in places)
        self.positions = {}
        self.assignment = Assignment(owned, consumer.consumer_group_metadata())

    def _revoked(self, consumer: Consumer, places: list[TopicPartition]) -> None:
        self.positions = {}
        self.assignment = Assignment(frozenset(), None)
