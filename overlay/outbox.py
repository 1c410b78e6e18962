"""The records that one step of a virtual edge writes, in order, each with its partition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from connectors.record import OutRecord
from connectors.topics import Topics
from overlay.delivery import change
from overlay.long_delivery import MAX_BYTES, cut
from overlay.packed_deliveries import PACKED_KEY, Changes, PackedDeliveries
from state.change_batch import Bool

Change = tuple[int, int, int, str]
"""Index of the subscription and of the message among those told, n, text of the old value."""


class Outbox:
    """Collects records of virtual edge `number`; all its topics have the virtual edge as partition.

    What is to be packed waits until `flush`, or `take`.
    """

    def __init__(self, topics: Topics, number: int) -> None:
        self._deliveries = topics.deliveries
        self._acks = topics.acks
        self._number = number
        self._records: list[OutRecord] = []
        self._packed = PackedDeliveries()

    def __len__(self) -> int:
        return len(self._records) + bool(self._packed)

    def deliver(self, key: bytes, value: bytes, packed: bool = False) -> None:
        """Add a delivery; one that is too long becomes several records (`overlay/long_delivery.py`)."""
        parts = [value] if len(value) <= MAX_BYTES else cut(value)
        if packed:
            for part in parts:
                self._packed.add(part)
        else:
            self._records += [OutRecord(self._deliveries, self._number, key, part) for part in parts]

    def pack(self, key: bytes, value: bytes) -> None:
        """Add a delivery, to be packed."""
        self.deliver(key, value, packed=True)

    def pack_changes(self, changes: Changes) -> None:
        """Add deliveries, to be packed. Cost: 0.1 us each."""
        self._packed.extend(changes)

    def flush(self) -> None:
        """Add what is to be packed here, before what comes next."""
        if self._packed:
            self._records += [
                OutRecord(self._deliveries, self._number, PACKED_KEY, value) for value in self._packed.take()
            ]

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

    def snapshots(self, keys: Sequence[bytes], told: Sequence[bytes], live: Sequence[bytes], packed: Bool) -> None:
        """Add a delivery and an acknowledgement for each id; some are `packed`. Cost: 0.4 us each, packed 2 us."""
        if packed.any() or max(map(len, told)) > MAX_BYTES:
            for key, value, is_packed in zip(keys, told, packed.tolist(), strict=True):
                self.deliver(key, value, is_packed)
        else:
            self._records += [
                OutRecord(self._deliveries, self._number, key, value) for key, value in zip(keys, told, strict=True)
            ]
        self.acks(keys, live)

    def extend(self, records: list[OutRecord]) -> None:
        """Add finished records."""
        self._records += records

    def take(self) -> list[OutRecord]:
        """Return what was collected, and begin anew."""
        self.flush()
        records, self._records = self._records, []
        return records
