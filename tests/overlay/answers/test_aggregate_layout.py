"""Answers of several parts: what is read from them, and when two of them are the same answer."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.query.shape import Output, Shape
from catalog.types.column_type import ColumnType, Kind
from operators.exact_units import unit_of
from overlay.answers.aggregate_layout import AggregateLayout
from state.order_code import code_of_double

BIGINT, DECIMAL, DOUBLE = ColumnType(Kind.BIGINT), ColumnType(Kind.DECIMAL, 12, 2), ColumnType(Kind.DOUBLE)


def plan(*outputs: tuple[str, str | None], type_: ColumnType = BIGINT) -> AggregateLayout:
    shape = Shape("t", tuple(Output(*output) for output in outputs), (), None)
    return AggregateLayout(shape, [None if column is None else type_ for _, column in outputs])


def test_outputs_that_share_a_channel_are_read_from_one_part() -> None:
    several = plan(("count", None), ("sum", "v"), ("avg", "v"), ("count", "v"), ("min", "v"), ("count", None))
    assert [channel.kind for channel in several.channels] == ["rows", "values", "min"]
    assert several.text(((5, 0), (4, 10), None)) == "[5,10,2.5,4,null,5]"
    assert several.body(None, ((0, 0), (0, 0), 3)) == '"old":null,"new":[0,null,null,0,3,0]'


def test_a_single_output_is_a_scalar_also_if_repeated_it_is_not() -> None:
    assert plan(("sum", "v"), type_=DECIMAL).text(((1, 105),)) == '"1.05"'
    assert plan(("min", "v"), ("min", "v")).text((7,)) == "[7,7]"


@pytest.mark.parametrize(
    ("outputs", "old", "new", "differ"),
    [
        ([("count", None)], ((1, 0),), ((2, 0),), True),
        ([("count_distinct", "v")], ((1, 0),), ((1, 1),), True),
        ([("count_distinct", "v")], ((1, 1),), ((2, 1),), False),
        ([("sum", "v")], ((1, 0),), ((2, 0),), False),
        ([("sum", "v")], ((1, 0),), ((0, 0),), True),
        ([("sum", "v"), ("count", "v")], ((1, 0),), ((2, 0),), True),
        ([("avg", "v")], ((1, 2),), ((2, 4),), False),
        ([("avg", "v")], ((1, 0),), ((0, 0),), True),
        ([("avg", "v")], ((3, 2**60),), ((3, 2**60 + 1),), False),
        ([("avg", "v"), ("sum", "v")], ((3, 2**60),), ((3, 2**60 + 1),), True),
        ([("min", "v")], (None,), (0,), True),
    ],
)
def test_answers_differ_as_they_are_written(outputs: list, old: tuple, new: tuple, differ: bool) -> None:
    assert plan(*outputs).differ(old, new) is differ


tallies = st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([1e16, 1.0, 1.7e308, -5e-324]))


@given(st.sampled_from(["sum", "avg"]), tallies, tallies, st.booleans())
def test_rounded_answers_differ_where_their_texts_do(function, first, more, apart) -> None:
    one = plan((function, "v"), type_=DOUBLE)
    values = [first, more if apart else first + more]
    old, new = [(len(v), sum(unit_of(DOUBLE, code_of_double(x)) for x in v)) for v in values]
    assert one.differ((old,), (new,)) == (one.text((old,)) != one.text((new,)))


@given(st.tuples(st.integers(0, 4), st.integers(-9, 9)), st.tuples(st.integers(0, 4), st.integers(-9, 9)))
def test_averages_differ_where_their_quotients_do(old: tuple[int, int], new: tuple[int, int]) -> None:
    quotients = [Fraction(total, count) if count else None for count, total in (old, new)]
    assert plan(("avg", "v")).differ((old,), (new,)) == (quotients[0] != quotients[1])
