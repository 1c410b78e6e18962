"""Runs of bytes: against the plain loop, and the cuts that earlier versions made."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.byte_runs import RECORD_BYTES, byte_runs, run_end

_SIZES = st.lists(st.integers(0, 12), max_size=40)


def _by_loop(sizes: list[int], most: int, items: int | None) -> list[list[int]]:
    """The places of each run, found as one would by hand."""
    runs: list[list[int]] = []
    total = 0
    for place, size in enumerate(sizes):
        if not runs or total + size > most or len(runs[-1]) == items:
            runs.append([])
            total = 0
        runs[-1].append(place)
        total += size
    return runs


@given(_SIZES, st.integers(0, 30), st.none() | st.integers(1, 5))
def test_runs_are_those_of_the_plain_loop(sizes: list[int], most: int, items: int | None) -> None:
    places = range(len(sizes))
    assert [list(places[run]) for run in byte_runs(sizes, most, items)] == _by_loop(sizes, most, items)


@given(_SIZES, st.integers(0, 30))
def test_whatever_holds_the_sizes_the_runs_are_the_same(sizes: list[int], most: int) -> None:
    runs = list(byte_runs(sizes, most))
    assert list(byte_runs(iter(sizes), most)) == runs
    assert list(byte_runs(np.array(sizes, np.int32), most)) == runs


def test_narrow_sizes_add_up_beyond_their_type() -> None:
    assert list(byte_runs(np.full(4, 2**31 - 1, np.int32), 2**32)) == [slice(0, 2), slice(2, 4)]


@pytest.mark.parametrize(
    ("sizes", "ends"),
    [
        ([], []),
        ([0, 0], [2]),
        ([RECORD_BYTES], [1]),
        ([RECORD_BYTES + 1], [1]),
        ([RECORD_BYTES, 0, 1], [2, 3]),
        ([450_000, 450_000, 450_001, 450_000], [2, 3, 4]),
        ([1, RECORD_BYTES + 1, 1], [1, 2, 3]),
        ([31] * 100_000, [29_032, 58_064, 87_096, 100_000]),
    ],
)
def test_cuts_stay_where_they_are(sizes: list[int], ends: list[int]) -> None:
    """A batch that the release before wrote in part is written again, and recognised by its chunks."""
    assert RECORD_BYTES == 900_000
    assert [run.stop for run in byte_runs(sizes)] == ends


@given(st.lists(st.integers(0, 20), min_size=1, max_size=12), st.integers(0, 60), st.data())
def test_the_end_of_a_run_is_the_last_that_fits(sizes: list[int], most: int, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(sizes) - 1))
    fitting = [end for end in range(start + 1, len(sizes) + 1) if sum(sizes[start:end]) <= most]
    assert run_end(lambda a, b: sum(sizes[a:b]), start, len(sizes), most) == max(fitting, default=start + 1)
