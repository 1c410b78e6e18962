"""How hits on a slot are treated, as a column, so that a step's hits are told apart at once.

A mode says where the answer is kept and how its changes are told:

    PLAIN    an order code in the columns of slots       } vectorised; PLAIN alone, every change told by a record, is
    COUNT    a COUNT alone, in those columns too         } the hot path
    SINGLE   all others, and those told by MIN CHANGE: one by one (`overlay/maintain/object_path.py`)
    LATEST   with PLAIN or COUNT: told at the end of a batch
    PACKED   with PLAIN or COUNT, every change told: deliveries are packed
    PUSHED   the same: deliveries are pushed only, none is written
    LIST     rows in an order (`overlay/maintain/best_path.py`); with LATEST, or every change is told
    BAG      rows, of which count and digest are kept (`overlay/maintain/bag_path.py`); with LATEST, PACKED, PUSHED, or:
    TRANSITIONS   rows that enter or leave are told
    ENTER         rows that enter are told

The column follows from shape and policy. It is filled in when a slot's snapshot is taken, and at the first hit after a
restart. Cost: two bytes a slot.
"""

from __future__ import annotations

from enum import IntFlag, auto

import numpy as np
import numpy.typing as npt

from catalog.sql import notify
from overlay.arena.growable_column import widened
from overlay.subscriptions.subscription_store import SubscriptionStore
from state.change_batch import I64


class Mode(IntFlag):
    """See the module's header; UNKNOWN is what was not looked at yet."""

    UNKNOWN = 0
    PLAIN = auto()
    COUNT = auto()
    SINGLE = auto()
    LATEST = auto()
    PACKED = auto()
    PUSHED = auto()
    LIST = auto()
    BAG = auto()
    TRANSITIONS = auto()
    ENTER = auto()


KEYED = Mode.TRANSITIONS | Mode.ENTER
"""Those that go by the primary key of rows."""
ModeColumn = npt.NDArray[np.uint16]
_POLICIES = {"latest": Mode.LATEST, "transitions": Mode.TRANSITIONS, "enter": Mode.ENTER}
_FORMS = {notify.RECORDS: Mode.UNKNOWN, notify.PACKED: Mode.PACKED, notify.PUSH: Mode.PUSHED}


class Modes:
    """The column."""

    def __init__(self, store: SubscriptionStore) -> None:
        self._store = store
        self._column: ModeColumn = np.zeros(64, np.uint16)

    def forget(self, slots: I64) -> None:
        """Look at `slots` again: another subscription may be there."""
        self._column[slots[slots < len(self._column)]] = Mode.UNKNOWN

    def of(self, slots: I64) -> ModeColumn:
        """Return the mode of each of `slots`. Cost: 5 ns each, 0.1 us for one that is not known yet, 1 us a shape."""
        top = int(slots.max(initial=0)) + 1
        if top > len(self._column):
            self._column = widened(self._column, top)
        modes = self._column[slots]
        if not modes.all():
            self._fill(slots[modes == Mode.UNKNOWN])
            modes = self._column[slots]
        return modes

    def _fill(self, slots: I64) -> None:
        """Look at one slot of each sort of shapes with the same terms."""
        table = self._store.slots
        kinds = table.shape[slots].astype(np.int64) << 32 | table.terms.number[slots]
        distinct, first, kind = np.unique(kinds, return_index=True, return_inverse=True)
        of_sort: dict[tuple[bool | int, ...], int] = {}
        modes = []
        for one, slot in zip(distinct.tolist(), slots[first].tolist(), strict=True):
            entry = self._store.shapes[one >> 32]
            sort = entry.bag, bool(entry.shown_images), entry.plain, entry.counts, one & 0xFFFFFFFF
            if sort not in of_sort:
                of_sort[sort] = int(self._mode(slot))
            modes.append(of_sort[sort])
        self._column[slots] = np.array(modes, np.uint16)[kind]

    def _mode(self, slot: int) -> Mode:
        if self._store.keeps_singly(slot):
            return Mode.SINGLE
        terms = self._store.slots.terms.of(slot)
        if self._store.shape_of(slot).shown_images:
            return Mode.LIST | _POLICIES.get(terms.notify.kind, Mode.UNKNOWN)
        if self._store.shape_of(slot).bag:
            return Mode.BAG | _POLICIES.get(terms.notify.kind, Mode.UNKNOWN) | _FORMS[terms.deliver]
        kept = Mode.COUNT if self._store.shape_of(slot).counts else Mode.PLAIN
        return kept | (_FORMS[terms.deliver] if terms.notify.kind == "every" else Mode.LATEST)
