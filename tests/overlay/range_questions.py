"""Ranges as users write them, each with the bounds that its region has: for the machine of virtual edges."""

from __future__ import annotations

from catalog.query.shape import BEYOND_KEYS, LOWEST_KEY
from catalog.types.order_key import after, order_key
from state.order_code import INT64_MAX, INT64_MIN
from tests.oracle.naive_channels import TEXTS, WIDE
from tests.overlay.edge_world import TYPES

RANGED = (None, "x", "x", "s", "w")
"""What questions are about a range of, or of none."""


def range_of(column: str | None, a: int, b: int, how: int) -> tuple[int | bytes, int | bytes, str]:
    """Return lo, hi and the condition of a range from a, to b, or between them, for `how` 1, 2 and 3."""
    if column is None:
        return INT64_MIN, INT64_MAX, ""
    if column == "x":
        if how == 1:
            return a, INT64_MAX, f"x >= {a}"
        return (INT64_MIN, b - 1, f"x < {b}") if how == 2 else (a, b, f"x BETWEEN {a} AND {b}")
    texts = TEXTS if column == "s" else WIDE
    low, high = (order_key(TYPES[column], texts[i]) for i in (a, b))
    first, last = (f"'{texts[i]}'" if column == "s" else texts[i] for i in (a, b))
    if how == 1:
        return after(low), BEYOND_KEYS, f"{column} > {first}"
    if how == 2:
        return LOWEST_KEY, after(high), f"{column} <= {last}"
    return low, high, f"{column} >= {first} AND {column} < {last}"


def is_empty(lo: int | bytes, hi: int | bytes) -> bool:
    """Whether no value is in a range: closed of codes, half open of keys."""
    return lo >= hi if isinstance(lo, bytes) else lo > hi  # type: ignore[operator]
