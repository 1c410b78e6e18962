"""Laying boxes out in runs of a segment's length, beside their like.

Problem. An index of filters (`state/filter_index.py`) looks at a whole segment of boxes at a time, and passes over a
segment if a value of the row is let through by none of its boxes. So a segment should let through as few rows as it
can: boxes that ask for the same values belong together, but each asks for several columns.

Idea. Top-down as one builds bounding volumes. Of a run of boxes, take the column and the cell where a cut makes
(share of rows that the left boxes let through) * left boxes + the same of the right least; sort the run by the lowest
cell of that column, cut it at a multiple of the segment's length, go on with both.

    symbol   A A A A B B B B       cut by symbol: each half is looked at by half of the rows       [A A A A][B B B B]
    price    1 9 1 9 1 9 1 9       or by price, if fewer rows have a price near 1 than symbol A    [1 1 1 1][9 9 9 9]

Boxes that do not ask for the column go to the right; whoever has them lets everything through.

Cost: O(n conditions log n), 2 us a box at 62,500. No run is cut less evenly than 1 to 31 while it is longer than 32
segments, so that boxes of which all but a few are alike need no more than some hundred passes.
Source: the surface area heuristic (MacDonald and Booth, 1990), with shares of rows in place of areas.
"""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt
from numba.cpython.unsafe.numbers import trailing_zeros

from state.change_batch import I64

U64 = npt.NDArray[np.uint64]
F64 = npt.NDArray[np.float64]

OTHERS = 64
"""The bin of the boxes that do not ask for a column, behind its 64 cells."""
_EVEN = 32
_STACK = 128


@numba.njit(cache=True)
def _lowest(mask: np.uint64) -> int:
    """Return the number of the lowest bit that is set."""
    lowest: int = np.int64(trailing_zeros(mask))  # type: ignore[assignment]
    return lowest


@numba.njit(cache=True)
def _share(mask: np.uint64, column: int, share: F64) -> float:
    """Return the share of rows in the cells of `mask`."""
    total = 0.0
    while mask != np.uint64(0):
        total += share[column, _lowest(mask)]
        mask &= mask - np.uint64(1)
    return total


@numba.njit(cache=True)
def _tally(order: I64, begin: int, end: int, starts: I64, columns: I64, masks: U64, count: I64, union: U64) -> None:
    """Count the boxes of a run by column and lowest cell, and unite their masks."""
    count[:] = 0
    union[:] = np.uint64(0)
    for p in range(begin, end):
        box = order[p]
        for q in range(starts[box], starts[box + 1]):
            c, low = columns[q], _lowest(masks[q])
            count[c, low] += 1
            union[c, low] |= masks[q]


@numba.njit(cache=True)
def _cut_of(c: int, total: int, share: F64, count: I64, union: U64, behind: U64) -> tuple[float, int]:
    """Return the cost of the best cut by column c, as a part of the run's own, and the bin after which it is."""
    asking = 0
    for low in range(64):
        asking += count[c, low]
    if asking == 0:
        return 2.0, -1
    behind[64] = np.uint64(0)
    for low in range(63, -1, -1):
        behind[low] = behind[low + 1] | union[c, low]
    whole = 1.0 if asking < total else max(_share(behind[0], c, share), 1e-9)
    best, at = 2.0, -1
    left, below = np.uint64(0), 0
    for low in range(64):
        if count[c, low] > 0:
            left |= union[c, low]
            below += count[c, low]
            if below == total:
                break
            right = 1.0 if asking < total else _share(behind[low + 1], c, share)
            cost = (_share(left, c, share) * below + right * (total - below)) / (whole * total)
            if cost < best:
                best, at = cost, low
    return best, at


@numba.njit(cache=True)
def _sort(
    order: I64, begin: int, end: int, c: int, starts: I64, columns: I64, masks: U64, count: I64, spare: I64
) -> None:
    """Sort a run by the lowest cell of column c, those that do not ask for it last; equals keep their order."""
    at = np.empty(OTHERS + 1, np.int64)
    asking = 0
    for low in range(64):
        at[low] = asking
        asking += count[c, low]
    at[OTHERS] = asking
    for p in range(begin, end):
        box, low = order[p], OTHERS
        for q in range(starts[box], starts[box + 1]):
            if columns[q] == c:
                low = _lowest(masks[q])
        spare[at[low]] = box
        at[low] += 1
    for p in range(begin, end):  # a slice would bring numba's words for unequal shapes: 5 s of compiling
        order[p] = spare[p - begin]


@numba.njit(cache=True)
def _place_of_cut(want: int, total: int, segment: int, even: int) -> int:
    """Return the multiple of `segment` next to `want`, neither 0 nor all and not too uneven."""
    least = max(total // even // segment, 1) * segment
    most = min((total - 1) // segment * segment, (total - least + segment - 1) // segment * segment)
    cut = (want + segment // 2) // segment * segment
    return min(max(cut, least), max(most, least))


@numba.njit(cache=True)
def _lay_out(
    starts: I64, columns: I64, masks: U64, share: F64, segment: int, even: int, order: I64, stack: I64
) -> None:
    """Permute `order`, of boxes, so that runs of `segment` are alike. The larger half waits: the stack stays short."""
    count, union = np.zeros((len(share), 64), np.int64), np.zeros((len(share), 64), np.uint64)
    behind, spare = np.empty(65, np.uint64), np.empty(len(order), np.int64)
    stack[0, 0], stack[0, 1] = 0, len(order)
    depth = 1
    while depth > 0:
        depth -= 1
        begin, end = stack[depth, 0], stack[depth, 1]
        if end - begin <= segment:
            continue
        _tally(order, begin, end, starts, columns, masks, count, union)
        best, column, low = 2.0, -1, -1
        for c in range(len(share)):
            cost, at = _cut_of(c, end - begin, share, count, union, behind)
            if cost < best:
                best, column, low = cost, c, at
        if column < 0:
            continue
        _sort(order, begin, end, column, starts, columns, masks, count, spare)
        want = 0
        for b in range(low + 1):
            want += count[column, b]
        cut = begin + _place_of_cut(want, end - begin, segment, even)
        first = 0 if cut - begin >= end - cut else 1
        stack[depth + first, 0], stack[depth + first, 1] = begin, cut
        stack[depth + 1 - first, 0], stack[depth + 1 - first, 1] = cut, end
        depth += 2


ENTRIES = (_lay_out,)
"""The kernels that are called from Python."""


def lay_out(starts: I64, columns: I64, masks: U64, share: F64, segment: int) -> I64:
    """Return an order of n boxes in which runs of `segment` are alike.

    Box b asks for columns[starts[b] : starts[b + 1]], and lets the cells of the masks beside them through, none of
    which is empty. share: float64[columns, 64], the share of rows in each cell. Cost: see the module's header.
    """
    order = np.arange(len(starts) - 1)
    _lay_out(starts, columns, masks, share, segment, _EVEN, order, np.empty((_STACK, 2), np.int64))
    return order
