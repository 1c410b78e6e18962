"""An engine's own requests, answered by Kafka."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from connectors.kafka.admin import Admin
from connectors.kafka.failure import KafkaFailure, NotAuthorised, TopicUnknown
from connectors.kafka.producer import Producer
from connectors.kafka.properties import KafkaProperties
from connectors.kafka.reader import Reader
from connectors.kafka.record import KafkaRecord
from connectors.record import OutRecord
from connectors.topics import COMPACTED, VIEW_PARTITIONS, Topics


class KafkaCluster:
    """Implements `Cluster` with one producer, one admin connection and a reader.

    Cost: `ends` and `ids` one round trip (2-5 ms), `append` one round trip, `read` 10 ms to open a consumer.
    """

    def __init__(self, properties: KafkaProperties) -> None:
        self._admin = Admin(properties)
        self._reader = Reader(properties)
        self._properties = properties
        self._producer = self._new_producer()

    def ensure_topics(self, topics: Topics) -> int:
        """Create the internal topics that are missing; return the number of virtual edges."""
        return self._admin.ensure_topics(topics)

    def append(self, records: Sequence[OutRecord]) -> list[int]:
        """Write `records` and return their offsets once all replicas have them.

        Raises:
            KafkaFailure: they were not, or nobody knows. The next call writes with a new client: one that has waited
                for a broker that was killed may be lost, or wait for ever, where a new one does not.
        """
        offsets, producer = [-1] * len(records), self._producer  # the log's thread may replace it meanwhile
        try:
            for place, record in enumerate(records):
                producer.send(record, _keep(offsets, place))
            producer.flush()
        except KafkaFailure:
            self._producer = self._new_producer()
            raise
        return offsets

    def _new_producer(self) -> Producer:
        return Producer(self._properties, linger=0.0)

    def end(self, topic: str) -> int:
        """Return the end offset of partition 0."""
        return self._admin.end_offsets(topic, [0])[0]

    def ends(self, topic: str) -> dict[int, int]:
        """Return where a read_committed reader of each partition gets to; none if there is no such topic."""
        try:
            return self._admin.end_offsets(topic, committed=True)
        except TopicUnknown:
            return {}

    def begins(self, topic: str) -> dict[int, int]:
        """Return the first offset still kept of each partition; none if there is no such topic."""
        try:
            return self._admin.begin_offsets(topic)
        except TopicUnknown:
            return {}

    def read(self, topic: str, start: int, end: int) -> list[KafkaRecord]:
        """Return the records of partition 0 with start <= offset < end that are still there."""
        oldest = self._admin.begin_offsets(topic, [0])[0]
        return list(self._reader.read_range(topic, 0, max(start, oldest), end))

    def live_keys(self, topic: str) -> set[bytes]:
        """Return the keys whose newest record, in some partition, has a value. Cost: 5 us a record of the topic."""
        live: dict[tuple[int, bytes], bool] = {}
        for record in self._reader.read_to_end(topic):
            if record.key is not None:
                live[record.partition, record.key] = record.value is not None
        return {key for (_, key), there in live.items() if there}

    def create_compacted(self, topic: str) -> None:
        """Create a topic that keeps the newest record of each key, unless it is there."""
        self._admin.create_topic(topic, VIEW_PARTITIONS, COMPACTED)

    def compacted(self, topics: Iterable[str]) -> set[str]:
        """Return those of the topics that are compacted; none where the cluster does not say it to this user."""
        try:
            return self._admin.compacted(topics)
        except NotAuthorised:
            return set()

    def ids(self, topics: Iterable[str]) -> dict[str, str]:
        """Return the id of each topic that exists."""
        return self._admin.topic_ids(topics)


def _keep(offsets: list[int], place: int) -> Callable[[int, int], None]:
    def keep(_partition: int, offset: int) -> None:
        offsets[place] = offset

    return keep
