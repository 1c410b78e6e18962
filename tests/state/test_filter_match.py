"""The smallest kernels that look boxes up: lines of bits as one value, intervals, and hits in order."""

from __future__ import annotations

import numba
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from state import filter_match
from state.filter_match import _and, _line, _none, _or, _store, _without, _words
from state.order_code import INT64_MAX, INT64_MIN
from tests.effort import examples

ENDS = [INT64_MIN, INT64_MIN + 1, -1, 0, 1, 7, INT64_MAX - 1, INT64_MAX]
LINE = st.lists(st.sampled_from([0, 1, 2**63, 2**64 - 1]) | st.integers(0, 2**64 - 1), min_size=8, max_size=8)


@numba.njit
def combined(words, at, out):
    """Write what two lines make: both, either, the first without the second; return which words of that have bits."""
    a, b = _line(words, at), _line(words, at + 8)
    _store(_and(a, b), out[0])
    _store(_or(a, b), out[1])
    _store(_or(_none(), _without(a, b)), out[2])
    return _words(_without(a, b))


@given(LINE, LINE, st.integers(0, 3))
@settings(max_examples=examples(200), deadline=None)
def test_a_line_is_eight_words_wherever_it_begins(a, b, before):
    words, out = np.array([7] * before + a + b, np.uint64), np.zeros((3, 8), np.uint64)
    left = int(combined(words, before, out))
    pairs = list(zip(a, b, strict=True))
    assert out.tolist() == [[x & y for x, y in pairs], [x | y for x, y in pairs], [x & ~y for x, y in pairs]]
    assert left == sum((x & ~y != 0) << w for w, (x, y) in enumerate(pairs))


def test_a_value_is_within_one_of_some_intervals() -> None:
    pairs = [(INT64_MIN, INT64_MIN), (-1, 0), (7, INT64_MAX - 1)]
    bounds = np.array([(5, 5), *pairs, (0, 0)])
    for value in ENDS:
        assert filter_match._within(bounds, 1, 4, value) == any(lo <= value <= hi for lo, hi in pairs)
        assert not filter_match._within(bounds, 2, 2, value)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9), st.integers(1, 3)), max_size=12))
@settings(max_examples=examples(100), deadline=None)
def test_hits_come_in_the_order_of_changes_and_stay_as_they_were_within_one(hits):
    first = 3
    columns = [np.array([hit[i] for hit in hits], type_) for i, type_ in enumerate((np.int32, np.int64, np.int8))]
    columns[0] += first
    out = [np.empty_like(column) for column in columns]
    filter_match.in_order.py_func(*columns, first, np.zeros(5, np.int64), *out)
    assert list(zip(*(column.tolist() for column in out), strict=True)) == sorted(
        zip(*(column.tolist() for column in columns), strict=True), key=lambda hit: hit[0]
    )
