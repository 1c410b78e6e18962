"""Sieve: rectangles of several channels against the boxes of many edges at once, by bits.

A bit for every box of a channel, `LANE` bits for every edge. A rectangle meets a box if five things hold: its lo_min
is at most the box's lo_max, its lo_max at least the box's lo_min, the same of hi, and the box has its group. For each
of the five, the set of boxes for which it holds depends on one number, and changes only where that passes a bound of
some box; so all such sets are laid out in order, and found by a binary search:

    bounds lo_max      3     5     9          a rectangle with lo_min = 4 may meet b and c: set 1
    sets           abc    bc     c     -      and all five sets' common bits are the boxes that it meets
    number          0      1     2     3

Groups are looked up once a batch; those that no box names have the set of the boxes that stand for any group.

Invariants (`check`), of every channel: 1 bounds are sorted, as are the groups named, each once. 2 Of what has begun
each set holds the one before, of what is open the one after; the first and the last are empty. 3 Every box begins, ends
and has a group; one of any group stands in every set of groups.
Cost: O(groups * log(groups named)), and for each rectangle four searches in (boxes of all edges) bounds and
5 * edges / 4 words to join, however many it meets: 0.1 us with 16 edges of 16 boxes each.
To set up: O(boxes * edges) words a channel.

Source: bit vectors of packet classification (Lakshman and Stiliadis, 1998).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numba
import numpy as np
import numpy.typing as npt

from state.change_batch import I32, I64, Bool

if TYPE_CHECKING:
    from state.boxes import Boxes

LANE = 16
"""Bits of an edge: at most how many boxes it may have."""

U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
Rectangles = tuple[I64, I64, I64, I64]
"""lo_min, lo_max, hi_min, hi_max of each, closed."""


@dataclass(frozen=True, slots=True)
class _Table:
    """The sets of one channel. Sets are rows of words; axis 0 is lo, 1 is hi.

    starts, ends: sorted bounds.  begun[k]: boxes that start at one of the first k.  open[k]: that end at the k-th or
    later.  named: sorted hashes.  having[k]: boxes that have the k-th; the last row: those of any group.
    """

    starts: I64
    ends: I64
    begun: U64
    open: U64
    named: U32
    having: U64

    @classmethod
    def of(cls, edges: Sequence[Boxes]) -> _Table:
        bits = np.concatenate([edge * LANE + np.arange(len(boxes)) for edge, boxes in enumerate(edges)])
        words = _words(bits.astype(np.int64), -(-len(edges) * LANE // 64))
        bounds = np.concatenate([boxes.bounds for boxes in edges])
        starts, ends = bounds[:, [0, 2]].T, bounds[:, [1, 3]].T
        last_first = ends.argsort(axis=1, kind="stable")[:, ::-1]
        named, having = _groups([group for boxes in edges for group in boxes.groups], words)
        return cls(
            starts=np.ascontiguousarray(np.sort(starts, axis=1)),
            ends=np.ascontiguousarray(np.sort(ends, axis=1)),
            begun=np.stack([_growing(words[order]) for order in starts.argsort(axis=1, kind="stable")]),
            open=np.stack([_growing(words[order])[::-1].copy() for order in last_first]),
            named=named,
            having=having,
        )

    def check(self) -> None:
        """Assert the invariants of the module's header for one channel."""
        for rising in (*self.starts, *self.ends):
            assert (rising[1:] >= rising[:-1]).all(), f"1: bounds {rising}"
        assert (self.named[1:] > self.named[:-1]).all(), f"1: groups {self.named}"
        grow = (self.begun[:, 1:] & self.begun[:, :-1] == self.begun[:, :-1]).all()
        shrink = (self.open[:, 1:] & self.open[:, :-1] == self.open[:, 1:]).all()
        assert grow and shrink and not self.begun[:, 0].any() and not self.open[:, -1].any(), f"2: {self}"
        boxes = np.bitwise_or.reduce(self.having, axis=0)
        assert (self.begun[:, -1] == boxes).all() and (self.open[:, 0] == boxes).all(), f"3: {self}"
        assert (self.having & self.having[-1] == self.having[-1]).all(), f"3: {self}"


def _words(bits: I64, width: int) -> U64:
    """Return a row of words for each bit, with just that bit."""
    words = np.zeros((len(bits), width), np.uint64)
    words[np.arange(len(bits)), bits // 64] = np.uint64(1) << (bits % 64).astype(np.uint64)
    return words


def _growing(words: U64) -> U64:
    """Return the sets of the first 0, 1, 2, ... rows."""
    return np.bitwise_or.accumulate(
        np.concatenate((np.zeros_like(words[:1], shape=(1, words.shape[1])), words)), axis=0
    )


def _groups(groups: Sequence[U32 | None], words: U64) -> tuple[U32, U64]:
    """Return the hashes that boxes name, sorted, and of each the boxes that have it; behind them those of any group."""
    some = np.array([i for i, group in enumerate(groups) if group is not None], np.int64)
    known = [group for group in groups if group is not None]
    every = np.concatenate([np.zeros(0, np.uint32), *known])
    named: U32 = np.unique(every)
    having = np.zeros((len(named) + 1, words.shape[1]), np.uint64)
    place, box = np.searchsorted(named, every), np.repeat(some, [len(group) for group in known])
    for word in range(words.shape[1]):
        np.bitwise_or.at(having[:, word], place, words[box, word])
    having |= np.bitwise_or.reduce(words[[group is None for group in groups]], axis=0)
    return named, having


class Sieve:
    """`boxes[channel][edge]`: every channel has the same number of edges."""

    def __init__(self, boxes: Sequence[Sequence[Boxes]]) -> None:
        self._tables = [_Table.of(edges) for edges in boxes if edges]
        self._edges = len(boxes[0]) if boxes else 0

    def check(self) -> None:
        """Assert the invariants of the module's header. Cost: O(boxes * edges)."""
        for table in self._tables:
            table.check()

    def meets(self, hashes: U32, channel: I32, group: I32, rectangles: Rectangles) -> Bool:
        """Return bool[edges, rectangles]: whether it meets a box of its channel that has its group."""
        met = np.zeros((self._edges, len(channel)), np.bool_)
        columns = [np.require(part, np.int64, ["C", "W"]) for part in rectangles]
        for number, table in enumerate(self._tables):
            rows = np.flatnonzero(channel == number)
            if len(rows) and table.starts.size:
                place = _places(table.named, hashes)[group[rows]]
                _sift(rows, place, *columns, table.starts, table.ends, table.begun, table.open, table.having, met)
        return met


def _places(named: U32, hashes: U32) -> I64:
    """Return the row of each group: the last one for those that no box names."""
    last = len(named)
    places = np.searchsorted(named, hashes)
    found = named[np.minimum(places, last - 1)] == hashes if last else np.zeros(len(hashes), np.bool_)
    return np.where(found, places, last)


@numba.njit(cache=True)
def _below(bounds: I64, value: int) -> int:
    """Return how many of the sorted `bounds` are less than `value`."""
    first, count = 0, len(bounds)
    while count > 0:
        half = count >> 1
        if bounds[first + half] < value:
            first += half + 1
            count -= half + 1
        else:
            count = half
    return first


@numba.njit(cache=True)
def _up_to(bounds: I64, value: int) -> int:
    """Return how many of the sorted `bounds` are at most `value`."""
    first, count = 0, len(bounds)
    while count > 0:
        half = count >> 1
        if bounds[first + half] <= value:
            first += half + 1
            count -= half + 1
        else:
            count = half
    return first


@numba.njit(cache=True)
def _sift(
    rows: I64,
    place: I64,
    lo_min: I64,
    lo_max: I64,
    hi_min: I64,
    hi_max: I64,
    starts: I64,
    ends: I64,
    begun: U64,
    open_: U64,
    having: U64,
    met: Bool,
) -> None:
    """Mark in `met` the edges that each of the rectangles `rows` meets; `place` has the sets of their groups."""
    lanes = 64 // LANE
    lane = np.uint64((1 << LANE) - 1)
    for i in range(len(rows)):
        row = rows[i]
        a, b = _up_to(starts[0], lo_max[row]), _below(ends[0], lo_min[row])
        c, d = _up_to(starts[1], hi_max[row]), _below(ends[1], hi_min[row])
        for word in range(having.shape[1]):
            boxes = having[place[i], word] & begun[0, a, word] & open_[0, b, word]
            boxes &= begun[1, c, word] & open_[1, d, word]
            edge = word * lanes
            while boxes:
                if boxes & lane:
                    met[edge, row] = True
                boxes >>= np.uint64(LANE)
                edge += 1


ENTRIES = (_sift,)
"""The kernels that are called from outside; they call the others."""
