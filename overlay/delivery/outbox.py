"""The records that one step of a virtual edge writes, in order, each with its partition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from catalog.sql.notify import FORMS, PACKED, PUSH, RECORDS
from connectors.record import OutRecord
from connectors.topics import Topics
from overlay.delivery.delivery import change
from overlay.delivery.long_delivery import cut
from overlay.delivery.packed_deliveries import PACKED_KEY, BagChanges, Changes, PackedDeliveries
from state.byte_runs import RECORD_BYTES

Change = tuple[int, int, int, str]
"""Index of the subscription and of the message among those told, n, text of the old value."""

SharedChange = tuple[int, int, int]
"""The same of a change whose message says all that it tells."""


class Outbox:
    """Collects records of virtual edge `number`; all its topics have the virtual edge as partition.

    What is to be packed waits until `flush`, or `take`. `pushed` are the deliveries of the last `take` that are only
    told (`DELIVER PUSH`), as records would say them.
    """

    def __init__(self, topics: Topics, number: int) -> None:
        self._deliveries = topics.deliveries
        self._acks = topics.acks
        self._number = number
        self._records: list[OutRecord] = []
        self._packed = PackedDeliveries()
        self._pushed: list[OutRecord] = []
        self.pushed: list[OutRecord] = []

    def __len__(self) -> int:
        return len(self._records) + bool(self._packed)

    def deliver(self, key: bytes, value: bytes, form: str = RECORDS) -> None:
        """Add a delivery; one that is too long becomes several records (`overlay/delivery/long_delivery.py`)."""
        if form == RECORDS and len(value) <= RECORD_BYTES:
            self._records.append(OutRecord(self._deliveries, self._number, key, value))
        else:
            self.deliver_parts(key, [value] if len(value) <= RECORD_BYTES else cut(value), form)

    def deliver_parts(self, key: bytes, parts: Sequence[bytes], form: str = RECORDS) -> None:
        """Add a delivery in as many records as it was made in (`long_delivery.added_in_parts`)."""
        if form == PACKED:
            for part in parts:
                self._packed.add(part)
        else:
            out = self._pushed if form == PUSH else self._records
            out += [OutRecord(self._deliveries, self._number, key, part) for part in parts]

    def deliverer(self, form: str) -> Callable[[bytes, bytes], None]:
        """Return `deliver` in one form."""
        return self.deliver if form == RECORDS else partial(self.deliver, form=form)

    def pack_changes(self, changes: Changes | BagChanges) -> None:
        """Add deliveries, to be packed. Cost: 0.1 us each."""
        self._packed.extend(changes)

    def flush(self) -> None:
        """Add what is to be packed here, before what comes next."""
        if self._packed:
            self._records += [
                OutRecord(self._deliveries, self._number, PACKED_KEY, value) for value in self._packed.take()
            ]

    def changes(
        self, ids: list[bytes], heads: list[str], tails: list[str], rows: Iterable[Change], pushed: bool = False
    ) -> None:
        """Add a delivery for each row; ids and `heads` are by subscription, `tails` by message (`delivery.py`).

        Cost: 0.8 us a row. It is the hottest loop of an edge.
        """
        topic, number = self._deliveries, self._number
        out = self._pushed if pushed else self._records
        out += [
            OutRecord(topic, number, ids[who], change(heads[who], n, old, tails[message]))
            for who, message, n, old in rows
        ]

    def shared_changes(
        self, ids: list[bytes], heads: list[str], tails: list[str], rows: Iterable[SharedChange], pushed: bool = False
    ) -> None:
        """Add a delivery for each row, as `changes`; `tails` as of `bag_change_tail`. Cost: as `changes`."""
        topic, number = self._deliveries, self._number
        out = self._pushed if pushed else self._records
        out += [
            OutRecord(topic, number, ids[who], f'{heads[who]},"n":{n}{tails[message]}'.encode())
            for who, message, n in rows
        ]

    def ack(self, key: bytes, value: bytes) -> None:
        """Add an acknowledgement."""
        self._records.append(OutRecord(self._acks, self._number, key, value))

    def acks(self, keys: Sequence[bytes], values: Iterable[bytes]) -> None:
        """Add an acknowledgement for each id. Cost: 0.2 us each."""
        topic, number = self._acks, self._number
        self._records += [OutRecord(topic, number, key, value) for key, value in zip(keys, values, strict=True)]

    def deliver_all(self, keys: Sequence[bytes], values: Sequence[bytes], forms: npt.NDArray[np.int8]) -> None:
        """Add a delivery for each id; `forms` as in `SlotTable.forms`. Cost: 0.2 us each, packed 2 us."""
        if forms.any() or max(map(len, values), default=0) > RECORD_BYTES:
            for key, value, form in zip(keys, values, forms.tolist(), strict=True):
                self.deliver(key, value, FORMS[form])
            return
        topic, number = self._deliveries, self._number
        self._records += [OutRecord(topic, number, key, value) for key, value in zip(keys, values, strict=True)]

    def extend(self, records: list[OutRecord]) -> None:
        """Add finished records."""
        self._records += records

    def take(self) -> list[OutRecord]:
        """Return what was collected, and begin anew."""
        self.flush()
        records, self._records = self._records, []
        self.pushed, self._pushed = self._pushed, []
        return records
