"""Hits of joins judged by compiled loops: which partners are in a range, and which conditions leave, against lists."""

from __future__ import annotations

from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.index.join_index_kernels import COMES, GOES, IS, STAYS, WAS, meet, sift
from state.read_only import read_only
from tests.effort import examples

Asked = tuple[int, int, int, int, list[int]]
"""A query: the changed table, the old and the new row's x, its mode, and its partners' x, ascending."""


def draw(rng: Random) -> Asked:
    partners = sorted(rng.randrange(4) for _ in range(rng.randrange(1, 5)))
    return rng.randrange(2), rng.randrange(4), rng.randrange(4), rng.choice([STAYS, GOES, COMES]), partners


class Laid:
    """A query for each change, as arrays: old and new rows are versions 2 t and 2 t + 1 of their tables."""

    def __init__(self, asked: list[Asked]) -> None:
        n = len(asked)
        self.table = read_only(np.array([table for table, *_ in asked]))
        self.before, self.after = read_only(2 * np.arange(n)), read_only(2 * np.arange(n) + 1)
        own = np.array([x for _, old, new, _, _ in asked for x in (old, new)])
        self.xs = read_only(own), read_only(own.copy())
        values, queries = [-5], list[tuple[int, int, int, int]]()
        for t, (_, _, _, mode, partners) in enumerate(asked):
            queries.append((t, mode, len(values), len(values) + len(partners)))
            values += [*partners, 2]
        self.values, self.queries = np.array(values), np.array(queries)


def ranges(rng: Random) -> list[tuple[int, int]]:
    return [(rng.randrange(4), rng.randrange(4)) for _ in range(2)]


@settings(max_examples=examples(600), deadline=None)
@given(st.integers(0, 2**32))
def test_who_is_met_has_partners_in_its_range_and_the_row_before_or_after(seed: int) -> None:
    rng = Random(seed)
    asked = [draw(rng) for _ in range(3)]
    laid, query = Laid(asked), np.array([rng.randrange(3) for _ in range(4)])
    held = [ranges(rng) for _ in range(4)]
    lows, highs = (np.array([[one[side][end] for one in held] for side in (0, 1)]) for end in (0, 1))
    start, stop, kind = np.full(4, 77), np.full(4, 77), np.full(4, 77, np.int8)
    meet(query, lows, highs, laid.queries, laid.table, laid.before, laid.after, laid.xs, laid.values, start, stop, kind)
    for p, q in enumerate(query.tolist()):
        side, old, new, mode, partners = asked[q]
        lo, hi = held[p][side]
        was, is_ = mode != COMES and lo <= old <= hi, mode != GOES and lo <= new <= hi
        assert kind[p] == (WAS if was else 0) | (IS if is_ else 0)
        lo, hi = held[p][1 - side]
        assert laid.values[start[p] : stop[p]].tolist() == [x for x in partners if lo <= x <= hi]
        assert laid.queries[q, 2] <= start[p] and stop[p] <= max(start[p], laid.queries[q, 3])


Condition = tuple[int, int, list[tuple[int, int]], bool]
"""The table at which place a column is, which column, the intervals, and whether NULL is in, too."""


def condition(rng: Random) -> Condition:
    intervals = [(lo, lo + rng.randrange(2)) for lo in rng.sample([0, 2, 4], rng.randrange(3))]
    return rng.randrange(2), rng.randrange(2), intervals, rng.random() < 0.4


@settings(max_examples=examples(600), deadline=None)
@given(st.integers(0, 2**32))
def test_further_conditions_leave_rows_and_partners_that_meet_them(seed: int) -> None:
    rng = Random(seed)
    versions, partners = 6, [rng.randrange(6) for _ in range(5)]
    rows = [[[rng.choice([None, 0, 1, 2, 3]) for _ in range(versions)] for _ in range(2)] for _ in range(2)]
    side, mode = rng.randrange(2), rng.choice([WAS, IS, WAS | IS])
    hits = [([condition(rng) for _ in range(rng.randrange(3))], *sorted(rng.choices(range(6), k=2))) for _ in range(3)]
    every = [one for conditions, *_ in hits for one in conditions]
    codes = tuple(np.array([[v or 0 for v in column] for column in rows[p]]) for p in (0, 1))
    known = tuple(np.array([[v is not None for v in column] for column in rows[p]]) for p in (0, 1))
    sizes = np.cumsum([0, *(len(conditions) for conditions, *_ in hits)])
    place, column = (np.array([one[i] for one in every], np.int64) for i in (0, 1))
    null = np.array([one[3] for one in every], np.bool_)
    bounds = np.array([pair for one in every for pair in one[2]], np.int64).reshape(-1, 2)
    ends = np.cumsum([0, *(len(one[2]) for one in every)], dtype=np.int64)
    partner = np.full(5 + 3 * 5, -1)
    partner[:5] = partners
    start, stop = (np.array([hit[i] for hit in hits]) for i in (1, 2))
    kind = np.full(3, mode, np.int8)
    own, old, new = (read_only(np.array([number])) for number in (side, 4, 5))
    sift(
        np.arange(3), np.stack([sizes[:-1], sizes[1:]], axis=1), np.zeros(3, np.int64), np.array([[0, STAYS, 0, 5]]),
        own, old, new, place, column, null, ends, bounds, codes, known, partner, 5, start, stop, kind,
    )  # fmt: skip

    def passes(position: int, row: int, conditions: list[Condition]) -> bool:
        mine = [one for one in conditions if one[0] == position]
        values = [(rows[position][column][row], intervals, null) for _, column, intervals, null in mine]
        return all(null if v is None else any(lo <= v <= hi for lo, hi in inside) for v, inside, null in values)

    for i, (conditions, first, end) in enumerate(hits):
        said = sum(bit for bit, row in ((WAS, 4), (IS, 5)) if mode & bit and passes(side, row, conditions))
        left = [row for row in partners[first:end] if passes(1 - side, row, conditions)] if said else []
        assert partner[start[i] : stop[i]].tolist() == left
        assert kind[i] == (said if left else 0)
