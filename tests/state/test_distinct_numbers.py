from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.distinct_numbers import distinct_numbers, numbered_rows, places_among


@given(st.lists(st.integers(0, 9) | st.integers(0, 10**6), max_size=9), st.booleans())
def test_it_finds_what_sorting_finds(numbers: list[int], told: bool) -> None:
    column = np.array(numbers, np.int64)
    distinct, place = distinct_numbers(column, max(numbers, default=0) + 5 if told else None)
    assert distinct.tolist() == sorted(set(numbers)) and distinct[place].tolist() == numbers


@pytest.mark.parametrize("greatest", [10, 10**9])
def test_small_and_large_numbers_come_alike(greatest: int) -> None:
    distinct, place = distinct_numbers(np.array([greatest, 3, greatest]))
    assert (distinct.tolist(), place.tolist()) == ([3, greatest], [1, 0, 1])
    assert distinct.dtype == place.dtype == np.int64


def test_far_apart_numbers_are_told_apart_as_near_ones() -> None:
    for width in (3, 10**6):
        pairs = np.array([5 * width, 0, 5 * width, 2, 0], np.int64)
        distinct, place = distinct_numbers(pairs)
        assert distinct.tolist() == [0, 2, 5 * width] and place.tolist() == [2, 0, 2, 1, 0]
    assert [part.tolist() for part in distinct_numbers(np.zeros(0, np.int64))] == [[], []]


@given(st.lists(st.integers(0, 9), max_size=20), st.sampled_from([10, 10_000]))
def test_different_numbers_are_found_by_marks_as_by_sorting(numbers: list[int], end: int) -> None:
    used, place = distinct_numbers(np.array(numbers, np.int64), end)
    assert used.tolist() == sorted(set(numbers)) and used[place].tolist() == numbers


@given(st.integers(1, 3).flatmap(lambda d: st.lists(st.tuples(*[st.integers(0, 2) | st.integers(0, 10**9)] * d))))
def test_rows_are_numbered_alike_where_they_are_equal(rows: list[tuple[int, ...]]) -> None:
    columns = [np.array(column, np.int64) for column in zip(*rows, strict=True)] or [np.zeros(0, np.int64)]
    assert numbered_rows(columns).tolist() == [sorted(set(rows)).index(row) for row in rows]


@given(st.sets(st.integers(0, 9)), st.lists(st.integers(-1, 10)))
def test_a_number_that_is_not_among_others_has_no_place(among: set[int], numbers: list[int]) -> None:
    known = sorted(among)
    place = places_among(np.array(known, np.int64), np.array(numbers, np.int64))
    assert place.tolist() == [known.index(number) if number in among else -1 for number in numbers]
