"""Texts and wide decimals as int64 codes, by where they stand among the bounds that filters have of a column.

An index of filters (`state/filter_index.py`) compares int64 only. Of a value it needs to know no more than which bounds
it is at or between, so codes are made from the bounds' labels (`label_order.py`):

    bounds       "b"        "d"                     label 0 and 2**40
    code      -1  0    1   2**41   2**41 + 1        2 label of a bound; between bounds one more than of that below
    values   "a" "b"  "c"   "d"      "e"

    ["b", "d")   is [0, 2**41 - 1]                  half open as keys, closed as codes

Values between the same bounds have one code: whether one of them becomes another, codes do not say.
Where labels are spaced anew, all codes of bounds become others, in the same order: `add` says which.

Cost: 2 us a bound that comes, and a different value; O(n) where labels are spaced anew.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from overlay.index.label_order import LabelOrder
from state.change_batch import I64


class TextCodes:
    """The codes of one column; bounds are order keys (`catalog/types/order_key.py`), counted."""

    def __init__(self) -> None:
        self._order = LabelOrder()

    def __len__(self) -> int:
        """How many different bounds there are."""
        return len(self._order)

    def add(self, bounds: Iterable[bytes]) -> tuple[I64, I64] | None:
        """Count `bounds` in; return None if the codes of intervals that were given before still hold.

        If not: all ends of intervals that there may have been, ascending, and what has become of each.
        """
        moved: dict[int, int] = {}
        if self._order.add(bounds, moved):
            return None
        before, after = (np.array(list(labels), np.int64) for labels in (moved.keys(), moved.values()))
        return _ends(before), _ends(after)

    def release(self, bound: bytes) -> None:
        """Count a bound out; with the last of its kind it is forgotten."""
        self._order.release(bound)

    def interval(self, lo: bytes, hi: bytes) -> tuple[int, int]:
        """Return the closed interval of the codes of all values in [lo, hi), both of which are bounds, lo < hi."""
        return 2 * self._order.label(lo), 2 * self._order.label(hi) - 1

    def of(self, keys: Iterable[bytes]) -> I64:
        """Return the codes of values, given as order keys; there must be a bound."""
        return self._order.places(keys)

    def check(self) -> None:
        """Check the invariants of the parts. Raises AssertionError. Cost: O(n)."""
        self._order.check()


def _ends(labels: I64) -> I64:
    """Return the codes that begin an interval, or end one, at bounds with these labels."""
    return np.stack([2 * labels - 1, 2 * labels], axis=1).ravel()
