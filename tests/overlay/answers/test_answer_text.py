"""Texts of outputs: exact integers, scales kept, nearest doubles, what JSON cannot say."""

from __future__ import annotations

from fractions import Fraction

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.types.column_type import ColumnType, Kind
from operators.exact_units import unit_of
from overlay.answers.answer_text import output_text, sorted_texts
from state.order_code import code_of_double

BIGINT, DOUBLE, DECIMAL = ColumnType(Kind.BIGINT), ColumnType(Kind.DOUBLE), ColumnType(Kind.DECIMAL, 12, 2)
WHOLE = ColumnType(Kind.DECIMAL, 38, 0, whole=True)
WIDE, TEXT = ColumnType(Kind.DECIMAL, 30, 2), ColumnType(Kind.VARCHAR)


@pytest.mark.parametrize(
    ("function", "type_", "state", "text"),
    [
        ("count", None, (0, 0), "0"),
        ("count", TEXT, (3, 0), "3"),
        ("count_distinct", TEXT, (3, 2), "2"),
        ("count_distinct", BIGINT, (0, 0), "0"),
        ("sum", BIGINT, (2, 2**70), "1180591620717411303424"),
        ("sum", BIGINT, (0, 0), "null"),
        ("sum", DECIMAL, (1, -5), '"-0.05"'),
        ("sum", WIDE, (1, 10**30 + 7), '"10000000000000000000000000000.07"'),
        ("sum", ColumnType(Kind.DECIMAL, 12, 0), (1, -5), '"-5"'),
        ("sum", WHOLE, (1, -(10**30)), f"{-(10**30)}"),
        ("max", WHOLE, "9223372036854775808", "9223372036854775808"),
        ("distinct", WHOLE, None, "null"),
        ("avg", DECIMAL, (4, 4100), "10.25"),
        ("avg", BIGINT, (3, 1), "0.3333333333333333"),
        ("avg", BIGINT, (0, 0), "null"),
        ("avg", DOUBLE, (2, -1), "0.0"),
        ("sum", DOUBLE, (0, 0), "null"),
        ("sum", DOUBLE, (2, 0), "0.0"),
        ("min", BIGINT, None, "null"),
        ("max", DECIMAL, 1025, '"10.25"'),
        ("min", TEXT, 'a"b', '"a\\"b"'),
        ("max", WIDE, "-1.00", '"-1.00"'),
        ("distinct", ColumnType(Kind.BOOLEAN), 1, "true"),
    ],
)
def test_outputs(function: str, type_: ColumnType | None, state: object, text: str) -> None:
    assert output_text(function, type_)(state) == text


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_doubles_are_summed_exactly_and_rounded_once(values: list[float]) -> None:
    total = sum(unit_of(DOUBLE, code_of_double(value)) for value in values)
    exact = sum(map(Fraction, values), Fraction())
    mean = msgspec.json.decode(output_text("avg", DOUBLE)((len(values), total)))
    assert mean == float(exact / len(values))
    told = msgspec.json.decode(output_text("sum", DOUBLE)((len(values), total)))
    try:
        assert told == float(exact)
    except OverflowError:
        assert told == ("Infinity" if exact > 0 else "-Infinity")


def test_distinct_values_stand_in_order_null_first() -> None:
    text = output_text("distinct", WIDE)
    assert sorted_texts({"10.00", None, "-3.00", "9.00"}, WIDE, text) == ["null", '"-3.00"', '"9.00"', '"10.00"']
    assert sorted_texts({"b", "a", "Z", "ä"}, TEXT, output_text("distinct", TEXT)) == ['"Z"', '"a"', '"b"', '"ä"']
    assert sorted_texts({10, 9, -1}, BIGINT, output_text("distinct", BIGINT)) == ["-1", "9", "10"]
