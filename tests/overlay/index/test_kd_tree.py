"""The tree alone: growth, churn, shrinking; its answers against comparing all points."""

from __future__ import annotations

import random

import numpy as np
import pytest

from overlay.index.kd_tree import KdTree
from overlay.index.point_store import Points, PointStore
from state.order_code import INT64_MAX, INT64_MIN


def grown(points: list[tuple[int, int]], capacity: int) -> tuple[KdTree, PointStore]:
    store = PointStore()
    store.reserve(len(points), 1)
    store.bunches[0] = (-1, 0, 0)
    none = np.zeros(0, np.int64)
    tree = KdTree(store, 0, Points(none, none, none.astype(np.int32)), capacity)
    lo, hi = np.array([p[0] for p in points], np.int64), np.array([p[1] for p in points], np.int64)
    slots = np.arange(len(points))
    tree.insert(slots, slots, lo, hi)
    return tree, store


def asked(tree: KdTree, rectangle: tuple[int, int, int, int]) -> list[int]:
    bounds = np.array(rectangle, np.int64).reshape(4, 1)
    return sorted(int(slot) for _, slots in tree.query(np.zeros(1, np.int64), bounds, 1) for slot in slots)


@pytest.mark.parametrize("capacity", [2, 3, 64])
def test_grows_churns_and_shrinks(capacity: int) -> None:
    source = random.Random(capacity)
    points = [(source.randrange(6), source.randrange(300)) for _ in range(400)]
    points += [(INT64_MIN, INT64_MAX), (INT64_MAX, INT64_MAX), (INT64_MIN, INT64_MIN)]
    tree, store = grown(points, capacity)
    tree.check()
    live = dict(enumerate(points))
    while live:
        a, b, c, d = (source.choice([INT64_MIN, INT64_MAX, *range(7)]) for _ in range(4))
        expected = sorted(s for s, (lo, hi) in live.items() if a <= lo <= b and c <= hi <= d)
        assert asked(tree, (a, b, c, d)) == expected
        for slot in source.sample(sorted(live), min(len(live), 40)):
            assert tree.point(store.place_of(slot)) == live[slot]
            place = store.unhang(slot, tree.heads)
            if place >= 0:
                tree.remove(place)
            del live[slot]
        tree.check()
        store.check({0: tree.points})
    assert len(tree) == 0


@pytest.mark.parametrize("order", ["rising", "falling", "one lo"])
def test_points_that_come_in_order_keep_it_balanced(order: str) -> None:
    n = 500
    numbers = range(n) if order == "rising" else range(n, 0, -1)
    tree, _ = grown([(0 if order == "one lo" else i, i) for i in numbers], 4)
    tree.check()
    assert len(tree) == n
    assert len(tree.heads) <= 2 * n
