"""Filters laid out flat: the example of the module, and the form for one interval a condition."""

from __future__ import annotations

import numpy as np

from state.filter_columns import COUNT, NULL, FilterColumns, interest_of

EXAMPLE = [(7, [[(0, [(3, 5), (8, 9)], False), (1, [], True)], [(0, [(1, 1)], False)]], [0, 1]), (9, [[]], [66])]


def test_the_example_of_the_module() -> None:
    flat = FilterColumns.of(EXAMPLE)
    assert len(flat) == 2
    assert flat.slots.tolist() == [7, 9] and flat.interest.tolist() == [3, 4]
    assert flat.boxes.tolist() == [0, 2, 3] and flat.starts.tolist() == [0, 2, 3, 3]
    assert flat.conditions.tolist() == [[2 << COUNT, 0, 0], [1 | 1 << NULL, 2, 0], [1 << COUNT, 1, 1]]
    assert flat.bounds.tolist() == [[3, 5], [8, 9]]


def test_no_filters_have_arrays_of_the_same_form() -> None:
    flat = FilterColumns.of([])
    assert len(flat) == 0 and flat.boxes.tolist() == flat.starts.tolist() == [0]
    assert flat.conditions.shape == (0, 3) and flat.bounds.shape == (0, 2) and flat.interest.dtype == np.uint64


def test_one_interval_a_condition_is_laid_out_alike_in_columns() -> None:
    columns, lo, hi = np.array([[[2, 0, -1], [1, -1, -1]], [[5, 1, 0], [-7, 0, 0]], [[6, 1, 0], [7, 0, 0]]])
    flat = FilterColumns.of_intervals(np.array([4, 5]), np.array([5, 2], np.uint64), columns, lo, hi)
    filters = [(4, [[(2, [(5, 6)], False), (0, [(1, 1)], False)]], [0, 2]), (5, [[(1, [(-7, 7)], False)]], [1])]
    other = FilterColumns.of(filters)
    for name in ("slots", "interest", "boxes", "starts", "conditions", "bounds"):
        assert np.array_equal(getattr(flat, name), getattr(other, name)), name


def test_columns_that_are_64_apart_share_a_bit() -> None:
    assert interest_of([1, 65]) == 2 and interest_of([]) == 0 and interest_of(range(64)) == 2**64 - 1
