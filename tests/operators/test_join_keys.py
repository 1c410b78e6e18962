from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.schema.relation import Column, Relation
from catalog.types.column_type import ColumnType, Kind
from catalog.types.order_key import key_of_unscaled, text_of_key
from operators.batch_view import BatchView
from operators.join_keys import KeyColumn, agreeing, distinct, numbered, translated
from state.change_batch import ChangeBatch
from state.order_code import INT64_MAX, INT64_MIN, code_of_double
from state.row_store import RowStore
from tests.effort import examples
from tests.oracle.join_twin import comparable

NUMBERS = (
    ColumnType(Kind.BIGINT),
    ColumnType(Kind.SMALLINT),
    ColumnType(Kind.DOUBLE),
    ColumnType(Kind.REAL),
    ColumnType(Kind.DECIMAL, 9, 2),
    ColumnType(Kind.DECIMAL, 18, 0),
    ColumnType(Kind.DECIMAL, 20, 2),
    ColumnType(Kind.DECIMAL, 38, 1),
)
VALUES: dict[Kind, list] = {
    Kind.BIGINT: [0, 1, -1, INT64_MIN, INT64_MAX, 2**53 + 1],
    Kind.SMALLINT: [0, 1, -1],
    Kind.DOUBLE: [code_of_double(x) for x in (-0.0, 1.0, -1.0, 0.5, 0.1, 2.0**53, -(2.0**63), 2.0**63, 1e300, 5e-324)],
    Kind.REAL: [code_of_double(x) for x in (0.0, 0.5, 1.0)],
}


def values_of(type_: ColumnType) -> list:
    if type_.kind is not Kind.DECIMAL:
        return VALUES[type_.kind]
    unscaled = [0, 10**type_.scale, -(10**type_.scale), 1, 10 * 2**53, 10 ** (type_.precision - 1)]
    unscaled = [number for number in unscaled if abs(number) < 10**type_.precision]
    return unscaled if type_.coded else [text_of_key(type_, key_of_unscaled(number)) for number in unscaled]


def column_of(types: list[ColumnType], rows: list[list]) -> BatchView:
    """Return the view of a table with such columns and rows."""
    columns = tuple(Column(f"c{i}", type_) for i, type_ in enumerate(types))
    relation = Relation("t", columns, ("c0",), "t")
    m, c = len(rows), len(types)
    codes, valid = np.zeros((c, m), np.int64), np.zeros((c, m), np.bool_)
    texts: dict[int, list] = {i: [None] * m for i, type_ in enumerate(types) if not type_.coded}
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            valid[j, i] = value is not None
            if isinstance(value, str):
                texts[j][i] = value
            else:
                codes[j, i] = value or 0
    store = RowStore(c, tuple(texts))
    keys = [b"%d" % i for i in range(m)]
    batch = ChangeBatch(keys, np.ones(m, np.bool_), codes, valid, dict(texts), np.zeros(m, np.int32), np.arange(m))
    store.commit(store.replay(batch))
    return BatchView(relation, store, {}, store.still())


def numbers_in(view: BatchView, column: int = 0) -> np.ndarray:
    return view.replay.codes[column]


@st.composite
def two_columns(draw: st.DrawFn) -> tuple[ColumnType, list, ColumnType, list]:
    if draw(st.integers(0, 3)) == 0:
        text = st.lists(st.sampled_from(["", "a", "é", "b"]), min_size=1, max_size=5)
        return ColumnType(Kind.VARCHAR), draw(text), ColumnType(Kind.VARCHAR), draw(text)
    one, other = draw(st.sampled_from(NUMBERS)), draw(st.sampled_from(NUMBERS))
    lists = [st.lists(st.sampled_from(values_of(type_)), min_size=1, max_size=6) for type_ in (one, other)]
    return one, draw(lists[0]), other, draw(lists[1])


def exact(type_: ColumnType, value: object) -> Fraction | int | str | None:
    return comparable(type_, value)  # type: ignore[arg-type]


@given(two_columns())
@settings(max_examples=examples(300), deadline=None)
def test_values_of_any_two_types_are_equal_where_they_are_as_numbers(drawn):
    one, ones, other, others = drawn
    left, right = column_of([one], [[value] for value in ones]), column_of([other], [[value] for value in others])
    found, known = translated(KeyColumn(left, 0), numbers_in(left), KeyColumn(right, 0))
    there = [exact(other, value) for value in others]
    for i, value in enumerate(ones):
        equal = [j for j, each in enumerate(there) if each == exact(one, value)]
        assert not equal or known[i]
        assert [j for j in range(len(others)) if known[i] and numbers_in(right)[j] == found[i]] == equal
    numbers = numbered([(KeyColumn(left, 0), numbers_in(left)), (KeyColumn(right, 0), numbers_in(right))])
    values = [exact(one, value) for value in ones] + there
    all_numbers = np.concatenate(numbers).tolist()
    assert min(all_numbers) == 0
    for i, first in enumerate(all_numbers):
        for j, second in enumerate(all_numbers):
            assert (first == second) == (values[i] == values[j])


@pytest.mark.parametrize(
    ("types", "rows", "agree"),
    [
        ([Kind.BIGINT, Kind.BIGINT], [[1, 1], [1, 2], [None, 1], [None, None], [0, None]], [True] + [False] * 4),
        ([Kind.BIGINT, Kind.DOUBLE], [[1, code_of_double(1.0)], [1, code_of_double(1.5)]], [True, False]),
        ([Kind.VARCHAR, Kind.VARCHAR], [["b", "a"], ["a", "a"], ["", ""], ["", None]], [False, True, True, False]),
    ],
)
def test_columns_of_one_row_agree_where_all_have_the_same_value(types, rows, agree):
    view = column_of([ColumnType(kind) for kind in types], rows)
    columns = [KeyColumn(view, i) for i in range(len(types))]
    assert agreeing(columns, np.arange(len(rows))).tolist() == agree
    assert agreeing(columns[::-1], np.arange(len(rows))).tolist() == agree


@given(st.lists(st.sampled_from([INT64_MIN, -1, 0, 1, 7, 2**41, INT64_MAX])))
@settings(max_examples=examples(100), deadline=None)
def test_distinct_ones_of_any_span(values):
    found, place = distinct(np.array(values, np.int64))
    assert found.tolist() == sorted(set(values))
    assert found[place].tolist() == values
