"""The loops of the tree of range sets on arrays of a few places: what they return, what they write, where they stop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from state import range_set_kernels as kernels
from state.change_batch import I32, I64
from state.order_code import INT64_MAX, INT64_MIN
from state.range_set_kernels import BEFORE, OUT
from state.read_only import read_only
from tests.effort import examples

ENDS = st.one_of(st.integers(0, 3), st.sampled_from([INT64_MIN, INT64_MAX]))


class Laid(NamedTuple):
    """A tree's arrays as the kernels take them."""

    cnt: I32
    box: I64
    along: kernels.I8
    split: I64
    leaf: I64
    head: I32
    hung: I32


def empty(leaves: int, capacity: int, coordinates: int, entries: int) -> Laid:
    hung = np.full((entries, 2), -1, np.int32)
    hung[:, BEFORE] = OUT
    return Laid(
        np.zeros(2 * leaves, np.int32),
        np.zeros((2 * leaves, 2 * coordinates), np.int64),
        np.zeros(leaves, np.int8),
        np.zeros((leaves, coordinates), np.int64),
        np.zeros((leaves * capacity, coordinates), np.int64),
        np.zeros(leaves * capacity, np.int32),
        hung,
    )


def build(points: Sequence[Sequence[int]], leaves: int, capacity: int, coordinates: int = 2, entries: int = 40) -> Laid:
    """Lay distinct points out, entry i on point i."""
    tree, n = empty(leaves, capacity, coordinates, entries), len(points)
    matrix = np.array(points, np.int64).reshape(n, coordinates)
    kernels.build(1, matrix, np.arange(n, dtype=np.int32), n, *tree)
    return tree


def insert(tree: Laid, begin: int, entries: Sequence[int], points: Sequence[Sequence[int]]) -> int:
    return int(kernels.insert(begin, np.array(entries, np.int64), np.array(points, np.int64), *tree))


def remove(tree: Laid, *entries: int) -> int:
    leaves = len(tree.split)
    return int(kernels.remove(np.array(entries, np.int64), tree.cnt, tree.leaf, tree.head, tree.hung, leaves))


def query(tree: Laid, values: Sequence[int], starts: I64, room: int, begin: int = 0) -> tuple[int, list[list[int]]]:
    out = np.empty(room, np.int64), np.empty(room, np.int32), np.empty(room, np.int32)
    lists, stack = read_only(np.array(values, np.int64)), np.empty(kernels.STACK, np.int64)
    asked = begin, lists, read_only(starts), tree.cnt, tree.box, tree.leaf, tree.head, len(tree.split), tree.hung, stack
    following, count = kernels.query(*asked, *out)
    return int(following), [column[:count].tolist() for column in out]


def below(tree: Laid, node: int) -> list[list[int]]:
    """The points in the leaves below a node, from left to right."""
    leaves, capacity = len(tree.split), len(tree.head) // len(tree.split)
    if node < leaves:
        return below(tree, 2 * node) + below(tree, 2 * node + 1)
    place = (node - leaves) * capacity
    return tree.leaf[place : place + tree.cnt[node]].tolist()


@given(st.lists(st.tuples(ENDS, ENDS, ENDS, ENDS), unique=True, max_size=16))
@settings(max_examples=examples(400))
def test_a_layout_is_cut_in_the_middle_and_its_boxes_are_tight(points: list[tuple[int, ...]]) -> None:
    tree = build(points, leaves=8, capacity=2, coordinates=4)
    assert sorted(map(tuple, below(tree, 1))) == sorted(points)
    assert [points[entry] for entry in _heads(tree)] == [tuple(point) for point in below(tree, 1)]
    for node in range(1, 16):
        inside = below(tree, node)
        assert tree.cnt[node] == len(inside)
        ends = [[min(column), max(column)] for column in zip(*inside, strict=True)] or [[INT64_MAX, INT64_MIN]] * 4
        assert tree.box[node].reshape(4, 2).tolist() == ends
        if node < 8 and inside:
            along = int(tree.along[node])
            turned = [point[along:] + point[:along] for point in inside]
            middle = sorted(turned)[len(inside) // 2]
            assert tree.cnt[2 * node] == len(inside) // 2
            assert (tree.split[node].tolist()[along:] + tree.split[node].tolist()[:along]) == middle
            assert sorted(turned)[: len(inside) // 2] == sorted(turned[: len(inside) // 2])


def _heads(tree: Laid) -> list[int]:
    leaves, capacity = len(tree.split), len(tree.head) // len(tree.split)
    leaf = [tree.head[i * capacity : i * capacity + tree.cnt[leaves + i]].tolist() for i in range(leaves)]
    return [entry for one in leaf for entry in one]


@pytest.mark.parametrize(
    ("points", "along"),
    [
        pytest.param([(0, 90, 1, 1), (9, 99, 3, 3), (5, 95, 2, 2)], 2, id="an equality before a wide range"),
        pytest.param([(1, 1, 0, 90), (3, 3, 9, 99), (2, 2, 5, 95)], 0, id="whichever attribute that is"),
        pytest.param([(0, 1, 7, 7), (0, 5, 7, 7), (0, 9, 7, 7)], 1, id="by hi, where lo is the same in all"),
        pytest.param([(0, 9, 7, 7), (4, 9, 7, 7), (8, 9, 7, 7)], 0, id="by lo, where hi is"),
        pytest.param([(INT64_MIN, INT64_MAX, 1, 2), (INT64_MIN, INT64_MAX, 3, 4)], 2, id="open ranges need no split"),
        pytest.param([(1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3)], 0, id="the first of two that need it alike"),
    ],
)
def test_a_node_is_split_by_the_attribute_in_need(points: list[tuple[int, ...]], along: int) -> None:
    assert build(points, leaves=2, capacity=3, coordinates=4).along[1] == along


def test_entries_stop_where_even_the_root_is_full() -> None:
    tree = build([], leaves=2, capacity=2)
    points = [(i, i) for i in range(5)]
    done = insert(tree, 0, range(5), points)
    assert 2 <= done < 5
    assert tree.cnt[1] == done
    assert tree.hung[done, BEFORE] == OUT
    assert sorted(below(tree, 1)) == [list(point) for point in points[:done]]
    assert insert(tree, done, range(5), points) == done


def test_what_was_inserted_before_is_not_looked_at() -> None:
    tree = build([], leaves=2, capacity=4)
    assert insert(tree, 1, [0, 1], [(5, 5), (6, 6)]) == 2
    assert below(tree, 1) == [[6, 6]]
    assert tree.hung[0, BEFORE] == OUT


def test_the_newest_entry_hangs_first_on_a_point_that_is_there() -> None:
    tree = build([(4, 6)], leaves=2, capacity=1, entries=4)
    place = int(~tree.hung[0, BEFORE])
    assert insert(tree, 0, [3, 1], [(4, 6), (4, 6)]) == 2
    assert tree.cnt[1] == 1
    assert (tree.head[place], tree.hung[1].tolist(), tree.hung[3].tolist(), tree.hung[0].tolist()) == (
        1,
        [3, ~place],
        [0, 1],
        [-1, 3],
    )


def test_a_point_goes_with_its_last_entry() -> None:
    tree = build([(4, 6), (7, 8)], leaves=2, capacity=4, entries=6)
    insert(tree, 0, [3, 4], [(4, 6), (4, 6)])
    assert remove(tree, 3) == 0
    assert remove(tree, 4) == 0
    assert below(tree, 1) == [[4, 6], [7, 8]]
    assert tree.hung[3].tolist() == tree.hung[4].tolist() == [-1, OUT]
    assert remove(tree, 0, 1) == 2
    assert tree.cnt.tolist() == [0, 0, 0, 0]


def test_the_last_point_of_a_leaf_takes_the_place_of_one_that_goes() -> None:
    tree = build([(1, 1), (2, 2), (3, 3)], leaves=1, capacity=4)
    place = int(~tree.hung[0, BEFORE])
    last = int(tree.head[2])
    assert remove(tree, 0) == 1
    assert tree.head[place] == last
    assert tree.hung[last, BEFORE] == ~place
    assert sorted(below(tree, 1)) == [[2, 2], [3, 3]]


@given(st.lists(st.tuples(ENDS, ENDS), unique=True, max_size=8), st.lists(ENDS, max_size=4), st.integers(1, 9))
@settings(max_examples=examples(400))
def test_queries_are_answered_whole_or_not_at_all(points: list[tuple[int, int]], values: list[int], room: int) -> None:
    """Of queries of one value each; where there is no room for all that one meets, the next begins with it."""
    tree = build(points, leaves=4, capacity=2)
    met = [[(q, e) for e, (lo, hi) in enumerate(points) if lo <= value <= hi] for q, value in enumerate(values)]
    starts = np.array([[[i, i + 1]] for i in range(len(values))], np.int64).reshape(len(values), 1, 2)
    begin = 0
    while begin < len(values):
        following, (queries, entries, places) = query(tree, values, starts, room, begin)
        assert sorted(zip(queries, entries, strict=True)) == [hit for one in met[begin:following] for hit in one]
        assert [tree.head[place] for place in places] == entries
        if following < len(values):
            assert len(queries) + len(met[following]) > room
        if following == begin:
            return
        begin = following


def test_a_query_with_an_empty_list_meets_nobody() -> None:
    tree = build([(0, 9, 0, 9)], leaves=1, capacity=2, coordinates=4)
    starts = np.array([[[0, 1], [0, 0]], [[1, 1], [0, 1]], [[0, 1], [0, 1]]])
    assert query(tree, [5], starts, 5) == (3, [[2], [0], [0]])


def test_the_ends_of_a_range_belong_to_it() -> None:
    tree = build([(3, 5), (5, 5), (6, 4)], leaves=4, capacity=1)
    starts = np.array([[[i, i + 1]] for i in range(5)])
    assert query(tree, [2, 3, 4, 5, 6], starts, 9)[1][:2] == [[1, 2, 3, 3], [0, 0, 0, 1]]
