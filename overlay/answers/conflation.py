"""Policies: which changes of an answer its subscriber is told.

    EVERY CHANGE     each one
    LATEST           at the end of a batch, one delivery if the answer is another one than that told last
    FINAL            none, until the answer is final (`maintain/finals.py`)
    MIN CHANGE d     those with |new - told| >= d, or d percent of |told| (from 0 each one); and NULL coming or going

The answer itself is exact under all of them: what is held back is only the telling, and `changes` says how many were.
None tells what is written as it was told last, however far the exact answer has moved (`maintain/aggregate.py`).

Deltas are compared as integers, in units (`exact_units.py`), so 0.1 is 0.1: with told = c/e, new = a/b, d = p/q and
u units to the one, |a/b - c/e| >= d u is |ae - cb| q >= p u b e, and for percent |ae - cb| 100 q >= p |c| b.
"""

from __future__ import annotations

from catalog.query.shape import COUNTS, Output
from catalog.sql.notify import Notify
from catalog.types.column_type import ColumnType
from operators.exact_units import unit_of, units_of_one
from overlay.answers.answer import PartState

Ratio = tuple[int, int] | None
"""An answer in units as (numerator, denominator); None: NULL."""


class Threshold:
    """MIN CHANGE and FINAL for answers that are one `output` of a column of `type_` (None: COUNT(*))."""

    def __init__(self, notify: Notify, output: Output, type_: ColumnType | None) -> None:
        self._never = notify.kind == "final"
        self._function = output.function
        self._type = type_
        numerator, denominator = notify.amount.as_integer_ratio()
        self._percent = notify.percent
        self._q = denominator * (100 if notify.percent else 1)
        self._p = (
            numerator
            if notify.percent or output.function in COUNTS
            else numerator * (1 if type_ is None else units_of_one(type_))
        )

    def reached(self, told: PartState, new: PartState) -> bool:
        """Whether `new` must be told to whom `told` was told last. Cost: 1 us."""
        if self._never:
            return False
        before, after = self._ratio(told), self._ratio(new)
        if before is None or after is None:
            return before != after
        (c, e), (a, b) = before, after
        apart = abs(a * e - c * b)
        return apart != 0 and apart * self._q >= self._p * (abs(c) * b if self._percent else b * e)

    def _ratio(self, state: PartState) -> Ratio:
        if isinstance(state, tuple):
            count, total = state
            if self._function == "count":
                return count, 1
            if self._function == "count_distinct":
                return total, 1
            if not count:
                return None
            return (total, count) if self._function == "avg" else (total, 1)
        if state is None or self._type is None:
            return None
        return unit_of(self._type, state), 1
