"""Byte bounds as int64 labels in the same order, so that the index of points can hold them.

Problem. The index (`index/subscription_index.py`) knows points (lo, hi) of int64; ranges over a VARCHAR or a wide
DECIMAL have bounds that are bytes of any length. The bounds of present subscriptions are few beside all bytes, and
what a message asks of them is only order.

    bounds     b""      b"aq"     b"k"      b"ka"     b"\\xff"        distinct, sorted, counted
    labels       0      2**40   2**41   3*2**39       2**42          a new bound gets the middle of its gap

A message's rectangle is cut at texts t, half open: lo > t is "label >= that of the first bound above t", lo <= t is
"label <= that of the last bound not above t"; so closed labels say exactly the same of every bound that is there.
When a gap is used up all bounds of the order get new, evenly spaced labels, and the index must be told.

Invariant (`check`): labels ascend with the bounds, all of them between `_LOWEST` and `_HIGHEST`.
Cost: O(log n) a bound (2 us) and a cut; relabelling O(n), after at least 40 insertions into one gap. 150 bytes a bound
beside its own.
Source: order maintenance by labels with gaps (Dietz, Sleator 1987), without their local relabelling: a batch of new
subscriptions is inserted by one rebuild of the index anyway, and that costs 1 us a point.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from sortedcontainers import SortedDict

from state.change_batch import I64
from state.order_code import INT64_MAX, INT64_MIN

_GAP = 2**40
_HIGHEST = 2**62
_LOWEST = -_HIGHEST
NONE = -1
"""Stands for "no cut" among the places of a message's texts."""


class LabelOrder:
    """Labels of the bounds that subscriptions over one domain have."""

    def __init__(self) -> None:
        self._labels: SortedDict = SortedDict()
        self._counts: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self._counts)

    def label(self, bound: bytes) -> int:
        """Return the label of a bound that is there."""
        return self._labels[bound]

    def add(self, bounds: Iterable[bytes], moved: dict[int, int] | None = None) -> bool:
        """Count `bounds` in; return whether labels that were given before still hold. Cost: O(log n) each.

        If they do not, `moved` gets the new label of each that was given before, by the old one, ascending.
        """
        hold, fresh = True, set[bytes]()
        for bound in bounds:
            count = self._counts.get(bound, 0)
            self._counts[bound] = count + 1
            if not count:
                fresh.add(bound)
                hold &= self._enter(bound)
        if not hold:
            before = [
                (bound, label) for bound, label in self._labels.items() if moved is not None and bound not in fresh
            ]
            self._space()
            if moved is not None:
                moved |= {label: self._labels[bound] for bound, label in before}
        return hold

    def release(self, bound: bytes) -> None:
        """Count a bound out; where it was the last of its kind, it is forgotten."""
        count = self._counts[bound] - 1
        if count:
            self._counts[bound] = count
        else:
            del self._counts[bound], self._labels[bound]

    def cuts(self, keys: list[bytes], places: I64, above: bool) -> I64:
        """Return labels for the cuts at `keys[places]` (NONE: no cut), as ends of closed ranges.

        `above`: the least label of what is > key (INT64_MIN for no cut), else the greatest of what is <= key
        (INT64_MAX for no cut). Where no bound is there, the label is one that none has, beyond the others.
        """
        labels = np.empty(len(keys) + 1, np.int64)
        values = self._labels.values()
        for i, key in enumerate(keys):
            at = self._labels.bisect_right(key)
            if above:
                labels[i] = values[at] if at < len(values) else INT64_MAX
            else:
                labels[i] = values[at - 1] if at else INT64_MIN
        labels[NONE] = INT64_MIN if above else INT64_MAX
        return labels[places]

    def places(self, keys: Iterable[bytes]) -> I64:
        """Return of each key twice the label of its bound, or one more than that of the last bound below it.

        A key below all bounds is one below the first. There must be bounds. Cost: O(log n) each.
        """
        labels, values = self._labels, self._labels.values()
        lowest, found = 2 * values[0] - 1, list[int]()
        for key in keys:
            label = labels.get(key)
            if label is None:
                at = labels.bisect_left(key)
                found.append(2 * values[at - 1] + 1 if at else lowest)
            else:
                found.append(2 * label)
        return np.array(found, np.int64)

    def _enter(self, bound: bytes) -> bool:
        """Give a new bound a label in its gap; return False where there is none left (it has a wrong one then)."""
        order = self._labels
        at = order.bisect_left(bound)
        values = order.values()
        below = values[at - 1] if at else None
        beyond = values[at] if at < len(values) else None
        if below is None:
            label = 0 if beyond is None else beyond - _GAP
        elif beyond is None:
            label = below + _GAP
        else:
            label = (below + beyond) // 2
        order[bound] = label
        return label != below and _LOWEST < label < _HIGHEST

    def _space(self) -> None:
        """Give all bounds new labels, evenly spaced."""
        gap = min(_GAP, _HIGHEST // (len(self._labels) + 1))
        for i, bound in enumerate(self._labels):
            self._labels[bound] = i * gap

    def check(self) -> None:
        """Check the invariant of the module's header. Raises AssertionError. Cost: O(n)."""
        assert self._counts.keys() == self._labels.keys() and all(self._counts.values()), self._counts
        labels = [*self._labels.values()]
        assert all(a < b for a, b in pairwise(labels)), labels
        assert all(_LOWEST < label < _HIGHEST for label in labels), labels
