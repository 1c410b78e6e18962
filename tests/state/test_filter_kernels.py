"""The smallest kernels of the index of filters, at the ends of their arguments."""

from __future__ import annotations

import numpy as np

from state import filter_kernels as kernels
from state.order_code import INT64_MAX, INT64_MIN

ENDS = [INT64_MIN, INT64_MIN + 1, -1, 0, 1, 7, INT64_MAX - 1, INT64_MAX]


def test_cells_of_no_cuts_of_all_and_of_the_greatest_number() -> None:
    for edges in ([], [INT64_MIN], [INT64_MAX], [0, 7], [*range(61), INT64_MAX]):
        cuts = np.full((1, 63), INT64_MAX)
        cuts[0, : len(edges)] = edges
        for value in ENDS:
            found = kernels._cell(cuts, np.array([len(edges)]), 0, value)
            assert found == sum(edge <= value for edge in edges), (edges, value)


def test_an_end_that_has_no_other_code_stays() -> None:
    before, after = np.array([2, 5, 9]), np.array([20, 50, 90])
    assert [kernels._recoded(value, before, after) for value in (1, 2, 5, 6, 9, 10)] == [1, 20, 50, 6, 90, 10]
    assert kernels._recoded(3, before[:0], after[:0]) == 3


def test_bits_of_words_are_counted() -> None:
    for word in (0, 1, 2**63, 2**64 - 1, 0x0123456789ABCDEF):
        assert kernels._bits_of(np.uint64(word)) == word.bit_count()
