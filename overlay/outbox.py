"""The records that one step of a virtual edge writes, in order, each with its partition."""

from __future__ import annotations

from connectors.record import OutRecord
from connectors.topics import Topics


class Outbox:
    """Collects records of virtual edge `number`; all its topics have the virtual edge as partition."""

    def __init__(self, topics: Topics, number: int) -> None:
        self._deliveries = topics.deliveries
        self._acks = topics.acks
        self._number = number
        self._records: list[OutRecord] = []

    def __len__(self) -> int:
        return len(self._records)

    def deliver(self, key: bytes, value: bytes) -> None:
        """Add a delivery."""
        self._records.append(OutRecord(self._deliveries, self._number, key, value))

    def ack(self, key: bytes, value: bytes) -> None:
        """Add an acknowledgement."""
        self._records.append(OutRecord(self._acks, self._number, key, value))

    def extend(self, records: list[OutRecord]) -> None:
        """Add finished records."""
        self._records += records

    def take(self) -> list[OutRecord]:
        """Return what was collected, and begin anew."""
        records, self._records = self._records, []
        return records
