"""Outputs read from their parts: two states differ in an output if and only if it is written otherwise."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.shape import Output, Shape
from catalog.types.column_type import ColumnType, Kind
from operators.exact_units import unit_of
from overlay.answers.aggregate_layout import AggregateLayout
from overlay.answers.answer import PartState
from state.order_code import code_of_double
from tests.effort import examples

BIGINT, DOUBLE = ColumnType(Kind.BIGINT), ColumnType(Kind.DOUBLE)
DECIMAL, WHOLE = ColumnType(Kind.DECIMAL, 12, 2), ColumnType(Kind.DECIMAL, 38, 0, whole=True)
TYPES = [BIGINT, DECIMAL, DOUBLE, WHOLE, ColumnType(Kind.REAL)]
BIG = unit_of(DOUBLE, code_of_double(1e16))
ONE = unit_of(DOUBLE, code_of_double(1.0))
TOTALS = st.sampled_from([0, 1, 2, -3, 2**60, 2**60 + 1, ONE, BIG, BIG + ONE, BIG + 2 * ONE, 2 * BIG])
TALLIES = st.tuples(st.integers(0, 3), TOTALS).map(lambda pair: pair if pair[0] else (0, 0))


def layout(*outputs: tuple[str, str | None], types: dict[str, ColumnType]) -> AggregateLayout:
    shape = Shape("t", tuple(Output(*output) for output in outputs), (), None)
    return AggregateLayout(shape, [None if column is None else types[column] for _, column in outputs])


@settings(max_examples=examples(1_000), deadline=None)
@given(st.sampled_from(["count", "sum", "avg", "count_distinct"]), st.sampled_from(TYPES), TALLIES, TALLIES)
def test_counts_and_sums_differ_as_they_are_written(
    function: str, type_: ColumnType, old: tuple[int, int], new: tuple[int, int]
) -> None:
    (reader,) = layout((function, "v"), types={"v": type_}).readers
    assert reader.differs(old, new) is (reader.text(old) != reader.text(new))


@pytest.mark.parametrize("function", ["min", "max"])
@pytest.mark.parametrize(("old", "new"), [(None, None), (None, 0), (0, 0), (0, 1), (1, None)])
def test_the_least_and_the_greatest_differ_as_they_are_written(function: str, old: PartState, new: PartState) -> None:
    (reader,) = layout((function, "v"), types={"v": BIGINT}).readers
    assert reader.differs(old, new) is (reader.text(old) != reader.text(new))


def test_outputs_are_read_from_the_part_of_their_channel() -> None:
    types = {"v": BIGINT, "w": DECIMAL}
    made = layout(("sum", "w"), ("count", None), ("avg", "w"), ("min", "v"), ("sum", "w"), types=types)
    assert [channel.kind for channel in made.channels] == ["values", "rows", "min"]
    assert [reader.part for reader in made.readers] == [0, 1, 0, 2, 0]
    assert [made.place(channel) for channel in made.channels] == [0, 1, 2]
    assert [made.type_of(channel) for channel in made.channels] == [DECIMAL, None, BIGINT]


def test_a_channel_that_is_alone_is_the_first_part_whoever_asks() -> None:
    made, other = layout(("min", "v"), types={"v": BIGINT}), layout(("max", "v"), types={"v": BIGINT})
    assert made.place(other.channels[0]) == 0
    assert made.type_of(made.channels[0]) == BIGINT
