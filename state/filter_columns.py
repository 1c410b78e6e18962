"""Filters as flat arrays: the form in which many of them enter an index at once.

A filter is a list of boxes, any of which a row may meet; a box is a list of conditions, all of which it must meet; a
condition is a set of values of one column: closed intervals of codes, and NULL or not.

    filter  slot 7, (a in 3..5 or 8..9, b NULL) or (a = 1)          filter  slot 9, everything

    slots       7            9
    boxes       0            2        3       filter f has the boxes boxes[f] .. boxes[f + 1]
    starts      0      2     3        3       box b has the conditions starts[b] .. starts[b + 1]
    conditions  (a, 2 intervals from 0) (b, NULL) (a, 1 .. 1)
    bounds      (3, 5) (8, 9)

A condition is three words: `column | null << 16 | intervals << 17`, then lo and hi of its only interval, or from where
on its intervals stand in `bounds`.

Cost: `of` 3 us a filter; 24 bytes a condition.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from state.change_batch import I64
from state.order_code import INT64_MAX, INT64_MIN

U64 = npt.NDArray[np.uint64]
CodedBox = Sequence[tuple[int, Sequence[tuple[int, int]], bool]]
"""Conditions: (column, its closed intervals in ascending order and disjoint, whether NULL is in the set too)."""
Filter = tuple[int, Sequence[CodedBox], Iterable[int]]
"""Slot, boxes, and the columns whose change is of interest where the row stays within the filter."""

MOST_CONDITIONS = 64
"""Of a box."""
MOST_COLUMNS = 2**16
NULL, COUNT = 16, 17
"""Bits of a condition's first word from which the two stand."""


@dataclass(frozen=True, slots=True)
class FilterColumns:
    """n filters of b boxes in all.

    slots: int64[n].  interest: uint64[n], bit c & 63 of each interesting column c.  boxes: int64[n + 1].
    starts: int64[b + 1].  conditions: int64[k, 3].  bounds: int64[q, 2].
    """

    slots: I64
    interest: U64
    boxes: I64
    starts: I64
    conditions: I64
    bounds: I64

    def __len__(self) -> int:
        return len(self.slots)

    @classmethod
    def of(cls, filters: Iterable[Filter]) -> FilterColumns:
        """Lay filters out. Raises ValueError for a filter without boxes, and for an unsound condition."""
        slots, interest, boxes, starts = list[int](), list[int](), [0], [0]
        conditions, bounds = list[tuple[int, int, int]](), list[tuple[int, int]]()
        for slot, its_boxes, columns in filters:
            if not its_boxes or slot < 0:
                raise ValueError(
                    f"filter {slot} cannot be indexed: expected a slot from 0 on and a box, got {its_boxes!r}"
                )
            for box in its_boxes:
                for column, intervals, null in _sound(slot, box):
                    head = column | null << NULL | len(intervals) << COUNT
                    if len(intervals) == 1:
                        conditions.append((head, *intervals[0]))
                    else:
                        conditions.append((head, len(bounds), 0))
                        bounds += intervals
                starts.append(len(conditions))
            slots.append(slot)
            interest.append(interest_of(columns))
            boxes.append(len(starts) - 1)
        return cls(
            np.array(slots, np.int64),
            np.array(interest, np.uint64),
            np.array(boxes, np.int64),
            np.array(starts, np.int64),
            np.array(conditions, np.int64).reshape(-1, 3),
            np.array(bounds, np.int64).reshape(-1, 2),
        )

    @classmethod
    def of_intervals(cls, slots: I64, interest: U64, columns: I64, lo: I64, hi: I64) -> FilterColumns:
        """Lay out filters of one box whose conditions are one interval each, all arrays [n, w]; column -1: none.

        Cost: 0.1 us a filter.
        """
        used = columns >= 0
        starts = np.append(0, np.cumsum(used.sum(axis=1)))
        conditions = np.stack([columns[used] | 1 << COUNT, lo[used], hi[used]], axis=1)
        return cls(slots, interest, np.arange(len(slots) + 1), starts, conditions, np.zeros((0, 2), np.int64))


def interest_of(columns: Iterable[int]) -> int:
    """Return a bit for each column; columns 64 apart share one, so that beyond 64 it only says "maybe".

    >>> interest_of([0, 3, 64])
    9
    """
    bits = 0
    for column in columns:
        bits |= 1 << (column & 63)
    return bits


def _sound(slot: int, box: CodedBox) -> CodedBox:
    """Return `box` if every condition is of a column of its own, holds some value, and ascends."""
    for _, intervals, null in box:
        before = INT64_MIN - 1
        for lo, hi in intervals:
            if not before < lo <= hi <= INT64_MAX:
                raise ValueError(f"filter {slot} cannot be indexed: expected ascending intervals, got {intervals!r}")
            before = hi
        if not intervals and not null:
            raise ValueError(f"filter {slot} cannot be indexed: expected a value that it lets through, got {box!r}")
    columns = {column for column, _, _ in box}
    if len(columns) < len(box) or len(box) > MOST_CONDITIONS or not all(0 <= c < MOST_COLUMNS for c in columns):
        raise ValueError(f"filter {slot} cannot be indexed: expected up to {MOST_CONDITIONS} columns, got {box!r}")
    return box
