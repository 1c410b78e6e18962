"""How large exact numbers can become, so that nothing a view computes overflows or rounds.

    SMALLINT 2**15   INTEGER 2**31   BIGINT 2**63   DECIMAL(p,s) 10**p - 1 units of the last digit
    a + b            most of a + most of b, at the greater scale
    a * b            most of a * most of b, the scales added
    SUM(a)           most of a * 2**31, as many rows as a table can have

The type of what is computed follows from its bound: BIGINT where that holds every value, else a whole number of up to
38 digits; a DECIMAL of as many digits as it needs. Bounds go through views, so a sum of differences of sums is told
by what it is, and not by the types of its columns.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce

from catalog.types.column_type import MAX_PRECISION, ColumnType, Kind
from state.order_code import INT64_MAX

MOST_ROWS = 2**31
"""Of one table: rows are numbered by 31 bits."""
WIDE_INTEGER = ColumnType(Kind.DECIMAL, MAX_PRECISION, 0, whole=True)
"""The type of integers that no BIGINT holds."""
_MOST = 10**MAX_PRECISION - 1
_INTEGERS = {Kind.SMALLINT: 2**15, Kind.INTEGER: 2**31, Kind.BIGINT: 2**63}
_RANKS = (ColumnType(Kind.SMALLINT), ColumnType(Kind.INTEGER), ColumnType(Kind.BIGINT), WIDE_INTEGER)
"""Types of integers, each within the next."""


class TooWide(Exception):
    """A number may have more than 38 digits. `digits`: how many."""

    def __init__(self, digits: int) -> None:
        self.digits = digits
        super().__init__(f"{digits} digits")


@dataclass(frozen=True, slots=True)
class Bound:
    """No value is beyond `most` units of 10**-scale, on either side of zero; `whole`: it is an integer by its type."""

    most: int
    scale: int = 0
    whole: bool = True

    def at(self, scale: int) -> Bound:
        """Return the same bound with more digits after the point."""
        return replace(self, most=self.most * 10 ** (scale - self.scale), scale=scale)

    def added(self, other: Bound) -> Bound:
        """Return the bound of a sum or a difference of two."""
        scale = max(self.scale, other.scale)
        return Bound(self.at(scale).most + other.at(scale).most, scale, self.whole and other.whole)

    def multiplied(self, other: Bound) -> Bound:
        """Return the bound of a product."""
        return Bound(self.most * other.most, self.scale + other.scale, self.whole and other.whole)

    def summed(self) -> Bound:
        """Return the bound of SUM."""
        return replace(self, most=self.most * MOST_ROWS)

    def united(self, other: Bound) -> Bound:
        """Return the bound of what is one or the other."""
        scale = max(self.scale, other.scale)
        return Bound(max(self.at(scale).most, other.at(scale).most), scale, self.whole and other.whole)


COUNTED = Bound(MOST_ROWS)
"""The bound of COUNT, and of a place in an order."""


def bound_of(type_: ColumnType) -> Bound | None:
    """Return the bound of all values of a type; None where they are no exact numbers.

    >>> bound_of(ColumnType(Kind.DECIMAL, 4, 2))
    Bound(most=9999, scale=2, whole=False)
    """
    if type_.kind is Kind.DECIMAL:
        return Bound(10**type_.precision - 1, type_.scale, type_.whole)
    return Bound(_INTEGERS[type_.kind]) if type_.kind in _INTEGERS else None


def type_of(bound: Bound) -> ColumnType:
    """Return the type of computed numbers within a bound. Raises TooWide.

    >>> [str(type_of(Bound(2**62))), str(type_of(Bound(2**63))), str(type_of(Bound(123, 2, False)))]
    ['BIGINT', 'DECIMAL(38,0)', 'DECIMAL(3,2)']
    """
    if bound.most > _MOST:
        raise TooWide(len(str(bound.most)))
    if bound.whole:
        return _RANKS[2] if bound.most <= INT64_MAX else WIDE_INTEGER
    digits = max(len(str(bound.most)), bound.scale)
    if digits > MAX_PRECISION:
        raise TooWide(digits)
    return ColumnType(Kind.DECIMAL, digits, bound.scale)


def least_type(value: int) -> ColumnType:
    """Return the least type of integers that has `value`. Raises TooWide."""
    if abs(value) > _MOST:
        raise TooWide(len(str(abs(value))))
    return next((t for t in _RANKS[:3] if t.reach[0] <= value <= t.reach[1]), WIDE_INTEGER)


def common_type(types: Iterable[ColumnType], bounds: Iterable[Bound | None]) -> ColumnType | None:
    """Return the type of what is of one of `types`; None where they have none in common. Raises TooWide.

    Equal types stay as they are; integers become the widest of them; other exact numbers a DECIMAL that holds all;
    numbers of which one is REAL or DOUBLE become DOUBLE.
    """
    distinct = list(dict.fromkeys(types))
    if len(distinct) == 1:
        return distinct[0]
    if all(type_ in _RANKS for type_ in distinct):
        return max(distinct, key=_RANKS.index)
    exact = [bound for bound in bounds if bound is not None]
    if all(bound_of(type_) is not None for type_ in distinct):
        return type_of(reduce(Bound.united, exact))
    if all(bound_of(type_) is not None or type_.kind in (Kind.REAL, Kind.DOUBLE) for type_ in distinct):
        return ColumnType(Kind.DOUBLE)
    return None
