"""A2BTree against brute force: every range, after every change. A layout has a slot for each row at each x."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from state import a2b_tree, ordering
from state.a2b_tree import A2BTree
from state.change_batch import I64
from state.minima import ABSENT
from state.order_code import INT64_MAX, INT64_MIN
from state.ordering import Layout
from tests.effort import examples
from tests.oracle.plain_kernels import plain_kernels

Point = tuple[int, int, int] | None
"""Group, index of x, y; None: the row is not there."""


@pytest.fixture
def plain() -> Iterator[None]:
    with plain_kernels(ordering, a2b_tree):
        yield


class Board:
    """`rows` rows that may stand at any x of any group; slot = (group, x, row)."""

    def __init__(self, xs: list[int], rows: int, groups: int) -> None:
        self.xs, self.rows = xs, rows
        slots = np.arange(groups * len(xs) * rows)
        self.group = slots // (len(xs) * rows)
        self.x = np.array(xs, np.int64)[slots // rows % len(xs)]
        starts = np.arange(groups + 1) * len(xs) * rows
        self.layout = Layout(slots, self.x, self.group, starts, slots, 0)
        self.at: list[Point] = [None] * rows
        ends = [*xs, INT64_MIN, INT64_MAX]
        ranges = [(g, lo, hi) for g in range(groups) for lo in ends for hi in ends if lo <= hi]
        self.range_group, self.lo, self.hi = np.array(ranges, np.int64).T.copy()

    def slot(self, row: int, point: Point) -> int:
        return -1 if point is None else (point[0] * len(self.xs) + point[1]) * self.rows + row

    def answers(self) -> I64:
        """Return the answer of every range, recomputed."""
        best = np.full(len(self.lo), ABSENT)
        for point in self.at:
            if point is not None:
                x = self.xs[point[1]]
                inside = (self.range_group == point[0]) & (self.lo <= x) & (x <= self.hi)
                best[inside] = np.minimum(best[inside], point[2])
        return best

    def leaves(self) -> I64:
        leaves = np.full(len(self.x), ABSENT)
        for row, point in enumerate(self.at):
            if point is not None:
                leaves[self.slot(row, point)] = point[2]
        return leaves

    def verify(self, events: list[tuple[int, Point]]) -> None:
        """Run the events through one tree; check every message and every answer."""
        tree, at, columns = A2BTree(self.layout, self.leaves()), list(self.at), []
        for row, point in events:
            old, at[row] = at[row], point
            y = [ABSENT if p is None else p[2] for p in (old, point)]
            columns.append([self.slot(row, old), y[0], self.slot(row, point), y[1]])
        numbers = np.array(columns, np.int64).T
        cause = np.flatnonzero((numbers[0] != numbers[2]) | (numbers[1] != numbers[3]))
        messages = tree.replay(cause, *(np.ascontiguousarray(part[cause]) for part in numbers))
        held = self.answers()
        for i, (row, point) in enumerate(events):
            self.at[row] = point
            now, heard = self.answers(), np.zeros(len(held), np.int64)
            for _, group, new, *box in messages[:, messages[0] == i].T.tolist():
                assert box[0] <= box[1] and box[2] <= box[3], f"empty: {box}"
                inside = (self.range_group == group) & (box[0] <= self.lo) & (self.lo <= box[1])
                inside &= (box[2] <= self.hi) & (self.hi <= box[3])
                assert (held[inside] != new).all(), f"not silent: {events[: i + 1]}"
                heard += inside
                held = np.where(inside, new, held)
            assert (heard <= 1).all(), f"not single: {events[: i + 1]}"
            assert np.array_equal(held, now), f"not exact: {events[: i + 1]}"
        tree.check(self.leaves())
        assert np.array_equal(tree.answers(self.range_group, self.lo, self.hi), now)


def events_over(xs: int, ys: list[int], groups: int) -> st.SearchStrategy[list[tuple[int, Point]]]:
    point = st.tuples(st.integers(0, groups - 1), st.integers(0, xs - 1), st.sampled_from(ys))
    return st.lists(st.tuples(st.integers(0, 7), st.one_of(point, point, st.none())), min_size=1, max_size=25)


CALM = settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@CALM
@given(events_over(7, list(range(5)), 2))
def test_small_domains(plain: None, events: list[tuple[int, Point]]) -> None:
    Board(list(range(7)), 8, 2).verify(events)


ENDS = [INT64_MIN, INT64_MIN + 1, 0, INT64_MAX - 1, INT64_MAX]


@CALM
@given(events_over(5, ENDS[:-1], 1))
def test_the_ends_of_int64(plain: None, events: list[tuple[int, Point]]) -> None:
    Board(ENDS, 8, 1).verify(events)


@pytest.mark.parametrize("seed", range(4))
def test_thousands_of_ties_compiled(seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups, rows = 1 + seed % 2, 9
    board = Board(list(range(7)), rows, groups)
    for _ in range(40):
        events: list[tuple[int, Point]] = []
        for row, group, x, y in rng.integers(0, [rows, groups, 7, 5 + (seed > 1)], (25, 4)).tolist():
            events.append((row, (group, x, y) if y < 5 else None))
        board.verify(events)


def test_a_staircase_that_loses_its_lowest_row_says_n_things() -> None:
    n = 3000
    layout = Layout(np.arange(n), np.arange(n), np.zeros(n, np.int64), np.array([0, n]), np.arange(n), 0)
    tree = A2BTree(layout, np.append(0, np.arange(n - 1, 0, -1)))
    one = np.array([0])
    messages = tree.replay(one, one, np.array([0]), np.array([-1]), np.array([ABSENT]))
    assert messages.shape[1] == n
    assert messages[2, 0] == ABSENT
    assert sorted(messages[2, 1:].tolist()) == list(range(1, n))


def test_a_tree_without_slots() -> None:
    empty = np.zeros(0, np.int64)
    tree = A2BTree(Layout(empty, empty, empty, np.array([0]), empty, 0), empty)
    tree.check(empty)
    answers = tree.answers(np.array([-1]), np.array([INT64_MIN]), np.array([INT64_MAX]))
    assert answers.tolist() == [ABSENT]
