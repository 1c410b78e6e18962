"""Cuts of columns against counting, and the sample of rows that they are made of."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from state.filter_cuts import SAMPLE, Cuts, RowSample
from state.filter_kernels import CUTS, NULL_CELL
from state.order_code import INT64_MAX, INT64_MIN
from tests.effort import examples

values = (
    st.none() | st.sampled_from([INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX]) | st.integers(0, 90)
)


def rows_of(table: list[tuple]) -> tuple:
    codes = np.array([[0 if v is None else v for v in row] for row in table], np.int64).reshape(-1, 2)
    return codes, np.array([[v is not None for v in row] for row in table], np.bool_).reshape(-1, 2)


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.tuples(values, values), max_size=150), st.lists(st.tuples(values, values), max_size=20))
def test_a_cell_is_how_many_cuts_are_not_above_the_value(sample: list, asked: list) -> None:
    cuts = Cuts.of(*rows_of(sample))
    cuts.check()
    cells = cuts.cells(*rows_of(asked))
    for i, row in enumerate(asked):
        for c, value in enumerate(row):
            edges = cuts.cuts[c, : cuts.counts[c]].tolist()
            assert cells[i, c] == (NULL_CELL if value is None else sum(edge <= value for edge in edges))


def test_few_values_have_a_cell_each_and_many_have_cells_of_one_size() -> None:
    codes = np.stack((np.arange(10_000) % 63, np.arange(10_000)), axis=1)
    cuts = Cuts.of(codes, np.ones(codes.shape, np.bool_))
    assert cuts.counts.tolist() == [CUTS, CUTS]
    shares = cuts.share[:, :NULL_CELL]
    assert shares.min() > 0.0155 and shares.max() < 0.0161


def test_wider_cuts_keep_what_was() -> None:
    cuts = Cuts.of(*rows_of([(1, 2), (3, None)]))
    wider = cuts.widened(3)
    wider.check()
    assert wider.counts.tolist() == [*cuts.counts.tolist(), 0]
    assert wider.cells(np.array([[3, 2, 9]]), np.ones((1, 3), np.bool_)).tolist() == [[1, 0, 0]]


def test_the_first_rows_are_kept_and_later_one_of_sixteen() -> None:
    sample, there = RowSample(1), np.ones(1_000, np.bool_)
    for batch in range(400):
        codes = np.arange(batch * 1_000, batch * 1_000 + 1_000).reshape(-1, 1)
        sample.take(codes, there[:, None], there)
        if batch == 0:
            assert sample.rows[0][:, 0].tolist() == list(range(1_000))
    codes, valid = sample.rows
    assert len(sample) == len(codes) == SAMPLE and valid.all()
    assert len(np.unique(codes)) == SAMPLE and codes.min() > 400_000 - 80_000
    inside = np.histogram(codes, bins=8)[0]
    assert inside.min() > SAMPLE / 8 * 0.7, "all parts of the last rows are there alike"


def test_rows_that_are_not_there_are_not_sampled() -> None:
    sample = RowSample(2)
    codes, valid = rows_of([(1, 2), (3, 4), (None, 6)])
    sample.take(codes, valid, np.array([True, False, True]))
    assert sample.rows[0].tolist() == [[1, 2], [0, 6]] and sample.rows[1].tolist() == [[True, True], [False, True]]
    sample.widen(3)
    assert sample.rows[0].tolist() == [[1, 2, 0], [0, 6, 0]] and not sample.rows[1][:, 2].any()
    sample.clear()
    assert len(sample) == 0 and sample.rows[0].shape == (0, 3)


def test_a_batch_beyond_what_is_missing_is_taken_evenly() -> None:
    sample, there = RowSample(1), np.ones(10 * SAMPLE, np.bool_)
    sample.take(np.arange(10 * SAMPLE).reshape(-1, 1), there[:, None], there)
    assert sample.rows[0][:, 0].tolist() == list(range(0, 10 * SAMPLE, 10))
