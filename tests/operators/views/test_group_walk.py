"""The walk of a GROUP BY against groups that are computed anew after every cause, over tiny domains full of ties."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from types import SimpleNamespace
from typing import NamedTuple, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.batch_view import BatchView
from operators.views.group_walk import Measures, Told, touched_groups, walk
from state.change_batch import I64
from state.rank_order import Ranks
from tests.effort import examples

GROUP, OTHER, VALUE = 0, 1, 2
Row = tuple[int | None, ...]
"""What is told of a group: rows, values counted, their sum, the least and the greatest value."""
Answer = tuple[int, int, int, int | None, int | None]


class Batch(NamedTuple):
    """Versions of rows, of which the first `stored` are there before, and changes: cause, before and after."""

    rows: list[Row]
    stored: int
    change: list[tuple[int, int, int]]

    @property
    def codes(self) -> I64:
        return np.array([[row[c] or 0 for row in self.rows] for c in range(3)], np.int64).reshape(3, len(self.rows))

    @property
    def valid(self) -> np.ndarray:
        return np.array([[row[c] is not None for row in self.rows] for c in range(3)], np.bool_).reshape(3, -1)

    @property
    def changes(self) -> I64:
        return np.array(self.change, np.int64).reshape(len(self.change), 3).T.copy()

    def key(self, version: int, by: tuple[int, ...]) -> Row:
        return tuple(self.rows[version][c] for c in by)

    def ranks(self, *columns: int) -> Ranks:
        """All versions in an order by columns, NULL first."""
        order = sorted(
            range(len(self.rows)), key=lambda v: [(self.rows[v][c] is not None, self.rows[v][c]) for c in columns]
        )
        version = np.array(order, np.int64)
        return cast(Ranks, SimpleNamespace(version=version, rank=np.argsort(version)))


def draw(rng: Random) -> Batch:
    """Rows that come, go and become others; a version comes once at most, as in a batch."""
    made = [tuple(rng.choice(among) for among in ((None, 0, 1), (None, 0, 1), (None, 3, 3, 4))) for _ in range(12)]
    stored = rng.randrange(6)
    there, fresh = list(range(stored)), list(range(stored, 12))
    change, cause = list[tuple[int, int, int]](), 0
    for _ in range(rng.randrange(9)):
        cause += rng.choice((0, 1, 2))
        before = there.pop(rng.randrange(len(there))) if there and rng.random() < 0.6 else -1
        after = fresh.pop(0) if fresh and (before < 0 or rng.random() < 0.6) else -1
        if after >= 0:
            there.append(after)
        if before >= 0 or after >= 0:
            change.append((cause, before, after))
    return Batch(made, stored, change)


def measures(batch: Batch, by: tuple[int, ...]) -> tuple[Measures, I64]:
    """What a walk reads for COUNT(*), COUNT, SUM, MIN and MAX of VALUE."""
    ranks, codes, change = batch.ranks(*by, VALUE), batch.codes, batch.changes
    if by:
        view = SimpleNamespace(replay=SimpleNamespace(codes=codes, valid=batch.valid))
        group, spans = touched_groups(cast(BatchView, view), by, ranks, change)
    else:
        group, spans = np.zeros(len(batch.rows), np.int64), np.array([[0], [len(batch.rows)]])
    one = np.array([VALUE])
    heaps = ranks.version[None].copy(), ranks.rank[None].copy()
    extreme = np.array([[0, 0, VALUE], [0, 1, VALUE]]).T.copy()
    return Measures(codes, batch.valid, group, spans, one, codes, one, *heaps, one, extreme), change


def answer(batch: Batch, there: set[int], group: Row, by: tuple[int, ...]) -> Answer:
    rows = [batch.rows[v] for v in there if batch.key(v, by) == group]
    values = [value for *_, value in rows if value is not None]
    return len(rows), len(values), sum(values), min(values, default=None), max(values, default=None)


def wanted(batch: Batch, by: tuple[int, ...], number: bool) -> Iterator[tuple[int, Row, Answer]]:
    """What is told after each cause, of the groups it touches, as it comes to them."""
    there = set(range(batch.stored))
    for cause in dict.fromkeys(cause for cause, _, _ in batch.change):
        mine = [(before, after) for c, before, after in batch.change if c == cause]
        touched = dict.fromkeys(batch.key(v, by) for pair in mine for v in pair if v >= 0)
        old = {group: answer(batch, there, group, by) for group in touched}
        for before, after in mine:
            there = (there - {before}) | ({after} - {-1})
        for group in touched:
            new = answer(batch, there, group, by)
            shown = slice(0 if number else 1, None)
            is_other = old[group][shown] != new[shown]
            gone_or_come = bool(by) and (old[group][0] > 0) != (new[0] > 0)
            if gone_or_come or is_other:
                yield cause, group, new


def told_of(batch: Batch, of: Measures, told: Told, by: tuple[int, ...]) -> list[tuple[int, Row, Answer]]:
    found = []
    for i, cause in enumerate(told.cause.tolist()):
        member = int((of.group == told.group[i]).nonzero()[0][0])
        least, greatest = (batch.rows[v][VALUE] if v >= 0 else None for v in told.version[:, i].tolist())
        numbers = int(told.rows[i]), int(told.counts[0, i]), int(told.sums[0, i])
        found.append((cause, batch.key(member, by), (*numbers, least, greatest)))
    return found


@given(st.integers(0, 2**32), st.sampled_from([(), (GROUP,), (GROUP, OTHER)]), st.booleans())
@settings(max_examples=examples(2_000), deadline=None)
def test_what_is_told_is_what_computing_anew_finds(seed: int, by: tuple[int, ...], number: bool) -> None:
    batch = draw(Random(seed))
    of, change = measures(batch, by)
    told = walk(of, change, batch.stored, not by, number, 0)
    assert told_of(batch, of, told, by) == list(wanted(batch, by, number))


@given(st.integers(0, 2**32))
@settings(max_examples=examples(400), deadline=None)
def test_groups_are_numbered_as_changes_touch_them_and_are_whole(seed: int) -> None:
    batch = draw(Random(seed))
    of, _ = measures(batch, (GROUP,))
    touched = list(dict.fromkeys(batch.key(v, (GROUP,)) for _, *pair in batch.change for v in pair if v >= 0))
    numbers = {key: i for i, key in enumerate(touched)}
    assert of.group.tolist() == [numbers.get(batch.key(v, (GROUP,)), -1) for v in range(len(batch.rows))]
    for g, (begin, end) in enumerate(of.spans.T.tolist()):
        assert sorted(of.version[0, begin:end].tolist()) == (of.group == g).nonzero()[0].tolist()


ROWS: list[Row] = [(1, 0, 3), (1, 0, 3), (1, 0, 4), (2, 0, None)]


@pytest.mark.parametrize(
    ("change", "number", "told"),
    [
        pytest.param([(0, 0, 1)], True, [], id="one row for another that looks the same"),
        pytest.param([(0, 0, 2)], False, [(0, (1,), (1, 1, 4, 4, 4))], id="the value moves"),
        pytest.param([(0, 0, -1)], False, [(0, (1,), (0, 0, 0, None, None))], id="the last row goes"),
        pytest.param([(0, 0, -1), (0, -1, 1)], True, [], id="it goes and comes by one cause"),
        pytest.param(
            [(0, 0, -1), (1, -1, 1)], True, [(0, (1,), (0, 0, 0, None, None)), (1, (1,), (1, 1, 3, 3, 3))], id="by two"
        ),
        pytest.param([(0, -1, 3)], False, [(0, (2,), (1, 0, 0, None, None))], id="a group of NULL alone comes"),
        pytest.param(
            [(0, 0, 3)], False, [(0, (1,), (0, 0, 0, None, None)), (0, (2,), (1, 0, 0, None, None))], id="groups change"
        ),
    ],
)
def test_a_group_is_told_once_a_cause_and_only_if_its_row_differs(
    change: list[tuple[int, int, int]], number: bool, told: list[tuple[int, Row, Answer]]
) -> None:
    batch = Batch(ROWS, 1, change)
    of, changes = measures(batch, (GROUP,))
    assert told_of(batch, of, walk(of, changes, 1, False, number, 0), (GROUP,)) == told


def test_the_one_group_of_all_rows_is_told_without_a_change_where_it_is_asked_for() -> None:
    of, changes = measures(Batch(ROWS, 0, []), ())
    told = walk(of, changes, 0, True, True, 1)
    assert (told.group.tolist(), told.rows.tolist(), told.counts.tolist()) == ([0], [0], [[0]])
    assert told.version.tolist() == [[-1], [-1]]
