"""The index of all synced slots, whatever their range attribute: byte bounds stand in it as labels.

What has order codes goes to `index/subscription_index.py` as it is. Byte bounds (`answers/answer_table.py`) go there
as their labels (`overlay/index/label_order.py`), one order for each shape; a message's cuts become labels too.
Labels are of the index only: they are not stored, and a restored edge makes its own.

Invariants (`check`), beside those of the parts: 1 a shape has an order if and only if a slot with byte bounds is in;
2 the order counts exactly the bounds of those slots, and the index holds them at their labels.
Cost: as the parts say, and a rebuild of one shape's points (2 us each) when a gap of its order is used up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from catalog.types.column_type import ColumnType
from catalog.types.order_key import order_key
from operators.operator import Messages
from overlay.answers.answer_table import AnswerTable
from overlay.index.label_order import NONE, LabelOrder
from overlay.index.pair_buffer import Pairs
from overlay.index.subscription_index import SubscriptionIndex
from state.change_batch import I64

Rectangles = tuple[I64, I64, I64, I64]
"""lo_min, lo_max, hi_min, hi_max, closed."""


class _Labelled(NamedTuple):
    group: bytes
    lo: bytes
    hi: bytes


class RangeIndex:
    """Slots by (shape number, group) and range; byte bounds are looked up in `answers`."""

    def __init__(self, answers: AnswerTable) -> None:
        self._answers = answers
        self._points = SubscriptionIndex()
        self._orders: dict[int, LabelOrder] = {}
        self._labelled: dict[int, dict[int, _Labelled]] = {}
        self._shape_of: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._points)

    def __contains__(self, slot: int) -> bool:
        return slot in self._points

    def clear(self) -> None:
        """Take everything out."""
        self._points.clear()
        self._orders.clear()
        self._labelled.clear()
        self._shape_of.clear()

    def slots(self) -> list[int]:
        """Return all slots that are in. Cost: O(slots)."""
        return self._points.slots()

    def number(self, shape: int, group: bytes) -> int:
        """Return the number of a group, -1 where nobody is in it; it holds until something is inserted or removed."""
        return self._points.number(shape, group)

    def insert(self, slots: I64, shapes: I64, groups: Sequence[bytes], lo: I64, hi: I64) -> None:
        """Put slots in, none of which is in; `lo` and `hi` count only where there are no byte bounds.

        Cost: about 1 us each, 5 us with byte bounds, amortised, and 10 us a call.
        """
        if len(self._answers):
            lo, hi = lo.copy(), hi.copy()
            by_shape: dict[int, list[int]] = {}
            for i, (slot, shape) in enumerate(zip(slots.tolist(), shapes.tolist(), strict=True)):
                bounds = self._answers.bounds(slot)
                if bounds is not None:
                    by_shape.setdefault(shape, []).append(i)
                    self._labelled.setdefault(shape, {})[slot] = _Labelled(groups[i], *bounds)
                    self._shape_of[slot] = shape
            for shape, places in by_shape.items():
                self._label(shape, slots, places, lo, hi)
        self._points.insert(slots, shapes, groups, lo, hi)

    def remove(self, slot: int) -> bool:
        """Take a slot out; return whether it was in."""
        shape = self._shape_of.pop(slot, None)
        if shape is not None:
            labelled, order = self._labelled[shape], self._orders[shape]
            gone = labelled.pop(slot)
            order.release(gone.lo)
            order.release(gone.hi)
            if not labelled:
                del self._labelled[shape], self._orders[shape]
        return self._points.remove(slot)

    def remove_all(self, slots: I64) -> None:
        """Take out those of `slots` that are in. Cost: 2 us each."""
        for slot in slots.tolist():
            self.remove(slot)

    def query(self, groups: I64, lo_min: I64, lo_max: I64, hi_min: I64, hi_max: I64) -> Pairs:
        """Return the pairs (index of a message, slot it meets), in the order of messages: `SubscriptionIndex.query`."""
        return self._points.query(groups, lo_min, lo_max, hi_min, hi_max)

    def rectangles(self, shape: int, range_type: ColumnType, messages: Messages, which: I64) -> Rectangles:
        """Return the rectangles of messages `which` as labels of a shape whose range attribute has no order codes.

        Cost: O(log n) a distinct text, and O(messages).
        """
        order = self._orders[shape]
        columns = [column[which] for column in (messages.lo_min, messages.lo_max, messages.hi_min, messages.hi_max)]
        places, inverse = np.unique(np.concatenate(columns), return_inverse=True)
        cut = places[places != NONE].tolist()
        keys = [order_key(range_type, messages.texts[place]) for place in cut]
        first = len(places) - len(cut)
        at = np.split(inverse.astype(np.int64) - first, 4)
        lo_min, hi_min = (order.cuts(keys, at[i], above=True) for i in (0, 2))
        lo_max, hi_max = (order.cuts(keys, at[i], above=False) for i in (1, 3))
        return lo_min, lo_max, hi_min, hi_max

    def _label(self, shape: int, slots: I64, places: list[int], lo: I64, hi: I64) -> None:
        """Write the labels of new slots of one shape into `lo` and `hi`."""
        order = self._orders.setdefault(shape, LabelOrder())
        labelled = self._labelled[shape]
        new = [(i, labelled[int(slots[i])]) for i in places]
        if not order.add([bound for _, one in new for bound in (one.lo, one.hi)]):
            self._rebuild(shape)
        for i, one in new:
            lo[i], hi[i] = order.label(one.lo), order.label(one.hi)

    def _rebuild(self, shape: int) -> None:
        """Put all slots of a shape that are in already at their new labels."""
        order, labelled = self._orders[shape], self._labelled[shape]
        moved = [slot for slot in labelled if self._points.remove(slot)]
        ones = [labelled[slot] for slot in moved]
        lo = np.array([order.label(one.lo) for one in ones], np.int64)
        hi = np.array([order.label(one.hi) for one in ones], np.int64)
        shapes = np.full(len(moved), shape, np.int64)
        self._points.insert(np.array(moved, np.int64), shapes, [one.group for one in ones], lo, hi)

    def check(self) -> None:
        """Check the invariants of the module's header and of the parts. Raises AssertionError. Cost: O(n log n)."""
        self._points.check()
        assert self._orders.keys() == self._labelled.keys(), (1, self._orders.keys(), self._labelled.keys())
        for shape, labelled in self._labelled.items():
            order = self._orders[shape]
            order.check()
            bounds = Counter(bound for one in labelled.values() for bound in (one.lo, one.hi))
            assert len(order) == len(bounds), (2, shape, bounds)
            for slot, one in labelled.items():
                assert self._points.point(slot) == (order.label(one.lo), order.label(one.hi)), (2, shape, slot, one)
