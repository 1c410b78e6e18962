"""Changes of bags told at once: each to its subscriber by a record, packed in columns, or pushed.

    said 0   removed [["ACME","10.25"]]   added []   at {…}        slots 7 8 9 hear it: written once, told three times

A delivery is the head of its subscriber, its number, and an end that all share who hear the same. Where something may
be too long for a record, each is made by itself and cut, whatever its form.
Cost: 1.3 us a delivery by a record, 0.4 us packed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from catalog.sql.notify import PACKED, PUSH, RECORDS
from overlay.delivery.bag_delivery import bag_change_tail, rows_text
from overlay.delivery.delivery import json_text
from overlay.delivery.outbox import Outbox
from overlay.delivery.packed_deliveries import BagChanges, Shared
from overlay.maintain.mode import Mode, ModeColumn
from overlay.subscriptions.edge_counters import EdgeCounters
from overlay.subscriptions.subscription_store import SubscriptionStore
from state.byte_runs import RECORD_BYTES
from state.change_batch import I64
from state.distinct_numbers import distinct_numbers

_SHORT = RECORD_BYTES // 8
"""An end of so many characters is a record in any case: in UTF-8, and with an id before it."""
_FORM = Mode.PACKED | Mode.PUSHED
Keys = tuple[int, ...]
"""Where the primary key stands in rows that go by it, else ()."""


class Said(NamedTuple):
    """What is told, a place each: the rows that went and came, as `rows_text` writes them, the causing row, the key."""

    removed: list[str]
    added: list[str]
    at: list[str]
    keys: list[Keys]

    @classmethod
    def of(cls, each: Iterable[tuple[list[str], list[str], str, Keys]]) -> Said:
        """Return the same of rows as texts."""
        said = cls([], [], [], [])
        for removed, added, at, keys in each:
            said.removed.append(rows_text(removed))
            said.added.append(rows_text(added))
            said.at.append(at)
            said.keys.append(keys)
        return said

    def chosen(self, places: I64) -> Said:
        """Return what is said at some places."""
        if len(places) == len(self.at):
            return self
        return Said(*([column[place] for place in places.tolist()] for column in self))


class BagTeller:
    """Writes what is told of bags."""

    def __init__(self, store: SubscriptionStore, outbox: Outbox, counters: EdgeCounters) -> None:
        self._store = store
        self._outbox = outbox
        self._counters = counters

    def tell(self, slots: I64, modes: ModeColumn, which: I64, said: Said) -> None:
        """Tell slots, each what is said at its place in `which`, in the form of each."""
        forms = modes & _FORM
        for form in np.unique(forms).tolist():
            mine = forms == form
            places, place = distinct_numbers(which[mine], len(said.at))
            its = said.chosen(places)
            if form != Mode.PACKED:
                self._write(slots[mine], place, its, PUSH if form == Mode.PUSHED else RECORDS)
            elif max(map(len, (*its.removed, *its.added))) < _SHORT:
                self._pack(slots[mine], place, its)
            else:
                self._write(slots[mine], place, its, PACKED)

    def numbered(self, slots: I64) -> I64:
        """Count a delivery of slots each time they stand there, and return its number."""
        self._counters.deliveries += len(slots)
        return self._store.number(slots)

    def _write(self, slots: I64, place: I64, said: Said, form: str) -> None:
        """Tell each by a record; or packed, those that have to be cut."""
        tails = [bag_change_tail(*one) for one in zip(*said, strict=True)]
        distinct, who = distinct_numbers(slots)
        ids, heads = self._store.slots.change_heads(distinct)
        rows = zip(who.tolist(), place.tolist(), self.numbered(slots).tolist(), strict=True)
        if form != PACKED and max(map(len, tails)) < _SHORT:
            self._outbox.shared_changes(ids, heads, tails, rows, form == PUSH)
            return
        for one, tail, n in rows:
            self._outbox.deliver(ids[one], f'{heads[one]},"n":{n}{tails[tail]}'.encode(), form)

    def _pack(self, slots: I64, place: I64, said: Said) -> None:
        """Tell each in columns."""
        removed, added, at = (Shared(place, texts) for texts in (said.removed, said.added, said.at))
        by_key, key = np.array([bool(keys) for keys in said.keys], np.bool_), None
        if by_key.any():
            key = Shared(np.where(by_key[place], place, -1), [json_text(list(keys)) for keys in said.keys])
        table = self._store.slots
        ids, sizes = table.flat_ids(slots)
        self._outbox.pack_changes(
            BagChanges(ids, sizes, table.version[slots], self.numbered(slots), removed, added, at, key)
        )
