"""A cluster in memory: the same promises as Kafka's, for tests of what an engine asks and writes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from connectors.kafka.record import KafkaRecord
from connectors.record import OutRecord
from connectors.topics import Topics
from operators.control import Control, decode_control


class MemoryCluster:
    """Topics as lists of records; `create` and `delete` change which exist, and their ids."""

    def __init__(self, topics: Topics, partitions: int = 2) -> None:
        self.topics = topics
        self.logs: dict[str, list[list[KafkaRecord]]] = {}
        self.first: dict[str, dict[int, int]] = {}
        self.compact: set[str] = set()
        self._ids: dict[str, str] = {}
        self._created = 0
        self.appended: list[OutRecord] = []
        for spec in topics.specs():
            self.create(spec.name, partitions if spec.per_virtual_edge else 1)

    def create(self, topic: str, partitions: int = 1) -> None:
        self.logs[topic] = [[] for _ in range(partitions)]
        self._created += 1
        self._ids[topic] = f"id-{self._created}"

    def delete(self, topic: str) -> None:
        del self.logs[topic], self._ids[topic]

    def append(self, records: Sequence[OutRecord]) -> list[int]:
        offsets = []
        for record in records:
            assert record.partition is not None
            log = self.logs[record.topic][record.partition]
            offsets.append(len(log))
            log.append(KafkaRecord(record.topic, record.partition, len(log), 0, record.key, record.value))
            self.appended.append(record)
        return offsets

    def end(self, topic: str) -> int:
        return len(self.logs[topic][0])

    def ends(self, topic: str) -> dict[int, int]:
        return {partition: len(log) for partition, log in enumerate(self.logs.get(topic, []))}

    def begins(self, topic: str) -> dict[int, int]:
        return {p: self.first.get(topic, {}).get(p, 0) for p in range(len(self.logs.get(topic, [])))}

    def read(self, topic: str, start: int, end: int) -> list[KafkaRecord]:
        return self.logs[topic][0][start:end]

    def live_keys(self, topic: str) -> set[bytes]:
        newest = {(r.partition, r.key): r.value is not None for log in self.logs[topic] for r in log}
        return {key for (_, key), there in newest.items() if there and key is not None}

    def create_compacted(self, topic: str) -> None:
        self.create(topic, 4)
        self.compact.add(topic)

    def compacted(self, topics: Iterable[str]) -> set[str]:
        return self.compact.intersection(topics)

    def ids(self, topics: Iterable[str]) -> dict[str, str]:
        return {topic: self._ids[topic] for topic in topics if topic in self._ids}

    def controls(self, topic: str, partition: int = 0) -> list[Control]:
        """All records of a partition, as control records."""
        return [decode_control(record.value or b"") for record in self.logs[topic][partition]]
