"""The smallest kernels of the index of filters, at the ends of their arguments."""

from __future__ import annotations

import numpy as np

from state import filter_kernels as kernels
from state import filter_match
from state.order_code import INT64_MAX, INT64_MIN

ENDS = [INT64_MIN, INT64_MIN + 1, -1, 0, 1, 7, INT64_MAX - 1, INT64_MAX]


def test_cells_of_no_cuts_of_all_and_of_the_greatest_number() -> None:
    for edges in ([], [INT64_MIN], [INT64_MAX], [0, 7], [*range(61), INT64_MAX]):
        cuts = np.full((1, 63), INT64_MAX)
        cuts[0, : len(edges)] = edges
        for value in ENDS:
            found = kernels._cell(cuts, np.array([len(edges)]), 0, value)
            assert found == sum(edge <= value for edge in edges), (edges, value)


def test_a_value_is_within_one_of_some_intervals() -> None:
    pairs = [(INT64_MIN, INT64_MIN), (-1, 0), (7, INT64_MAX - 1)]
    bounds = np.array([(5, 5), *pairs, (0, 0)])
    for value in ENDS:
        assert filter_match._within(bounds, 1, 4, value) == any(lo <= value <= hi for lo, hi in pairs)
        assert not filter_match._within(bounds, 2, 2, value)


def test_an_end_that_has_no_other_code_stays() -> None:
    before, after = np.array([2, 5, 9]), np.array([20, 50, 90])
    assert [kernels._recoded(value, before, after) for value in (1, 2, 5, 6, 9, 10)] == [1, 20, 50, 6, 90, 10]
    assert kernels._recoded(3, before[:0], after[:0]) == 3
