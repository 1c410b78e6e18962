from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import encode_terms
from catalog.query.shape import Region
from catalog.query.value_set import ValueSet
from operators.coded_terms import CodedRows
from operators.region_hulls import ColumnPlaces, Hull, intervals_of
from tests.effort import deep_examples
from tests.operators.filter_rows import CHANGES, REGIONS, store_of
from tests.operators.watched import RELATION
from tests.oracle.naive_first_rows import meets


def hulls_of(rows: CodedRows, regions: list[Region]) -> dict[int, Hull]:
    found = {}
    for column, (lo, hi, null) in intervals_of(rows, regions).items():
        places = ColumnPlaces(rows, column)
        found[column] = Hull(places, *places.between(lo, hi), null)
    return found


@pytest.mark.deep
@given(changes=CHANGES, regions=st.lists(REGIONS, min_size=1, max_size=5), seed=st.integers(0, 99))
@settings(max_examples=deep_examples(600, few=8), deadline=None)
def test_no_row_that_a_region_holds_is_outside_of_its_hull(changes, regions, seed):
    store, rows = store_of(changes)
    coded = CodedRows(RELATION, store)
    some = np.array([i for i in range(len(regions)) if Random(seed + i).random() < 0.7], np.int64)
    held = np.ones(len(rows), np.bool_)
    for hull in hulls_of(coded, regions).values():
        mine = hull.take(some)
        held &= mine.may_hold(np.arange(len(rows)))
        assert (mine.widths >= 0).all() and mine.narrowness >= 0 if len(some) else True
    for row, may in zip(rows, held.tolist(), strict=True):
        assert may or not any(meets(RELATION, regions[i], row) for i in some.tolist())


def filters(*conditions: ValueSet | None) -> list[Region]:
    """Filters of column x; None: of all rows."""
    shape = FilterShape("t", ("id",), (), ("x",), (), ())
    boxes = [{} if values is None else {0: values} for values in conditions]
    return [Region(shape, b"[]", terms=encode_terms([box])) for box in boxes]


def test_a_hull_is_places_among_sorted_values_and_holds_no_more_of_single_intervals():
    store, _ = store_of([(i, {"x": x}) for i, x in enumerate([5, 3, 8, 5, None, 9])])
    regions = filters(ValueSet.of([(4, 8)]), ValueSet.of([(9, 9)], True), ValueSet.of([(0, 2)]), None)
    hull = hulls_of(CodedRows(RELATION, store), regions)[RELATION.index("x")]
    assert [*zip(hull.first.tolist(), hull.stop.tolist(), hull.null.tolist(), strict=True)] == [
        (1, 4, False),
        (4, 5, True),
        (0, 0, False),
        (0, 5, True),
    ]
    assert hull.widths.tolist() == [3, 1, 0, 5]
    held = [hull.take(np.array(which)).may_hold(np.arange(6)).tolist() for which in ([0], [1], [2], [0, 1])]
    yes, no = True, False
    assert held == [[yes, no, yes, yes, no, no], [no, no, no, no, yes, yes], [no] * 6, [yes, no, yes, yes, yes, yes]]


def test_narrow_is_what_holds_little_of_what_all_hold_together():
    store, _ = store_of([(i, {"x": i}) for i in range(100)])
    narrow = filters(*(ValueSet.of([(10 * i, 10 * i + 9)]) for i in range(10)))
    wide = filters(*(ValueSet.of([(i, 90 + i)]) for i in range(10)))
    column = RELATION.index("x")
    rows = CodedRows(RELATION, store)
    assert hulls_of(rows, narrow)[column].narrowness == 0.1
    assert hulls_of(rows, wide)[column].narrowness > 0.9
    assert hulls_of(rows, filters(ValueSet((), True)))[column].narrowness == 1.0
