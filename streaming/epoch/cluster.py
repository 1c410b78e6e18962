"""What an engine itself asks of Kafka, besides the query: a few small requests, most of them on control topics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from connectors.kafka.record import KafkaRecord
from connectors.record import OutRecord


class Cluster(Protocol):
    """A log with topics, as the engine's own records need it. Every method raises TidewireError if it fails."""

    def append(self, records: Sequence[OutRecord]) -> list[int]:
        """Write `records`, each with its partition, and return their offsets once all replicas have them."""
        ...

    def end(self, topic: str) -> int:
        """Return the end offset of partition 0 of a control topic."""
        ...

    def ends(self, topic: str) -> dict[int, int]:
        """Return where a read_committed reader of each partition gets to; none if there is no such topic."""
        ...

    def begins(self, topic: str) -> dict[int, int]:
        """Return the first offset still kept of each partition; none if there is no such topic."""
        ...

    def read(self, topic: str, start: int, end: int) -> list[KafkaRecord]:
        """Return the records of partition 0 with start <= offset < end that are still there."""
        ...

    def live_keys(self, topic: str) -> set[bytes]:
        """Return the keys whose newest record, in some partition, has a value. Cost: reading the whole topic."""
        ...

    def create_compacted(self, topic: str) -> None:
        """Create a topic that keeps the newest record of each key, unless it is there."""
        ...

    def compacted(self, topics: Iterable[str]) -> set[str]:
        """Return those of the topics that are compacted, as far as that may be asked."""
        ...

    def ids(self, topics: Iterable[str]) -> dict[str, str]:
        """Return the id of each topic that exists."""
        ...
