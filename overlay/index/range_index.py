"""The index of all synced slots, whatever their range attribute: byte bounds stand in it as labels.

What has order codes goes to `index/subscription_index.py` as it is. Byte bounds (`answers/answer_table.py`) go there
as their labels (`overlay/index/label_order.py`), one order for each domain; a message's cuts become labels too.
Labels are of the index only: they are not stored, and a restored edge makes its own.

Invariants (`check`), beside those of the parts: 1 a domain has an order if and only if a slot with byte bounds is in;
2 the order counts exactly the bounds of those slots, and the index holds them at their labels.
Cost: as the parts say, and a rebuild of one domain's points (2 us each) when a gap of its order is used up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from catalog.types.column_type import ColumnType
from catalog.types.order_key import order_key
from operators.operator import Ranged
from overlay.answers.answer_table import AnswerTable
from overlay.index.domain_groups import DomainGroups
from overlay.index.label_order import NONE, LabelOrder
from overlay.index.pair_buffer import Pairs
from overlay.index.subscription_index import SubscriptionIndex
from state.change_batch import I64

Rectangles = tuple[I64, I64, I64, I64]
"""lo_min, lo_max, hi_min, hi_max, closed."""


class _Labelled(NamedTuple):
    group: bytes
    hearer: int
    lo: bytes
    hi: bytes


class RangeIndex:
    """Slots by (domain number, group), hearer number and range; byte bounds are looked up in `answers`."""

    def __init__(self, answers: AnswerTable) -> None:
        self._answers = answers
        self._points = SubscriptionIndex()
        self._orders: dict[int, LabelOrder] = {}
        self._labelled: dict[int, dict[int, _Labelled]] = {}
        self._domain_of: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._points)

    def __contains__(self, slot: int) -> bool:
        return slot in self._points

    def clear(self) -> None:
        """Take everything out."""
        self._points.clear()
        self._orders.clear()
        self._labelled.clear()
        self._domain_of.clear()

    def slots(self) -> list[int]:
        """Return all slots that are in. Cost: O(slots)."""
        return self._points.slots()

    @property
    def groups(self) -> DomainGroups:
        """The bunches of the index, which `query` is asked with."""
        return self._points.groups

    def insert(self, slots: I64, domains: I64, groups: Sequence[bytes], hearers: I64, lo: I64, hi: I64) -> None:
        """Put slots in, none of which is in; `lo` and `hi` count only where there are no byte bounds.

        Cost: about 1 us each, 5 us with byte bounds, amortised, and 10 us a call.
        """
        if len(self._answers):
            lo, hi = lo.copy(), hi.copy()
            by_domain: dict[int, list[int]] = {}
            rows = zip(slots.tolist(), domains.tolist(), hearers.tolist(), strict=True)
            for i, (slot, domain, hearer) in enumerate(rows):
                bounds = self._answers.bounds(slot)
                if bounds is not None:
                    by_domain.setdefault(domain, []).append(i)
                    self._labelled.setdefault(domain, {})[slot] = _Labelled(groups[i], hearer, *bounds)
                    self._domain_of[slot] = domain
            for domain, places in by_domain.items():
                self._label(domain, slots, places, lo, hi)
        self._points.insert(slots, domains, groups, hearers, lo, hi)

    def remove(self, slot: int) -> bool:
        """Take a slot out; return whether it was in."""
        domain = self._domain_of.pop(slot, None)
        if domain is not None:
            labelled, order = self._labelled[domain], self._orders[domain]
            gone = labelled.pop(slot)
            order.release(gone.lo)
            order.release(gone.hi)
            if not labelled:
                del self._labelled[domain], self._orders[domain]
        return self._points.remove(slot)

    def remove_all(self, slots: I64) -> None:
        """Take out those of `slots` that are in. Cost: 2 us each."""
        for slot in slots.tolist():
            self.remove(slot)

    def query(self, bunches: I64, lo_min: I64, lo_max: I64, hi_min: I64, hi_max: I64) -> Pairs:
        """Return the pairs (index of a message, slot it meets), in the order of messages: `SubscriptionIndex.query`."""
        return self._points.query(bunches, lo_min, lo_max, hi_min, hi_max)

    def rectangles(self, domain: int, range_type: ColumnType, messages: Ranged, which: I64) -> Rectangles:
        """Return the rectangles of messages `which` as labels of a domain whose range attribute has no order codes.

        Cost: O(log n) a distinct text, and O(messages).
        """
        order = self._orders[domain]
        columns = [column[which] for column in (messages.lo_min, messages.lo_max, messages.hi_min, messages.hi_max)]
        places, inverse = np.unique(np.concatenate(columns), return_inverse=True)
        cut = places[places != NONE].tolist()
        keys = [order_key(range_type, messages.texts[place]) for place in cut]
        first = len(places) - len(cut)
        at = np.split(inverse.astype(np.int64) - first, 4)
        lo_min, hi_min = (order.cuts(keys, at[i], above=True) for i in (0, 2))
        lo_max, hi_max = (order.cuts(keys, at[i], above=False) for i in (1, 3))
        return lo_min, lo_max, hi_min, hi_max

    def cuts(self, domain: int, range_type: ColumnType, texts: Sequence[str], which: I64, above: bool) -> I64:
        """Return where `texts[which]` stand in a domain: the label of the first bound above, or of the last not above.

        Where nobody is in the domain, all of them are alike.
        """
        order = self._orders.get(domain)
        if order is None:
            return np.zeros(len(which), np.int64)
        places, at = np.unique(which, return_inverse=True)
        return order.cuts([order_key(range_type, texts[place]) for place in places.tolist()], at, above)

    def points(self, slots: I64, lo: I64, hi: I64) -> tuple[I64, I64]:
        """Return the points of slots, `lo` and `hi` where they have no byte bounds."""
        if not self._domain_of:
            return lo, hi
        lo, hi = lo.copy(), hi.copy()
        for i, slot in enumerate(slots.tolist()):
            domain = self._domain_of.get(slot)
            if domain is not None:
                order, one = self._orders[domain], self._labelled[domain][slot]
                lo[i], hi[i] = order.label(one.lo), order.label(one.hi)
        return lo, hi

    def _label(self, domain: int, slots: I64, places: list[int], lo: I64, hi: I64) -> None:
        """Write the labels of new slots of one domain into `lo` and `hi`."""
        order = self._orders.setdefault(domain, LabelOrder())
        labelled = self._labelled[domain]
        new = [(i, labelled[int(slots[i])]) for i in places]
        if not order.add([bound for _, one in new for bound in (one.lo, one.hi)]):
            self._rebuild(domain)
        for i, one in new:
            lo[i], hi[i] = order.label(one.lo), order.label(one.hi)

    def _rebuild(self, domain: int) -> None:
        """Put all slots of a domain that are in already at their new labels."""
        order, labelled = self._orders[domain], self._labelled[domain]
        moved = [slot for slot in labelled if self._points.remove(slot)]
        ones = [labelled[slot] for slot in moved]
        points = [(one.hearer, order.label(one.lo), order.label(one.hi)) for one in ones]
        hearers, lo, hi = np.array(points, np.int64).reshape(-1, 3).T
        domains = np.full(len(moved), domain, np.int64)
        self._points.insert(np.array(moved, np.int64), domains, [one.group for one in ones], hearers, lo, hi)

    def check(self) -> None:
        """Check the invariants of the module's header and of the parts. Raises AssertionError. Cost: O(n log n)."""
        self._points.check()
        assert self._orders.keys() == self._labelled.keys(), (1, self._orders.keys(), self._labelled.keys())
        for domain, labelled in self._labelled.items():
            order = self._orders[domain]
            order.check()
            bounds = Counter(bound for one in labelled.values() for bound in (one.lo, one.hi))
            assert len(order) == len(bounds), (2, domain, bounds)
            for slot, one in labelled.items():
                assert self._points.point(slot) == (order.label(one.lo), order.label(one.hi)), (2, domain, slot, one)
