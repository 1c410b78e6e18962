"""The workload of filters is what its text says: the same every time, and as many hits as were asked for."""

from __future__ import annotations

import numpy as np

from benchmarks.filter_index_cost import CHANGES, Case, Plain
from benchmarks.filter_workload import CATEGORICAL, COLUMNS, MOST, draw_changes, draw_filters, draw_rows


def test_filters_are_conjunctions_of_two_to_five_columns_met_about_as_often_as_asked() -> None:
    filters = draw_filters(2_000, 20)
    used = filters.columns >= 0
    assert filters.columns.shape == (2_000, MOST) and set(used.sum(axis=1).tolist()) == {2, 3, 4, 5}
    assert (filters.lo <= filters.hi)[used].all()
    assert (filters.lo == filters.hi)[used & (filters.columns < CATEGORICAL)].all()
    rows, plain = draw_changes(5, 200, updates=False).new, Plain(filters)
    assert 10 < np.mean([len(plain.met(row)) for row in rows]) < 40
    assert all(np.array_equal(a, b) for a, b in zip(filters, draw_filters(2_000, 20), strict=True))


def test_templates_leave_few_sets_of_columns() -> None:
    def sets(templates: int) -> int:
        columns = draw_filters(1_000, 2, templates).columns
        return len({tuple(sorted(row)) for row in columns.tolist()})

    assert sets(12) < sets(0) / 2


def test_updates_change_up_to_three_columns() -> None:
    changes = draw_changes(1, 500, updates=True)
    differing = (changes.old != changes.new).sum(axis=1)
    assert changes.had.all() and changes.has.all() and differing.max() <= 3 and differing.mean() > 0.8


def test_a_case_is_checked_against_numpy_as_it_is_measured() -> None:
    case = Case(draw_filters(600, 5, 3), draw_rows(np.random.default_rng(1), 500))
    case._check(draw_changes(5, CHANGES, updates=True))
    assert case.index.columns == COLUMNS and len(case.index) == 600
