"""One record as it was read from Kafka, free of any client library."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KafkaRecord:
    """A record read. `timestamp` is in milliseconds since 1970 (-1: none); a value of None is a tombstone.

    `header` is the value of the one header that the reader asked for, None where the record has none of that name.
    """

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    header: bytes | None = None
