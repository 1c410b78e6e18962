"""Bits: in which cells of its columns each box of an index of filters cannot hold.

Boxes stand in segments. A segment has, for each column that one of its boxes asks for, a block of 64 lines, one a cell,
and a line a bit a box; a zone, which says for every column which cells at least one of its boxes lets through; and
`fan` segments together an upper zone.

    segment of 4 boxes    a = 3     a in 3..9, b < 5     a > 7     c IS NULL         cells of a: up to 2, 3..7, 8 and on
    block of a, line 0    1         1                    1         0                 no box with a condition on a
                line 1    0         0                    1         0                 holds below 3: but the last one
                line 2    1         0                    0         0                 asks for nothing there, so the
    zone of a             cells 0, 1, 2 and NULL                                     zone lets every cell through

Invariants (`check`): 1 a bit is set if and only if a box is at the place and does not let the line's cell through;
alive are just the places of boxes. 2 A zone lets through what its boxes do. 3 A column has at most one block in a
segment, and has one where a box asks for it; blocks are numbered without a gap. 4 What a segment, or `fan` of them, are
interested in (a bit a column) is all that their boxes are.
Cost: a bit for each cell that a condition does not let through, 0.3 us a box; 64 bytes a column, cell and segment.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from state import filter_kernels as kernels
from state.change_batch import I32, I64, Bool
from state.filter_boxes import FilterBoxes
from state.filter_columns import CodedBox
from state.filter_cuts import Cuts
from state.filter_kernels import BLOCK, U64, WORDS
from state.grown_column import grown

_ALL = 2**64 - 1


class FilterBits:
    """The bits of boxes in segments of `segment` places, for rows of `columns`; `fan` segments have an upper zone."""

    def __init__(self, columns: int, segment: int, fan: int) -> None:
        self.segment, self.fan = segment, fan
        self.clear(columns)

    def clear(self, columns: int) -> None:
        """Forget all bits; rows have `columns` columns from now on."""
        self._columns = columns
        self._zone: U64 = np.zeros((0, columns), np.uint64)
        self._upper: U64 = np.zeros((0, columns), np.uint64)
        self._block: I32 = np.zeros((0, columns), np.int32)
        self._known: I32 = np.zeros((0, columns), np.int32)
        self._many: I32 = np.zeros(0, np.int32)
        self._alive: U64 = np.zeros((0, WORDS), np.uint64)
        self._asked: U64 = np.zeros((0, 1), np.uint64)
        self._asked_upper: U64 = np.zeros((0, 1), np.uint64)
        self._lines: U64 = np.zeros(0, np.uint64)
        self._blocks = 0

    @property
    def shift(self) -> int:
        """The number of a place's segment is the place, shifted by so many bits."""
        return self.segment.bit_length() - 1

    @property
    def arrays(self) -> tuple[Any, ...]:
        """What `kernels.match` takes of them: shift, fan and columns."""
        columns = (self._upper, self._zone, self._lines, self._block, self._known, self._many, self._alive)
        return (self.shift, self.fan, *columns, self._asked[:, 0], self._asked_upper[:, 0])

    @property
    def nbytes(self) -> int:
        """Bytes of all columns."""
        return sum(column.nbytes for column in self.arrays[2:])

    def mark(self, places: I64, boxes: FilterBoxes, cuts: Cuts) -> None:
        """Make the bits of boxes that are new at their places. Cost: 0.3 us each, 20 us a call."""
        segments = -(-boxes.places // self.segment)
        self._zone, self._alive = _exactly(self._zone, segments), _exactly(self._alive, segments)
        uppers = -(-segments // self.fan)
        self._upper = _exactly(self._upper, uppers)
        self._asked, self._asked_upper = _exactly(self._asked, segments), _exactly(self._asked_upper, uppers)
        interest = boxes.rec[places, 0].view(np.uint64)
        np.bitwise_or.at(self._asked[:, 0], places >> self.shift, interest)
        np.bitwise_or.at(self._asked_upper[:, 0], (places >> self.shift) // self.fan, interest)
        self._block, self._known = grown(self._block, segments, -1), grown(self._known, segments)
        self._many = grown(self._many, segments)
        self._blocks = kernels.learn(
            places, self.shift, boxes.rec, boxes.rest, self._block, self._known, self._many, self._blocks,
            boxes.scratch,
        )  # fmt: skip
        self._lines = grown(self._lines, self._blocks * BLOCK)
        self._write(places, boxes, cuts, on=True)

    def unmark(self, places: I64, boxes: FilterBoxes, cuts: Cuts) -> None:
        """Clear the bits of boxes that are about to go; zones stay as wide as they were."""
        self._write(places, boxes, cuts, on=False)

    def _write(self, places: I64, boxes: FilterBoxes, cuts: Cuts, on: bool) -> None:
        kernels.mark(
            places, self.shift, on, boxes.rec, boxes.rest, boxes.bounds, cuts.cuts, cuts.counts, self._block,
            self._lines, self._alive, self._zone, self._upper, self.fan, boxes.scratch,
        )  # fmt: skip

    def check(self, boxes: FilterBoxes, cuts: Cuts) -> None:
        """Check the invariants of the module's header. Raises AssertionError. Cost: O(places * cells * columns)."""
        live = boxes.live()
        segments = len(self._zone)
        masks = np.full((segments * self.segment, self._columns), _ALL, np.uint64)
        asked = np.zeros((segments, self._columns), np.bool_)
        for place in live.tolist():
            for column, cells in _through(boxes.conditions(place), cuts):
                masks[place, column] = cells
                asked[place // self.segment, column] = True
        there = np.flatnonzero(_unpacked(self._alive)[:, : self.segment])
        assert there.tolist() == live.tolist(), (1, there, live)
        for s in range(segments):
            self._check_segment(s, masks[s * self.segment : (s + 1) * self.segment], asked[s])
            mine = live[live // self.segment == s]
            through = np.bitwise_or.reduce(masks[mine], axis=0)
            for zone in (self._zone[s], self._upper[s // self.fan]):
                assert (zone & through == through).all(), (2, s, zone, through)
            asked_for = np.bitwise_or.reduce(boxes.rec[mine, 0].view(np.uint64), initial=np.uint64(0))
            for interest in (self._asked[s, 0], self._asked_upper[s // self.fan, 0]):
                assert interest & asked_for == asked_for, (4, s, interest, asked_for)
        blocks = self._block[self._block >= 0]
        assert sorted(blocks.tolist()) == list(range(self._blocks)), (3, self._block)

    def _check_segment(self, s: int, masks: U64, asked: Bool) -> None:
        """Check the lines of a segment, whose boxes let the cells of `masks[place, column]` through."""
        assert not _unpacked(self._alive[s : s + 1])[:, self.segment :].any(), (1, s)
        known = self._known[s, : self._many[s]].tolist()
        assert sorted(known) == np.flatnonzero(self._block[s] >= 0).tolist(), (3, s, known, self._block[s])
        assert set(np.flatnonzero(asked)) <= {*known}, (3, s, known, asked)
        for column in known:
            begin = int(self._block[s, column]) * BLOCK
            found = _unpacked(self._lines[begin : begin + BLOCK].reshape(64, WORDS))
            expected = ~masks[:, column] >> np.arange(64, dtype=np.uint64)[:, None] & np.uint64(1)
            assert (found[:, : self.segment] == expected).all(), (1, s, column, found, expected)
            assert not found[:, self.segment :].any(), (1, s, column, found)


def _through(box: CodedBox, cuts: Cuts) -> list[tuple[int, int]]:
    """Return the cells that each condition of a box lets through, by comparing."""
    found = []
    for column, intervals, null in box:
        edges = cuts.cuts[column, : cuts.counts[column]]
        cells = null << 63
        for lo, hi in intervals:
            first, last = (int(np.searchsorted(edges, end, side="right")) for end in (lo, hi))
            cells |= (2 << last) - (1 << first)
        found.append((column, cells))
    return found


def _unpacked(words: U64) -> npt.NDArray[np.uint8]:
    """Return the bits of rows of words."""
    return np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")


def _exactly(column: U64, rows: int) -> U64:
    """Return `column` with `rows` rows, the new ones 0: kernels take its length for the number of segments."""
    if len(column) >= rows:
        return column
    longer = np.zeros((rows, column.shape[1]), np.uint64)
    longer[: len(column)] = column
    return longer
