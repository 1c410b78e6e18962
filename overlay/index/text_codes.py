"""Codes of a column without order codes, so that an index of filters can hold it: texts and wide decimals as int64.

Problem. The index (`state/filter_index.py`) compares closed intervals of int64. A condition over a VARCHAR is half-open
intervals of order keys, bytes of any length: `name LIKE 'ka%'` is [ka, kb). Rows bring any text at all.

Idea. What a row's text is matters only by where it stands among the bounds that present filters have. A bound has a
label (`overlay/index/label_order.py`), labels ascend with bounds, and between any two codes of bounds there is one for
everything between the bounds:

    keys      (below)   b"k"   (between)   b"ka"   (between)   b"kb"   (beyond)
    label                 5                  9                   14
    code         9        10       11        18       19         28       29
                       2 label            half-open [ka, kb) is the closed interval [2 * 9, 2 * 14 - 1]

So a text's code is twice the label of the last bound that is <= its key, plus one where it is not that bound; and below
the first bound one less than that bound's code. Two texts between the same bounds have the same code: who must know
whether a text has changed compares the texts.

When the labels between two bounds are used up, all get new ones, and the index must replace the codes of its
intervals: `add` says which by which. Codes are never stored.

Invariants (`check`): those of the labels.
Cost: 2 us a bound that comes, 1 us one that goes, 1 to 2 us a text; all codes anew after at least 40 insertions into
one gap.
Source: as the labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from overlay.index.label_order import LabelOrder
from state.change_batch import I64
from state.order_code import INT64_MIN

Moved = tuple[I64, I64]
"""Codes of ends of intervals as they were, ascending, and as they are now."""


class TextCodes:
    """Codes by the bounds that filters have over one column."""

    def __init__(self) -> None:
        self._order = LabelOrder()

    def __len__(self) -> int:
        return len(self._order)

    def add(self, bounds: Iterable[bytes]) -> Moved | None:
        """Count bounds in. Returns None where all codes still hold, else what became of those of intervals' ends."""
        if self._order.add(bounds):
            return None
        before, after = (np.column_stack((2 * labels - 1, 2 * labels)).ravel() for labels in self._order.moved)
        return before, after

    def release(self, bound: bytes) -> None:
        """Count a bound out; where it was the last of its kind, it is forgotten."""
        self._order.release(bound)

    def interval(self, lo: bytes, hi: bytes) -> tuple[int, int]:
        """Return the closed interval of codes that says of every text what lo <= key < hi says; both are counted in."""
        return 2 * self._order.label(lo), 2 * self._order.label(hi) - 1

    def of(self, keys: Sequence[bytes]) -> I64:
        """Return the codes of texts with these order keys. Cost: 1 to 2 us each, so give each distinct one once."""
        if not len(self):
            return np.zeros(len(keys), np.int64)
        labels = self._order.cuts([*keys], np.arange(len(keys)), above=False)
        between = np.fromiter((key not in self._order for key in keys), np.int64, len(keys))
        return np.where(labels == INT64_MIN, 2 * self._order.lowest - 1, 2 * labels + between)

    def check(self) -> None:
        """Check the invariants of the module's header. Raises AssertionError. Cost: O(n)."""
        self._order.check()
