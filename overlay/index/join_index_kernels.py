"""The compiled loops of the fast way of joins; `join_queries.py` and `join_index.py` say what they mean.

All of them stand in this one file, because numba's cache does not see changes in another file's functions. They take
plain arrays; pairs are one array for each position of the join. v versions of rows of a table, m changes, q queries:

    number, table, before, after    int64[m] each, as in `operators/timeline.py`
    kids, equals, xs    pairs of int64[v]: a row's join key, -1 where the form has no use for it; the number of its
                        equal values; its value of the range attribute
    borns, dieds        pairs of int64[v], as in `operators/timeline.py`
    orders, starts      pairs: versions by (key, equal values, value), and where each key's begin
    values, partner     int64[room] each: what is asked, and the version that a partner's value is of
    queries             int64[room, 4]: CHANGE, MODE, FIRST and END of its partners, in both `values` and `partner`
    runs                int64[room, 4, 2]: from where to where the values of each attribute stand
"""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

from state.change_batch import I64, Bool

I8 = npt.NDArray[np.int8]
Two = tuple[I64, I64]
CHANGE, MODE, FIRST, END = 0, 1, 2, 3
STAYS, GOES, COMES = 0, 1, 2
"""Modes: old and new row have the same partners; the old one's, the new one's."""
WAS, IS = 2, 1
"""Bits: the row and some partners were an answer before the change, are one after it."""


@numba.njit(cache=True)
def lists(
    first: int, last: int, number: I64, table: I64, before: I64, after: I64, kids: Two, equals: Two, xs: Two,
    borns: Two, dieds: Two, orders: Two, starts: Two, values: I64, partner: I64, queries: I64, runs: I64,
) -> int:  # fmt: skip
    """Write the queries of the changes [first, last), and return how many they are; there is room for all."""
    q, at = 0, 0
    for t in range(first, last):
        side = table[t]
        other = 1 - side
        old, new = before[t], after[t]
        key_of, equal, x = kids[side], equals[side], xs[side]
        old_key = key_of[old] if old >= 0 else -1
        new_key = key_of[new] if new >= 0 else -1
        stays = old_key >= 0 and old_key == new_key and equal[old] == equal[new]
        for mode in range(3):
            key = new_key if mode == COMES else old_key
            if key < 0 or stays != (mode == STAYS):
                continue
            version = new if mode == COMES else old
            own = at
            values[at], values[at + 1] = equal[version], x[version]
            at += 2
            if stays and x[old] != x[new]:
                values[at - 1], values[at] = min(x[old], x[new]), max(x[old], x[new])
                at += 1
            own_end, begun, present = at, q, np.int64(-1)
            for i in range(starts[other][key], starts[other][key + 1]):
                w = orders[other][i]
                born, died = borns[other][w], dieds[other][w]
                there = born <= number[t] < died if mode == COMES else born < number[t] <= died
                if not there:
                    continue
                if equals[other][w] != present:
                    if q > begun:
                        queries[q - 1, END] = at
                    present = equals[other][w]
                    values[at] = present
                    queries[q, CHANGE], queries[q, MODE], queries[q, FIRST] = t, mode, at + 1
                    runs[q, side, 0], runs[q, side, 1] = own, own + 1
                    runs[q, other, 0], runs[q, other, 1] = at, at + 1
                    runs[q, 2 + side, 0], runs[q, 2 + side, 1] = own + 1, own_end
                    q += 1
                    at += 1
                values[at], partner[at] = xs[other][w], w
                at += 1
            if q > begun:
                queries[q - 1, END] = at
            else:
                at = own
    for i in range(q):
        other = 1 - table[queries[i, CHANGE]]
        runs[i, 2 + other, 0], runs[i, 2 + other, 1] = queries[i, FIRST], queries[i, END]
    return q


@numba.njit(cache=True)
def _first_above(values: I64, start: int, end: int, low: int, strictly: bool) -> int:
    """Return where the first value >= low, or > low, stands in [start, end) of ascending `values`; `end` if none."""
    while start < end:
        middle = (start + end) >> 1
        if values[middle] < low or (strictly and values[middle] == low):
            start = middle + 1
        else:
            end = middle
    return start


@numba.njit(cache=True)
def meet(
    query: I64, lows: I64, highs: I64, queries: I64, table: I64, before: I64, after: I64, xs: Two, values: I64,
    start: I64, stop: I64, kind: I8,
) -> None:  # fmt: skip
    """Write of each hit which partners are in its range, and whether the row was and is in it.

    lows, highs: int64[2, h], the ranges of who is met, by position.
    """
    for p in range(len(query)):
        q = query[p]
        t, mode = queries[q, CHANGE], queries[q, MODE]
        side = table[t]
        x, other = xs[side], 1 - side
        low, high = lows[side, p], highs[side, p]
        kind[p] = 0
        if mode != COMES and low <= x[before[t]] <= high:
            kind[p] |= WAS
        if mode != GOES and low <= x[after[t]] <= high:
            kind[p] |= IS
        first, end = queries[q, FIRST], queries[q, END]
        start[p] = _first_above(values, first, end, lows[other, p], False)
        stop[p] = _first_above(values, start[p], end, highs[other, p], True)


@numba.njit(cache=True)
def _holds(first: int, last: int, bounds: I64, null: Bool, condition: int, code: int, known: bool) -> bool:
    """Whether a value is in the value set whose intervals are bounds[first:last]."""
    if not known:
        return null[condition]
    for i in range(first, last):  # noqa: SIM110, since numba compiles no generators here
        if bounds[i, 0] <= code <= bounds[i, 1]:
            return True
    return False


@numba.njit(cache=True)
def _passes(
    row: int, position: int, first: int, last: int, place: I64, column: I64, null: Bool, ends: I64, bounds: I64,
    codes: Two, known: tuple[Bool, Bool],
) -> bool:  # fmt: skip
    """Whether a version of a row of the table at `position` meets its part of the conditions [first, last)."""
    for c in range(first, last):
        if place[c] == position:
            code, there = codes[position][column[c], row], known[position][column[c], row]
            if not _holds(ends[c], ends[c + 1], bounds, null, c, code, there):
                return False
    return True


@numba.njit(cache=True)
def sift(
    which: I64, spans: I64, query: I64, queries: I64, table: I64, before: I64, after: I64, place: I64, column: I64,
    null: Bool, ends: I64, bounds: I64, codes: Two, known: tuple[Bool, Bool], partner: I64, used: int, start: I64,
    stop: I64, kind: I8,
) -> None:  # fmt: skip
    """Judge the hits `which` by their further conditions, those of hit i being [spans[i, 0], spans[i, 1]).

    The partners that are left are written behind the first `used` of `partner`, where there is room. A condition is
    about a column of the table at `place`: the intervals bounds[ends[c]:ends[c + 1]], and NULL where `null`.
    codes, known: [columns, versions] each, by position.
    """
    for i in range(len(which)):
        p, low, high = which[i], spans[i, 0], spans[i, 1]
        t = queries[query[p], CHANGE]
        side = table[t]
        for bit, row in ((WAS, before[t]), (IS, after[t])):
            if kind[p] & bit and not _passes(row, side, low, high, place, column, null, ends, bounds, codes, known):
                kind[p] &= ~bit
        first = used
        for k in range(start[p], stop[p] if kind[p] else start[p]):
            if _passes(partner[k], 1 - side, low, high, place, column, null, ends, bounds, codes, known):
                partner[used] = partner[k]
                used += 1
        start[p], stop[p] = first, used
        if first == used:
            kind[p] = 0


ENTRIES = (lists, meet, sift)
"""The kernels that are called from Python."""
