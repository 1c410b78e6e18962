"""The tree of range sets against looking at all of them: ties, empty lists, open ranges, points that many have."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from state.order_code import INT64_MAX, INT64_MIN
from state.range_set_tree import RangeSetTree
from tests.effort import examples

Point = tuple[tuple[int, int], ...]
Lists = list[list[int]]
ENDS = st.one_of(st.integers(0, 5), st.sampled_from([INT64_MIN, INT64_MAX]))


def asked(tree: RangeSetTree, attributes: int, queries: list[Lists]) -> list[tuple[int, int]]:
    values, starts = list[int](), list[list[tuple[int, int]]]()
    for lists in queries:
        starts.append([])
        for one in lists:
            starts[-1].append((len(values), len(values) + len(one)))
            values += sorted(one)
    met = tree.query(np.array(values, np.int64), np.array(starts, np.int64).reshape(len(queries), attributes, 2))
    assert (np.diff(met.query) >= 0).all()
    return sorted(zip(met.query.tolist(), met.entry.tolist(), strict=True))


def expected(live: dict[int, Point], queries: list[Lists]) -> list[tuple[int, int]]:
    return [
        (q, entry)
        for q, lists in enumerate(queries)
        for entry, point in sorted(live.items())
        if all(any(lo <= v <= hi for v in one) for (lo, hi), one in zip(point, lists, strict=True))
    ]


@given(st.data())
@settings(max_examples=examples(200))
def test_it_finds_whom_comparing_all_finds(data: st.DataObject) -> None:
    attributes, capacity = data.draw(st.integers(1, 3)), data.draw(st.integers(2, 4))
    point = st.tuples(*[st.tuples(ENDS, ENDS)] * attributes)
    lists = st.lists(st.lists(st.lists(ENDS, max_size=4), min_size=attributes, max_size=attributes), max_size=4)
    tree, live = RangeSetTree(attributes, capacity), dict[int, Point]()
    for _ in range(data.draw(st.integers(1, 6))):
        free = [entry for entry in range(40) if entry not in live]
        come = dict(zip(free, data.draw(st.lists(point, max_size=min(len(free), 14))), strict=False))
        tree.insert(
            np.array(list(come), np.int64), np.array(list(come.values()), np.int64).reshape(len(come), 2 * attributes)
        )
        live |= come
        gone = data.draw(st.lists(st.sampled_from(sorted(live)), unique=True)) if live else []
        tree.remove(np.array(gone, np.int64))
        live = {entry: at for entry, at in live.items() if entry not in gone}
        tree.check()
        assert len(tree) == len(live)
        assert tree.has(np.arange(40)).nonzero()[0].tolist() == sorted(live)
        queries = data.draw(lists)
        assert asked(tree, attributes, queries) == expected(live, queries)


@pytest.mark.parametrize("capacity", [2, 3, 32])
@pytest.mark.parametrize("order", ["rising", "falling", "one", "any"])
def test_it_keeps_its_order_and_its_size_as_points_come(capacity: int, order: str) -> None:
    source, n = random.Random(capacity), 700
    numbers = {"rising": range(n), "falling": range(n, 0, -1), "one": [3] * n, "any": source.sample(range(n), n)}[order]
    points = [((i, i + source.randrange(3)), (source.randrange(4), source.randrange(300))) for i in numbers]
    tree = RangeSetTree(2, capacity)
    for first in range(0, n, 50):
        which = np.arange(first, min(first + 50, n))
        tree.insert(which, np.array(points[first : first + 50], np.int64).reshape(len(which), 4))
    tree.check()
    queries = [[source.sample(range(n), 2), source.sample(range(300), 6)] for _ in range(50)]
    assert asked(tree, 2, queries) == expected(dict(enumerate(points)), queries)


def test_a_search_stops_where_its_list_ends() -> None:
    """Behind the list of one query stands that of the next: its first value is nothing that the first query asked."""
    tree = RangeSetTree(2, 2)
    tree.insert(np.array([0]), np.array([[0, 9, 5, 5]]))
    values = np.array([1, 2, 3, 5, 6])
    starts = np.array([[[0, 1], [1, 3]], [[0, 1], [3, 5]]])
    assert tree.query(values, starts).query.tolist() == [1]


def test_more_is_met_than_there_was_room_for() -> None:
    tree, n = RangeSetTree(1, 8), 3_000
    tree.insert(np.arange(n), np.stack([np.arange(n) % 7, np.full(n, 9)], axis=1))
    met = tree.query(np.array([8]), np.full((5, 1, 2), [0, 1]))
    assert met.query.tolist() == np.repeat(np.arange(5), n).tolist()
    assert met.entry.reshape(5, n).min() == 0
    assert (met.point[:, 1] == 9).all()


def test_nobody_is_met_in_an_empty_tree() -> None:
    tree = RangeSetTree(2)
    assert not len(tree.query(np.array([1]), np.full((3, 2, 2), [0, 1])).query)
    assert not len(tree.query(np.zeros(0, np.int64), np.zeros((0, 2, 2), np.int64)).query)
    assert tree.nbytes > 0
    tree.check()
