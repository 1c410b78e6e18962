"""Operators of ranges on values, against those of the product's ends, for every pair of small ranges of each type."""

from __future__ import annotations

import random

import pytest

from catalog.types.column_type import ColumnType, Kind
from catalog.types.literal import LiteralKind
from catalog.types.range_operand import ends_of
from catalog.types.range_value import RangeRefused, read_range
from tests.effort import examples
from tests.oracle.naive_ranges import ELEMENTS, random_range
from tidewire.verification.records.range_values import MEETS, PARTS, bounds_of, point


def column_type(text: str) -> ColumnType:
    name, _, digits = text.rstrip(")").partition("(")
    return ColumnType(Kind[name], *map(int, digits.split(","))) if digits else ColumnType(Kind[name])


@pytest.mark.parametrize("type_", ELEMENTS)
def test_operators_hold_where_the_ends_say_so(type_: str) -> None:
    choose, column = random.Random(type_), column_type(type_)
    for _ in range(examples(2_000)):
        try:
            one, other = (read_range(column, random_range(choose, type_)) for _ in range(2))
        except RangeRefused:
            continue
        found = ends_of(column, "&&", LiteralKind.STRING, other.text, False)
        assert found is not None
        lower, upper = found
        ends = {
            "&&": one.lower <= upper and one.upper >= lower,  # type: ignore[operator]
            "@>": one.lower <= lower and one.upper >= upper,  # type: ignore[operator]
            "<@": one.lower >= lower and one.upper <= upper,  # type: ignore[operator]
        }
        values = bounds_of(type_, one.text), bounds_of(type_, other.text)
        assert {name: meets(*values) for name, meets in MEETS.items()} == ends, (one.text, other.text)


def test_a_value_alone_is_the_range_of_it() -> None:
    holds = MEETS["@>"]
    assert holds(bounds_of("INT4RANGE", "[3,5)"), point("INT4RANGE", 4))
    assert not holds(bounds_of("INT4RANGE", "[3,5)"), point("INT4RANGE", 5))
    assert not holds(bounds_of("NUMRANGE(6,2)", "(1.00,)"), point("NUMRANGE(6,2)", 1))


def test_parts() -> None:
    assert [PARTS[name](bounds_of("INT4RANGE", "(3,]")) for name in ("lower", "upper", "empty")] == [4, None, False]
    assert [PARTS[name](bounds_of("DATERANGE", "empty")) for name in ("lower", "upper", "empty")] == [None, None, True]
