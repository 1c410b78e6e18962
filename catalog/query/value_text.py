"""Values and value sets as text, for a person: values of the columns instead of order codes and keys."""

from __future__ import annotations

import msgspec

from catalog.query.shape import BEYOND_KEYS, LOWEST_KEY
from catalog.query.value_set import ValueSet
from catalog.types.column_type import ColumnType, JsonValue
from catalog.types.order_key import after, text_of_key
from catalog.types.value import to_json, value_of

MOST_SHOWN = 10
"""Intervals of a value set that are written out."""


def held(type_: ColumnType, values: ValueSet) -> str:
    """Return what a value set holds, for a person.

    >>> held(ColumnType(Kind.BIGINT), ValueSet(((1, 3), (5, 5)), True))
    '1 to 3, 5 or NULL'
    """
    said = [_interval(type_, *interval) for interval in values.intervals[:MOST_SHOWN]]
    if len(values.intervals) > MOST_SHOWN:
        said.append(f"{len(values.intervals) - MOST_SHOWN:,} more")
    said += ["NULL"] * values.null
    return " or ".join([", ".join(said[:-1]), said[-1]] if len(said) > 1 else said)


def is_point(type_: ColumnType, lo: int | bytes, hi: int | bytes) -> bool:
    """Whether an interval of a value set holds one value."""
    if isinstance(lo, int) or isinstance(hi, int):
        return lo == hi
    return hi == after(lo) if type_.is_text else int.from_bytes(hi) == int.from_bytes(lo) + 1


def _interval(type_: ColumnType, lo: int | bytes, hi: int | bytes) -> str:
    if isinstance(lo, int) and isinstance(hi, int):
        if is_point(type_, lo, hi):
            return _json(shown(type_, lo))
        least, greatest = type_.reach
        low = None if lo <= least else _json(shown(type_, lo))
        return _from_to(low, None if hi >= greatest else _json(shown(type_, hi)), " to ", "up to ")
    assert isinstance(lo, bytes) and isinstance(hi, bytes), "bounds are of one kind"
    if is_point(type_, lo, hi):
        return _json(text(type_, lo))
    low = None if lo == LOWEST_KEY else _json(text(type_, lo))
    return _from_to(low, None if hi == BEYOND_KEYS else _json(text(type_, hi)), " to before ", "before ")


def _from_to(low: str | None, high: str | None, between: str, before: str) -> str:
    if low is None:
        return "any value" if high is None else before + high
    return f"from {low}" if high is None else low + between + high


def _json(value: JsonValue) -> str:
    return msgspec.json.encode(value).decode()


def text(type_: ColumnType, key: bytes) -> str:
    """Return the value of a type without order codes that has an order key."""
    return key.decode() if type_.is_text else text_of_key(type_, key)


def shown(type_: ColumnType, code: int | str) -> JsonValue:
    """Return the value that a group has for a column, as JSON."""
    if isinstance(code, str) or type_.is_text:
        return str(code)
    return to_json(type_, value_of(type_, code))
