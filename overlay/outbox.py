"""The records that one step of a virtual edge writes, in order, each with its partition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from connectors.record import OutRecord
from connectors.topics import Topics
from overlay.delivery import change

Change = tuple[int, int, int, str]
"""Index of the subscription and of the message among those told, n, text of the old value."""


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

    def changes(self, ids: list[bytes], heads: list[str], tails: list[str], rows: Iterable[Change]) -> None:
        """Add a delivery for each row; ids and `heads` are by subscription, `tails` by message (`overlay/delivery.py`).

        Cost: 0.8 us a row. It is the hottest loop of an edge.
        """
        topic, number = self._deliveries, self._number
        self._records += [
            OutRecord(topic, number, ids[who], change(heads[who], n, old, tails[message]))
            for who, message, n, old in rows
        ]

    def ack(self, key: bytes, value: bytes) -> None:
        """Add an acknowledgement."""
        self._records.append(OutRecord(self._acks, self._number, key, value))

    def acks(self, keys: Sequence[bytes], values: Iterable[bytes]) -> None:
        """Add an acknowledgement for each id. Cost: 0.2 us each."""
        topic, number = self._acks, self._number
        self._records += [OutRecord(topic, number, key, value) for key, value in zip(keys, values, strict=True)]

    def snapshots(self, keys: Sequence[bytes], told: Sequence[bytes], live: Sequence[bytes]) -> None:
        """Add a delivery and an acknowledgement for each id. Cost: 0.4 us each."""
        self._records += [
            OutRecord(self._deliveries, self._number, key, value) for key, value in zip(keys, told, strict=True)
        ]
        self.acks(keys, live)

    def extend(self, records: list[OutRecord]) -> None:
        """Add finished records."""
        self._records += records

    def take(self) -> list[OutRecord]:
        """Return what was collected, and begin anew."""
        records, self._records = self._records, []
        return records
