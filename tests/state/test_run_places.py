from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from state.run_places import run_places


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3))))
def test_each_run_stands_behind_the_one_before(runs: list[tuple[int, int]]) -> None:
    starts, counts = (np.array([run[i] for run in runs], np.int64) for i in (0, 1))
    wanted = [place for start, count in runs for place in range(start, start + count)]
    assert run_places(starts, counts).tolist() == wanted
