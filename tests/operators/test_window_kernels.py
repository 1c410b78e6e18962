"""The loops over stamps against lists of plain Python."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.window_kernels import BITS, followed, split
from tests.effort import examples

STAMPS = st.lists(st.tuples(st.integers(-1, 4), st.integers(0, 3), st.integers(0, 4)), max_size=9)


def columns(stamps: list[tuple[int, int, int]]) -> tuple[np.ndarray, np.ndarray]:
    kept = [-1 if batch < 0 else batch << BITS | number for batch, number, _ in stamps]
    return np.array(kept, np.int64), np.array([edges for _, _, edges in stamps], np.int32)


@settings(max_examples=examples(200), deadline=None)
@given(STAMPS, st.integers(0, 5))
def test_stamps_come_apart_and_old_ones_are_none(stamps: list[tuple[int, int, int]], oldest: int) -> None:
    used = np.zeros(5, np.bool_)
    parts = split(*columns(stamps), oldest, 4, used)
    young = [batch >= oldest for batch, _, _ in stamps]
    meant = [(4 - b, n, e) if there else (-1, -1, 0) for there, (b, n, e) in zip(young, stamps, strict=True)]
    assert [*zip(*(part.tolist() for part in parts), strict=True)] == meant
    assert np.flatnonzero(used).tolist() == sorted({e for there, (_, _, e) in zip(young, stamps, strict=True) if there})


@settings(max_examples=examples(200), deadline=None)
@given(STAMPS, st.data())
def test_rows_that_stay_keep_what_they_have(stamps: list[tuple[int, int, int]], data: st.DataObject) -> None:
    count = len(stamps) + data.draw(st.integers(0, 3))
    current = data.draw(st.lists(st.sampled_from([-1, 0, 7]), min_size=count, max_size=count))
    other = sorted(data.draw(st.sets(st.sampled_from(range(count))))) if count else []
    others = data.draw(
        st.lists(st.tuples(st.integers(0, 99), st.integers(0, 9)), min_size=len(other), max_size=len(other))
    )
    stamp, edges = columns(stamps)
    had = [*zip(stamp.tolist(), edges.tolist(), strict=True), *[(-1, 0)] * 3]
    meant = [dict(zip(other, others, strict=True)).get(row, had[row]) for row in range(count) if current[row] >= 0]
    other_stamp, other_edges = (
        np.array([pair[i] for pair in others], dtype) for i, dtype in enumerate((np.int64, np.int32))
    )
    found = followed(stamp, edges, np.array(current, np.int64), np.array(other, np.int64), other_stamp, other_edges)
    assert [*zip(*(column.tolist() for column in found), strict=True)] == meant
