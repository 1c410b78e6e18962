"""Operators of ranges in the queries of views, on values: a range is two bounds, compared as Python's values.

[3,5) && [5,9]     false: 5 is in one of them only            [3,5) @> 3.5    as the range of that value, [3.5,3.5]
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

from tidewire.verification.records.ranges import element_of, read


class Bounds(NamedTuple):
    """A range: its bounds, None where there is none, and whether they belong to it."""

    lower: Any
    upper: Any
    from_lower: bool
    to_upper: bool
    empty: bool = False


@lru_cache(10_000)
def bounds_of(type: str, text: str) -> Bounds:
    """Return the bounds of a range of a type, given as text. Raises NoRange."""
    found = read(type, text)
    lower, upper = (None if bound is None else _value(element_of(type), bound) for bound in (found.lower, found.upper))
    return Bounds(lower, upper, found.from_lower, found.to_upper, found.empty)


def point(type: str, value: Any) -> Bounds:
    """Return the range of one value, which stands beside a range of a type."""
    element = element_of(type)
    if element == "DOUBLE":
        value = float(value)
    elif element == "TIMESTAMP" and not isinstance(value, dt.datetime):
        value = dt.datetime.combine(value, dt.time())
    elif element == "DATE" and isinstance(value, dt.datetime):
        value = value.date()
    return Bounds(value, value, True, True)


def _value(type: str, text: str) -> Any:
    if type in ("INTEGER", "BIGINT"):
        return int(text)
    if type == "DATE":
        return dt.date.fromisoformat(text)
    if type == "TIMESTAMP":
        return dt.datetime.fromisoformat(text)
    if type == "DOUBLE":
        return float(text)
    return Decimal(text) if type.startswith("DECIMAL") else text


def _overlaps(one: Bounds, other: Bounds) -> bool:
    return not one.empty and not other.empty and _begins_within(one, other) and _begins_within(other, one)


def _begins_within(one: Bounds, other: Bounds) -> bool:
    """Whether a range begins no later than another one ends."""
    if one.lower is None or other.upper is None:
        return True
    return bool(one.lower < other.upper or (one.lower == other.upper and one.from_lower and other.to_upper))


def _contains(one: Bounds, other: Bounds) -> bool:
    if one.empty or other.empty:
        return other.empty
    low = one.lower is None or (
        other.lower is not None
        and (one.lower < other.lower or (one.lower == other.lower and (one.from_lower or not other.from_lower)))
    )
    high = one.upper is None or (
        other.upper is not None
        and (one.upper > other.upper or (one.upper == other.upper and (one.to_upper or not other.to_upper)))
    )
    return bool(low and high)


MEETS: dict[str, Callable[[Bounds, Bounds], bool]] = {
    "&&": _overlaps,
    "@>": _contains,
    "<@": lambda one, other: _contains(other, one),
}
"""By operator, whether it holds of a range and another one."""
PARTS: dict[str, Callable[[Bounds], Any]] = {
    "lower": lambda range: range.lower,
    "upper": lambda range: range.upper,
    "empty": lambda range: range.empty,
}
"""By function, what it is of a range."""
