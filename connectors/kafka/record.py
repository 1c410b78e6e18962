"""One record as it was read from Kafka, free of any client library."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KafkaRecord:
    """A record read. `timestamp` is in milliseconds since 1970 (-1: none); a value of None is a tombstone."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
