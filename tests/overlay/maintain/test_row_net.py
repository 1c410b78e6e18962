"""Rows that come and go are counted against each other, slot by slot."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overlay.maintain.row_net import RowNames, RowNet

moves = st.lists(st.tuples(st.integers(0, 2), st.sampled_from("abc"), st.booleans()), max_size=20)


@given(st.lists(moves, max_size=3))
def test_what_is_left_is_what_counting_leaves(batches: list[list[tuple[int, str, bool]]]) -> None:
    names = RowNames()
    net = RowNet(names)
    for batch in batches:
        wanted: dict[int, Counter[str]] = {}
        for slot, name, came in batch:
            number = names.number(name, name, came)
            net.add(np.array([slot]), np.array([number]), np.array([1 if came else -1]))
            wanted.setdefault(slot, Counter())[name] += 1 if came else -1
        left = list(net.take())
        assert [one.owner for one in left] == sorted(one.owner for one in left)
        found = {one.owner: names.texts(one.rows, one.times, came=True) for one in left}
        gone = {one.owner: names.texts(one.rows, -one.times, came=False) for one in left}
        for slot, counts in wanted.items():
            assert Counter(found.get(slot, [])) == +counts and Counter(gone.get(slot, [])) == -counts
        assert all(found[slot] or gone[slot] for slot in found)


def test_a_row_is_told_as_it_went_first_or_came_last() -> None:
    names = RowNames()
    first = names.number("k", "old", came=False)
    assert names.number("k", "new", came=True) == first and names.number("k", "newer", came=True) == first
    assert names.number("k", "newer", came=False) == first
    row, once = np.array([first]), np.array([1])
    assert names.texts(row, once, came=False) == ["old"] and names.texts(row, 2 * once, came=True) == ["newer"] * 2
    names.clear()
    assert len(names) == 0
