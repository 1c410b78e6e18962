"""Against PostgreSQL itself, see tests/catalog/query/test_ranges_against_postgres.py."""

from __future__ import annotations

import random

import pytest

from catalog.types.column_type import ColumnType, Kind
from catalog.types.range_value import RangeRefused, end_text, ends_coded, read_range
from tests.oracle.naive_ranges import ELEMENTS, random_range
from tidewire.verification.records.ranges import NoRange, canonical

INT4, INT8 = ColumnType(Kind.INT4RANGE), ColumnType(Kind.INT8RANGE)
NUM, WIDE = ColumnType(Kind.NUMRANGE, 6, 2), ColumnType(Kind.NUMRANGE, 38, 2)
DAY, MOMENT = ColumnType(Kind.DATERANGE), ColumnType(Kind.TSRANGE)
FLOAT, TEXT = ColumnType(Kind.FLOAT8RANGE), ColumnType(Kind.TEXTRANGE)
TYPES = {str(type_): type_ for type_ in (INT4, INT8, NUM, WIDE, DAY, MOMENT, FLOAT, TEXT)}
TYPES["NUMRANGE(6,2)"] = NUM


@pytest.mark.parametrize(
    ("type_", "written", "form"),
    [
        (INT4, " (1, 5] ", "[2,6)"), (INT4, "7", "[7,8)"), (INT4, "[3,3)", "empty"), (INT4, "(3,4)", "empty"),
        (INT4, "[,]", "(,)"), (INT4, "EMPTY", "empty"), (INT4, '["+1",]', "[1,)"),
        (NUM, "(1.00,1.01)", "(1.00,1.01)"), (NUM, "[1e0,.5e1]", "[1.00,5.00]"), (NUM, "(-0,-0.0]", "empty"),
        (DAY, "[2026-02-28,2026-02-28]", "[2026-02-28,2026-03-01)"), (DAY, "2026-02-28", "[2026-02-28,2026-03-01)"),
        (MOMENT, "[2026-03-01,2026-03-01T12:30)", '["2026-03-01 00:00:00","2026-03-01 12:30:00")'),
        (MOMENT, "(2026-03-01 00:00:00.50,)", '("2026-03-01 00:00:00.5",)'),
        (FLOAT, "[1,1e300)", "[1,1e+300)"), (FLOAT, "[-0.0,0]", "[0,0]"),
        (TEXT, '[a,"b, c"]', '[a,"b, c"]'), (TEXT, '["",a\\,b)', '["","a,b")'), (TEXT, '("x""y",)', '("x""y",)'),
        (TEXT, "some text", '["some text","some text"]'),
        (WIDE, "[123456789012345678901.5,)", "[123456789012345678901.50,)"),
    ],
)  # fmt: skip
def test_equal_ranges_have_one_form(type_: ColumnType, written: str, form: str) -> None:
    made = read_range(type_, written)
    assert made.text == form
    assert read_range(type_, form) == made


@pytest.mark.parametrize(
    ("type_", "written", "why"),
    [
        (INT4, "[5,1]", "beyond its upper"), (INT4, "[1", "has no end"), (INT4, "[1,2)3", "behind its end"),
        (INT4, "[1 2)", "no comma"), (INT4, "[1,2,3)", "more than one comma"), (INT4, "", "blank"),
        (INT4, "[1.5,2)", "is no INTEGER"), (INT4, "[1,2147483647]", "not all within"), (INT4, "x", "is no INTEGER"),
        (INT8, "[,9223372036854775807)", "not all within"), (NUM, "[1.005,2)", "beyond the scale 2"),
        (NUM, "[10000,)", "digits before the point"), (DAY, "[2026-02-30,)", "no day"),
        (DAY, "(,9999-12-31]", "not all within"),
        (MOMENT, "[2026-03-01,infinity)", "leave it out"), (FLOAT, "[1e999,)", "64-bit"),
        (FLOAT, "[NaN,)", "leave it out"),
    ],
)  # fmt: skip
def test_what_is_no_range_is_refused_with_the_reason(type_: ColumnType, written: str, why: str) -> None:
    with pytest.raises(RangeRefused, match=why):
        read_range(type_, written)
    with pytest.raises(NoRange):
        canonical(str(type_), written)


@pytest.mark.parametrize("name", ELEMENTS)
def test_ends_are_in_the_order_of_the_bounds_and_are_told_as_these(name: str) -> None:
    type_, choose = TYPES[name], random.Random(name)
    for _ in range(500):
        written = random_range(choose, name)
        try:
            made = read_range(type_, written)
        except RangeRefused:
            with pytest.raises(NoRange):
                canonical(name, written)
            continue
        assert canonical(name, written) == made.text
        assert isinstance(made.lower, int) == isinstance(made.upper, int) == ends_coded(type_)
        assert (made.text == "empty") == (made.lower > made.upper)  # type: ignore[operator]
        said = end_text(type_, made.lower, True), end_text(type_, made.upper, False)
        if made.first is not None and type_.kind not in (Kind.INT4RANGE, Kind.INT8RANGE, Kind.DATERANGE):
            assert made.text.startswith(said[0])
        assert (said[0] == "empty") == (made.text == "empty") == (said[1] == "empty")
