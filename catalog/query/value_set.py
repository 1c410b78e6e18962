"""Value sets: what a condition of one column holds, as disjoint intervals and whether NULL is held too.

    type                       interval        bounds
    with order codes           [lo, hi]        closed, order codes (`catalog/types/value.py`)
    VARCHAR, wide DECIMAL      [lo, hi)        half open, order keys (`catalog/types/order_key.py`)

SQL's conditions have three values, and a row is in the answer where they are true. So a set holds the values for which
a condition is *true*; those for which its negation is true are the *complement*, which never holds NULL. The negation
of a whole WHERE is pushed down to the conditions of single columns before any set is made.

A set is canonical: its intervals ascend, none is empty, and between two of them lies a value. Equal sets are equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from catalog.query.shape import BEYOND_KEYS, LOWEST_KEY
from catalog.types.column_type import ColumnType

Interval = tuple[int, int] | tuple[bytes, bytes]


class ValueSet(msgspec.Struct, frozen=True, order=True, array_like=True):
    """The values in `intervals`, and NULL where `null`. All operations cost a sort of the intervals at most."""

    intervals: tuple[Interval, ...]
    null: bool = False

    @classmethod
    def of(cls, intervals: Iterable[Interval], null: bool = False) -> ValueSet:
        """Return the set of all values in `intervals`, which may overlap, touch and be empty."""
        return cls(united(intervals), null)

    def __bool__(self) -> bool:
        """Whether it holds anything."""
        return bool(self.intervals) or self.null

    def __or__(self, other: ValueSet) -> ValueSet:
        return ValueSet(united((*self.intervals, *other.intervals)), self.null or other.null)

    def __and__(self, other: ValueSet) -> ValueSet:
        return ValueSet(_common(self.intervals, other.intervals), self.null and other.null)

    def complement(self, everything: ValueSet) -> ValueSet:
        """Return all other values of `everything`, of which only the intervals count: never NULL.

        >>> ValueSet.of([(3, 5)], True).complement(ValueSet(((0, 9),)))
        ValueSet(intervals=((0, 2), (6, 9)), null=False)
        """
        gaps: list[Any] = []
        for first, last in everything.intervals:
            start: Any = first
            for lo, hi in _common(((first, last),), self.intervals):
                gaps.append((start, lo - 1 if isinstance(lo, int) else lo))
                start = hi + 1 if isinstance(hi, int) else hi
            gaps.append((start, last))
        return ValueSet(tuple([gap for gap in gaps if not _is_empty(gap)]))

    def holds(self, value: int | bytes | None) -> bool:
        """Whether a value, given as its code or key, is in the set. Cost: one comparison an interval."""
        if value is None:
            return self.null
        if isinstance(value, int):
            return any(lo <= value <= hi for lo, hi in self.intervals)  # type: ignore[operator]
        return any(lo <= value < hi for lo, hi in self.intervals)  # type: ignore[operator]

    def within(self, other: ValueSet) -> bool:
        """Whether the other set holds all that this one holds."""
        return self is other or (self.null <= other.null and _are_within(self.intervals, other.intervals))


def everything(type_: ColumnType) -> ValueSet:
    """Return all values of a type, without NULL."""
    return ValueSet((type_.reach,)) if type_.coded else ValueSet(((LOWEST_KEY, BEYOND_KEYS),))


NOTHING = ValueSet(())
ONLY_NULL = ValueSet((), True)


def united(intervals: Iterable[Any]) -> tuple[Interval, ...]:
    """Return the same values in intervals that ascend and neither overlap nor touch."""
    merged: list[Any] = []
    for lo, hi in sorted([one for one in intervals if not _is_empty(one)]):
        if merged and lo <= (merged[-1][1] + 1 if isinstance(lo, int) else merged[-1][1]):
            merged[-1] = (merged[-1][0], max(merged[-1][1], hi))
        else:
            merged.append((lo, hi))
    return tuple(merged)


def _is_empty(interval: Any) -> bool:
    lo, hi = interval
    return bool(lo > hi or (lo == hi and isinstance(lo, bytes)))


def _are_within(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether each interval of a canonical list lies in one of another. Cost: up to the first that does not."""
    j = 0
    for lo, hi in one:
        while j < len(other) and other[j][1] < hi:
            j += 1
        if j == len(other) or lo < other[j][0]:
            return False
    return True


def _common(one: Sequence[Any], other: Sequence[Any]) -> tuple[Interval, ...]:
    """Return what two ascending lists of intervals have in common. Cost: their lengths."""
    found, i, j = [], 0, 0
    while i < len(one) and j < len(other):
        both = max(one[i][0], other[j][0]), min(one[i][1], other[j][1])
        if not _is_empty(both):
            found.append(both)
        if one[i][1] <= other[j][1]:
            i += 1
        else:
            j += 1
    return tuple(found)
