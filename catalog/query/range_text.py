"""What a condition holds of the ends of a range, for a person: bounds instead of codes."""

from __future__ import annotations

from catalog.query.shape import BEYOND_KEYS, LOWEST_KEY
from catalog.query.value_set import Interval, ValueSet
from catalog.types.column_type import ColumnType
from catalog.types.range_value import Bound, end_text
from state.order_code import INT64_MAX, INT64_MIN


def held_ends(type_: ColumnType, lower: bool, values: ValueSet) -> str:
    """Return which lower ends, or upper ones, of a range type are held.

    >>> from catalog.types.column_type import Kind
    >>> held_ends(ColumnType(Kind.INT4RANGE), True, ValueSet(((INT64_MIN, 5),)))
    'up to [5'
    """
    said = [_interval(type_, lower, each) for each in values.intervals] + ["NULL"] * values.null
    return " or ".join(said) or "nothing"


def _interval(type_: ColumnType, lower: bool, interval: Interval) -> str:
    first, last = _ends(interval)
    if first is None and last is None:
        return "any"
    if first == last and first is not None:
        return end_text(type_, first, lower)
    if first is None and last is not None:
        return f"up to {end_text(type_, last, lower)}"
    begin = end_text(type_, first, lower) if first is not None else ""
    return f"from {begin}" if last is None else f"{begin} to {end_text(type_, last, lower)}"


def _ends(interval: Interval) -> tuple[Bound | None, Bound | None]:
    lo, hi = interval
    if isinstance(lo, bytes) and isinstance(hi, bytes):
        return (None if lo == LOWEST_KEY else _text(lo)), (None if hi == BEYOND_KEYS else _text(hi))
    assert isinstance(lo, int) and isinstance(hi, int), "bounds are of one kind"
    return (None if lo == INT64_MIN else lo), (None if hi == INT64_MAX else hi)


def _text(key: bytes) -> str:
    """Return the end that a key says, or the one that it is just behind."""
    marks = ("\x01", "\x02", "\x03")
    text = key.decode()
    return text.removesuffix("\0") if text[-2:-1] in marks else text
