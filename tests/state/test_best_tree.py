"""BestTree against brute force: every range and every k, after every change."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from state import best_tree, ordering
from state.best_tree import IN, OUT, BestFound, BestTree
from state.minima import ABSENT
from state.order_code import INT64_MAX, INT64_MIN
from state.ordering import Layout
from tests.effort import examples
from tests.oracle.naive_best_list import BestMessage
from tests.oracle.plain_kernels import plain_kernels

Point = tuple[int, int, int] | None
"""Group, index of x, y; None: the row is not there."""
Image = tuple[int, int]
"""A row as it is seen: x and rank."""


@pytest.fixture
def plain() -> Iterator[None]:
    with plain_kernels(ordering, best_tree):
        yield


def read(found: BestFound, causes: dict[int, tuple[Image | None, Image | None]]) -> list[tuple[int, int, BestMessage]]:
    """Return cause, group and message of each; `causes` has what the row of each was and is."""
    messages, bound, cand = [], 0, 0
    for cause, group, kind, *box, base, lefts, rights, cands, old, new in found.head.T.tolist():
        ends = bound + lefts, bound + lefts + rights
        xs, ranks = (each[cand : cand + cands].tolist() for each in (found.cand_x, found.cand))
        moving = [(x, x, (x, rank)) for x, rank in zip(xs, ranks, strict=True)]
        left, right = found.bounds[bound : ends[0]].tolist(), found.bounds[ends[0] : ends[1]].tolist()
        was, now = causes[cause]
        assert (old, new) == (-1 if kind == IN else was[1], -1 if kind == OUT else now[1])
        assert ranks == sorted(ranks)
        messages.append((cause, group, BestMessage(kind, *box, base, left, right, moving, was, now)))
        bound, cand = ends[1], cand + cands
    assert (bound, cand) == (len(found.bounds), len(found.cand))
    return messages


class Board:
    """`rows` rows that may stand at any x of any group; slot = (group, x, row)."""

    def __init__(self, xs: list[int], rows: int, groups: int, most: int) -> None:
        self.xs, self.rows, self.most = xs, rows, most
        slots = np.arange(groups * len(xs) * rows)
        self.group = slots // (len(xs) * rows)
        self.x = np.array(xs, np.int64)[slots // rows % len(xs)]
        starts = np.arange(groups + 1) * len(xs) * rows
        self.layout = Layout(slots, self.x, self.group, starts, slots, 0)
        self.at: list[Point] = [None] * rows
        ends = [*xs, INT64_MIN, INT64_MAX]
        ranges = [(g, lo, hi) for g in range(groups) for lo in ends for hi in ends if lo <= hi]
        self.asked = [(*one, k) for one in ranges for k in range(1, most + 1)]

    def slot(self, row: int, point: Point) -> int:
        return -1 if point is None else (point[0] * len(self.xs) + point[1]) * self.rows + row

    def rank(self, row: int, point: Point) -> int:
        return -1 if point is None else point[2] * self.rows + row

    def image(self, row: int, point: Point) -> Image | None:
        return None if point is None else (self.xs[point[1]], self.rank(row, point))

    def answer(self, group: int, lo: int, hi: int, k: int) -> list[Image]:
        there = [(self.image(row, p), p) for row, p in enumerate(self.at) if p is not None and p[0] == group]
        return sorted((image for image, p in there if lo <= self.xs[p[1]] <= hi), key=lambda image: image[1])[:k]

    def leaves(self) -> np.ndarray:
        leaves = np.full(len(self.x), ABSENT)
        for row, point in enumerate(self.at):
            if point is not None:
                leaves[self.slot(row, point)] = self.rank(row, point)
        return leaves

    def verify(self, events: list[tuple[int, Point]]) -> None:
        """Run the events through one tree; check every message and every answer."""
        tree, at, columns, causes = BestTree(self.layout, self.leaves()), list(self.at), [], {}
        for i, (row, point) in enumerate(events):
            old, at[row] = at[row], point
            if old is not None or point is not None:
                causes[i] = self.image(row, old), self.image(row, point)
                columns.append([i, *(f(row, p) for p in (old, point) for f in (self.slot, self.rank))])
        found = tree.replay(np.array(columns, np.int64).reshape(-1, 5).T, self.most)
        messages = read(found, causes)
        held = {asked: self.answer(*asked) for asked in self.asked}
        for i, (row, point) in enumerate(events):
            again, self.at[row] = self.at[row] == point, point
            self.judge([(group, message) for cause, group, message in messages if cause == i], held, again)
        tree.check(self.leaves())
        group, lo, hi, most = np.array(self.asked, np.int64).T.copy()
        slots, count = tree.first(group, lo, hi, most)
        ranks = iter(self.leaves()[slots].tolist())
        assert [[next(ranks) for _ in range(n)] for n in count.tolist()] == [
            [rank for _, rank in held[asked]] for asked in self.asked
        ]

    def judge(self, messages: list[tuple[int, BestMessage]], held: dict, again: bool) -> None:
        """Apply the messages of one change to all lists; a row that stays where it is may have another image."""
        frames = np.zeros(len(messages), np.bool_)
        for asked, rows in held.items():
            group, lo, hi, k = asked
            heard = [i for i, (g, m) in enumerate(messages) if g == group and m.place(lo, hi, k) >= 0]
            assert len(heard) <= 1, f"not single: {asked}, {messages}"
            now = self.answer(*asked)
            for i in heard:
                frames[i] |= k == self.most
                rows = messages[i][1].applied(rows, lo, hi, k)
                assert again or rows != held[asked], f"not silent: {asked}, {messages[i]}"
            assert rows == now, f"not exact: {asked}, {held[asked]}, {messages}"
            held[asked] = now
        for i, (group, m) in enumerate(messages):
            inside = [
                1 for g, lo, hi, k in held if (g, k) == (group, self.most)
                and m.lo_min <= lo <= m.lo_max and m.hi_min <= hi <= m.hi_max
            ]  # fmt: skip
            assert frames[i] == bool(inside), f"a frame that is not tight: {m}"


def events_over(xs: int, ys: int, groups: int) -> st.SearchStrategy[list[tuple[int, Point]]]:
    point = st.tuples(st.integers(0, groups - 1), st.integers(0, xs - 1), st.integers(0, ys - 1))
    return st.lists(st.tuples(st.integers(0, 7), st.one_of(point, point, st.none())), min_size=1, max_size=20)


CALM = settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@CALM
@given(events_over(6, 4, 2), st.integers(1, 5))
def test_small_domains(plain: None, events: list[tuple[int, Point]], most: int) -> None:
    Board(list(range(6)), 8, 2, most).verify(events)


ENDS = [INT64_MIN, INT64_MIN + 1, 0, INT64_MAX - 1, INT64_MAX]


@CALM
@given(events_over(5, 3, 1), st.integers(1, 4))
def test_the_ends_of_int64(plain: None, events: list[tuple[int, Point]], most: int) -> None:
    Board(ENDS, 8, 1, most).verify(events)


@CALM
@given(events_over(1, 6, 2), st.integers(1, 9))
def test_without_a_range(plain: None, events: list[tuple[int, Point]], most: int) -> None:
    Board([0], 8, 2, most).verify(events)


@pytest.mark.parametrize("seed", range(6))
def test_thousands_of_ties_compiled(seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups, rows, most = 1 + seed % 2, 10, (1, 3, 4, 6, 2, 12)[seed]
    board = Board(list(range(6)), rows, groups, most)
    for _ in range(15):
        events: list[tuple[int, Point]] = []
        for row, group, x, y in rng.integers(0, [rows, groups, 6, 5 + (seed > 1)], (20, 4)).tolist():
            events.append((row, (group, x, y) if y < 5 else None))
        board.verify(events)


def test_a_staircase_that_loses_its_lowest_row_names_all_others() -> None:
    n = 3000
    layout = Layout(np.arange(n), np.arange(n), np.zeros(n, np.int64), np.array([0, n]), np.arange(n), 0)
    tree = BestTree(layout, np.append(0, np.arange(n - 1, 0, -1)))
    found = tree.replay(np.array([[7], [0], [0], [-1], [-1]]), 1)
    assert found.head[:, 0].tolist() == [7, 0, OUT, INT64_MIN, 0, 0, INT64_MAX, 0, 0, 0, n - 1, 0, -1]
    assert found.cand.tolist() == list(range(1, n)) and found.cand_x.tolist() == list(range(n - 1, 0, -1))


def goes(n: int) -> list[list[int]]:
    """A staircase loses its lowest row, again and again: each change names all that are left."""
    return [[i, n - 1 - i, i + 1, -1, -1] for i in range(n // 2)]


def moves(n: int) -> list[list[int]]:
    """The best row of all moves from one end to the other and back: three messages each time."""
    ends = [0, n - 1]
    there = [[i, ends[i % 2], 0, ends[(i + 1) % 2], 0] for i in range(3, n)]
    return [[0, ends[0], n, -1, -1], [1, ends[1], 1, -1, -1], [2, -1, -1, ends[1], 0], *there]


@pytest.mark.parametrize("changes", [goes, moves])
@pytest.mark.parametrize("most", [1, 3])
def test_more_is_said_than_there_was_room_for(changes, most: int) -> None:
    n = 120
    layout = Layout(np.arange(n), np.arange(n), np.zeros(n, np.int64), np.array([0, n]), np.arange(n), 0)
    leaves, asked = np.arange(n, 0, -1), np.array(changes(n))
    whole, tree = BestTree(layout, leaves).replay(asked.T, most), BestTree(layout, leaves)
    alone = [tree.replay(asked[i : i + 1].T, most) for i in range(len(asked))]
    for name in ("head", "bounds", "cand_x", "cand"):
        told = np.concatenate([getattr(one, name) for one in alone], axis=-1)
        assert np.array_equal(getattr(whole, name), told), name


def test_a_tree_without_slots() -> None:
    empty = np.zeros(0, np.int64)
    tree = BestTree(Layout(empty, empty, empty, np.array([0]), empty, 0), empty)
    tree.check(empty)
    slots, count = tree.first(np.array([-1]), np.array([INT64_MIN]), np.array([INT64_MAX]), np.array([3]))
    assert (slots.tolist(), count.tolist()) == ([], [0])
