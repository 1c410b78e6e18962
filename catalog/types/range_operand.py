"""What stands beside an operator of ranges: a range, or with `@>` a value, as the two ends that it is compared by."""

from __future__ import annotations

from functools import lru_cache

from catalog.types.column_type import ColumnType, Kind
from catalog.types.literal import LiteralKind, LiteralMismatch, placing, range_of
from catalog.types.range_value import (
    Bound,
    RangeRefused,
    between_end,
    ends_coded,
    point_end,
    read_range,
    value_text,
)

WITHIN = "within"
"""The operator that a value, whatever its text looks like, lies within a range: nobody writes it, audiences ask it."""


@lru_cache(4_096)
def ends_of(
    type_: ColumnType, operator: str, kind: LiteralKind, text: str, negative: bool
) -> tuple[Bound, Bound] | None:
    """Return the ends of the constant of an operator, a range, with `@>` also a value; None for NULL.

    Raises LiteralMismatch.
    """
    if kind is LiteralKind.NULL:
        return None
    if operator in ("@>", WITHIN) and kind not in (LiteralKind.STRING, LiteralKind.DIGITS):
        end = _end_of_value(type_, kind, text, negative)
        return end, end
    if operator == WITHIN:
        return _ends_of_text(type_, text)
    found = range_of(type_, kind, text, negative)
    return None if found is None else (found.lower, found.upper)


def limits(operator: str, ends: tuple[Bound, Bound], is_lower: bool) -> tuple[Bound | None, Bound | None]:
    """Return the least and the greatest lower end (else upper end) of the ranges that meet an operator and its operand.

    `ends` are those of the operand. One of the two is None: there is no such limit.

    >>> limits("&&", (10, 20), True), limits("&&", (10, 20), False)
    ((None, 20), (10, None))
    """
    lower, upper = ends
    if operator == "&&":
        return (None, upper) if is_lower else (lower, None)
    its = lower if is_lower else upper
    return (None, its) if (operator in ("@>", WITHIN)) == is_lower else (its, None)


def _ends_of_text(type_: ColumnType, text: str) -> tuple[Bound, Bound]:
    """Return the ends of the range of a value that is written as a text."""
    try:
        found = read_range(type_, value_text(text))
    except RangeRefused:
        what = f"is {type_}, which holds values of {type_.element}, and this is none"
        raise LiteralMismatch(what, "Give one value that may lie within such a range.") from None
    return found.lower, found.upper


def _end_of_value(type_: ColumnType, kind: LiteralKind, text: str, negative: bool) -> Bound:
    """Return the end of a value that stands alone, both the lower and the upper one of its range."""
    element = type_.element
    if element.kind is Kind.VARCHAR:
        what = f"is {type_} and cannot be compared with a {kind.value}"
        raise LiteralMismatch(what, "Ask for a text, such as 'abc', or for a range, such as '[a,b)'.")
    try:
        floor, ceiling = placing(element)(element, kind, text, negative)
    except LiteralMismatch as mismatch:
        raise LiteralMismatch(mismatch.what.replace(f"is {element}", f"is {type_}", 1), mismatch.hint) from None
    if floor != ceiling and type_.kind in (Kind.INT4RANGE, Kind.INT8RANGE, Kind.DATERANGE):
        what = f"is {type_}, whose values are {element}, and this lies between two of them"
        raise LiteralMismatch(what, "Ask for a value that a range can have.")
    return point_end(type_, floor, ceiling) if ends_coded(type_) else between_end(type_, floor, ceiling)
