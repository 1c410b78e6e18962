from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from state.order_code import INT64_MAX, INT64_MIN
from state.stabbed_edges import StabbedEdges
from tests.effort import examples

ENDS = st.sampled_from([INT64_MIN, INT64_MIN + 1, -1, 0, 1, 2, 3, INT64_MAX - 1, INT64_MAX])


@given(st.lists(st.tuples(st.sampled_from([0, 1, 63, 64, 70]), ENDS, ENDS), max_size=8), st.lists(ENDS, max_size=8))
@settings(max_examples=examples(300), deadline=None)
def test_an_edge_holds_what_lies_in_one_of_its_intervals(intervals, numbers):
    intervals = [(edge, min(lo, hi), max(lo, hi)) for edge, lo, hi in intervals]
    edge, lo, hi = np.array(intervals, np.int64).reshape(len(intervals), 3).T
    found = StabbedEdges.of(edge, lo, hi, 2).at(np.array(numbers, np.int64))
    assert found.shape == (len(numbers), 2) and found.dtype == np.uint64
    for number, words in zip(numbers, found.tolist(), strict=True):
        held = {e for e in range(128) if words[e // 64] >> e % 64 & 1}
        assert held == {e for e, low, high in intervals if low <= number <= high}
