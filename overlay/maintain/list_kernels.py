"""The compiled loops over pairs of a message and a list that may hear it (`maintain/list_follower.py`).

A message says where a row stands, or stood, and which rows may move up; so a list follows by places, and compares no
order (state/best_tree.py says why that is exact):

    it leaves, or is worse now     held a b c d, d being the last of n      it leaves place p: rest a c d
                                   of the candidates inside, number n - 1 - p comes behind them
    it comes, or is better now     put in at its place; what is beyond the limit goes

All of them stand in this one file, because numba's cache does not see changes in another file's functions. They take
plain arrays:

    message, slot, lo, hi, place   int64[pairs]; lo and hi are what the x of rows is compared with
    shown      int64[pairs]        which row of `refs` is of the list's projection
    heads      int64[5, messages]  KIND, BASE, LEFTS and the images OLD and NEW
    bounds, cands   int64[messages + 1]   where the bounds, and the candidates, of each message begin
    xs         int64[4, most]      BOUND_LOW, BOUND_HIGH, CAND_LOW, CAND_HIGH: x to compare with lo and with hi
    cand       int64[candidates]   their images
    refs       int64[projections, images]   the row of an image: its number, or -2 - i where it is in no list yet
    first, count, room, cells      int32, as in `answers/list_table.py`
    out, put   int64[2, pairs]     PLACE and ROW that was taken out, and that was put in; -1: none, as it is at first
"""

from __future__ import annotations

import numba
import numpy as np

from state.best_tree import IN, OUT
from state.change_batch import I32, I64, Bool

KIND, BASE, LEFTS, OLD, NEW = 0, 1, 2, 3, 4
BOUND_LOW, BOUND_HIGH, CAND_LOW, CAND_HIGH = 0, 1, 2, 3
PLACE, ROW = 0, 1
NONE = -1
_FIRST_NEW = -2


@numba.njit(cache=True)
def places(message: I64, lo: I64, hi: I64, heads: I64, bounds: I64, xs: I64, place: I64) -> None:
    """Write how many rows of each range are better than what its message is about."""
    for p in range(len(message)):
        m = message[p]
        better = heads[BASE, m]
        left_end = bounds[m] + heads[LEFTS, m]
        for q in range(bounds[m], left_end):
            better += xs[BOUND_LOW, q] >= lo[p]
        for q in range(left_end, bounds[m + 1]):
            better += xs[BOUND_HIGH, q] <= hi[p]
        place[p] = better


@numba.njit(cache=True)
def name_images(
    message: I64, slot: I64, lo: I64, hi: I64, place: I64, shown: I64, heads: I64, cands: I64, xs: I64, cand: I64,
    room: I32, named: Bool,
) -> None:  # fmt: skip
    """Note in bool[projections, images] which images the lists that hear of them may need."""
    for p in range(len(message)):
        m = message[p]
        mine = named[shown[p]]
        for side in (OLD, NEW):
            if heads[side, m] >= 0:
                mine[heads[side, m]] = True
        left = room[slot[p]] - place[p]  # the rows from its place on: so many candidates can be the one that moves up
        for q in range(cands[m], cands[m + 1]):
            if left == 0:
                break
            if xs[CAND_LOW, q] >= lo[p] and xs[CAND_HIGH, q] <= hi[p]:
                mine[cand[q]] = True
                left -= 1


@numba.njit(cache=True)
def follow(
    message: I64, slot: I64, lo: I64, hi: I64, place: I64, shown: I64, heads: I64, cands: I64, xs: I64, cand: I64,
    refs: I64, first: I32, count: I32, room: I32, cells: I32, out: I64, put: I64,
) -> int:  # fmt: skip
    """Apply pairs in causal order. Return -1, or the pair whose list is not what its message is about."""
    for p in range(len(message)):
        m, s = message[p], slot[p]
        start, n = first[s], count[s]
        old = refs[shown[p], heads[OLD, m]] if heads[OLD, m] >= 0 else NONE
        at = n if heads[KIND, m] == IN else _find(cells, start, n, old)
        behind = max(n - 1 - at, 0)
        inside, up = 0, NONE  # the candidates inside, until the one that comes behind the rest
        for q in range(cands[m], cands[m + 1]):
            if xs[CAND_LOW, q] >= lo[p] and xs[CAND_HIGH, q] <= hi[p]:
                if inside == behind:
                    up = cand[q]
                    break
                inside += 1
        if heads[KIND, m] == IN or (heads[KIND, m] != OUT and at == n and up == NONE):
            if place[p] > n:
                return p
            full = n == room[s]
            out[PLACE, p], out[ROW, p] = (n - 1, cells[start + n - 1]) if full else (NONE, NONE)
            _shift(cells, start, n - 1 if full else n, place[p])
            cells[start + place[p]] = put[ROW, p] = refs[shown[p], heads[NEW, m]]
            put[PLACE, p], count[s] = place[p], n if full else n + 1
            continue
        if at == n or at < place[p] or (heads[KIND, m] == OUT and at != place[p]):
            return p
        out[PLACE, p], out[ROW, p] = at, old
        if heads[KIND, m] == OUT or (at == place[p] and up != NONE):
            _shift(cells, start, at, n - 1)
            if up == NONE:
                count[s] = n - 1
            else:
                cells[start + n - 1] = put[ROW, p] = refs[shown[p], up]
                put[PLACE, p] = n - 1
            continue
        target = place[p] if at != place[p] else at + inside
        _shift(cells, start, at, target)
        cells[start + target] = put[ROW, p] = refs[shown[p], heads[NEW, m]]
        put[PLACE, p] = target
    return -1


@numba.njit(cache=True)
def number_new(slot: I64, number: I64, first: I32, count: I32, cells: I32) -> None:
    """Write the numbers that rows have got in place of -2 - i into lists of slots, which may stand there often."""
    for s in slot:
        for q in range(first[s], first[s] + count[s]):
            if cells[q] <= _FIRST_NEW:
                cells[q] = number[_FIRST_NEW - cells[q]]


@numba.njit(cache=True)
def _find(cells: I32, start: int, n: int, row: int) -> int:
    """Return the place of a row in a list of n, n where it is not there."""
    for place in range(n):
        if cells[start + place] == row:
            return place
    return n


@numba.njit(cache=True)
def _shift(cells: I32, start: int, source: int, target: int) -> None:
    """Move what stands at one place to another one, and what is between by one."""
    row = cells[start + source]
    step = 1 if source < target else -1
    for place in range(source, target, step):
        cells[start + place] = cells[start + place + step]
    cells[start + target] = row


ENTRIES = (places, name_images, follow, number_new)


def warm() -> None:
    """Compile the kernels or load them from numba's cache, and refuse further specialisations of them."""
    one, none, narrow = np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(1, np.int32)
    heads, ends, xs = np.zeros((5, 1), np.int64), np.zeros(2, np.int64), np.zeros((4, 0), np.int64)
    places(one, one, one, heads, ends, xs, one.copy())
    pairs = (one, one, one, one, one, one, heads, ends, xs, none)
    name_images(*pairs, narrow, np.zeros((1, 1), np.bool_))
    moves = np.zeros((2, 1), np.int64), np.zeros((2, 1), np.int64)
    follow(*pairs, one.reshape(1, 1), narrow, narrow.copy(), narrow + 1, narrow.copy(), *moves)
    number_new(one, one, narrow, narrow, narrow)
    for kernel in ENTRIES:
        if hasattr(kernel, "disable_compile"):
            kernel.disable_compile()
