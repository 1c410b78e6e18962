"""Bits: in which cells of its columns each box of an index of filters cannot hold.

Boxes stand in segments. A segment has, for each column that one of its boxes asks for, a block of 64 lines, one a cell,
and a line a bit a box; a line more for each column says which boxes a change of it is of interest to. A zone says for
every column which cells at least one box of the segment lets through. Of 64 segments there is that by cell, too, a bit
a segment: an AND over a row's cells, one a column, leaves the segments that have to be looked at.

    segment of 4 boxes    a = 3     a in 3..9, b < 5     a > 7     c IS NULL         cells of a: up to 2, 3..7, 8 and on
    block of a, line 0    1         1                    1         0                 no box with a condition on a
                line 1    0         0                    1         0                 holds below 3: but the last one
                line 2    1         0                    0         0                 asks for nothing there, so the
    zone of a             cells 0, 1, 2 and NULL                                     zone lets every cell through

Invariants (`check`): 1 a bit is set if and only if a box is at the place and does not let the line's cell through;
alive are just the places of boxes, and a box is in just the lines of what is of interest to it. 2 A zone lets through
what its boxes do; gates are zones turned about. 3 A column has at most one block in a segment, and has one where a box
asks for it; blocks are numbered without a gap. 4 A segment cares for all that one of its boxes is interested in.
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
from state.filter_kernels import BLOCK, F64, INTEREST, U64, WORDS
from state.grown_column import grown

_ALL = 2**64 - 1


class FilterBits:
    """The bits of boxes in segments of `segment` places, for rows of `columns`."""

    def __init__(self, columns: int, segment: int) -> None:
        self.segment = segment
        self.clear(columns)

    def clear(self, columns: int) -> None:
        """Forget all bits; rows have `columns` columns from now on."""
        self._columns = columns
        self._zone: U64 = np.zeros((0, columns), np.uint64)
        self._gate: U64 = np.zeros((0, columns, 64), np.uint64)
        self._block: I32 = np.zeros((0, columns), np.int32)
        self._known: I32 = np.zeros((0, columns), np.int32)
        self._many: I32 = np.zeros(0, np.int32)
        self._alive: U64 = np.zeros((0, WORDS), np.uint64)
        self._heard: U64 = np.zeros((0, 1, WORDS), np.uint64)
        self._cares: U64 = np.zeros((0, 1), np.uint64)
        self._lines: U64 = np.zeros(0, np.uint64)
        self._blocks = self._segments = 0

    @property
    def shift(self) -> int:
        """The number of a place's segment is the place, shifted by so many bits."""
        return self.segment.bit_length() - 1

    @property
    def arrays(self) -> tuple[Any, ...]:
        """What `match` takes of them: shift, how many segments there are, and columns."""
        columns = (self._lines, self._block, self._known, self._many, self._alive.reshape(-1), self._heard.reshape(-1))
        return (self.shift, self._segments, self._gate, self._cares, *columns)

    @property
    def nbytes(self) -> int:
        """Bytes of all columns."""
        return self._zone.nbytes + sum(column.nbytes for column in self.arrays[2:])

    def mark(self, places: I64, boxes: FilterBoxes, cuts: Cuts) -> None:
        """Make the bits of boxes that are new at their places. Cost: 0.3 us each, 20 us a call."""
        segments = -(-boxes.places // self.segment)
        self._widen(segments, int(np.bitwise_or.reduce(boxes.rec[places, INTEREST], initial=0)) % 2**64)
        self._blocks = kernels.learn(
            places, self.shift, boxes.rec, boxes.rest, self._block, self._known, self._many, self._blocks,
            boxes.scratch,
        )  # fmt: skip
        self._lines = grown(self._lines, self._blocks * BLOCK)
        self._write(places, boxes, cuts, on=True)

    def _widen(self, segments: int, interest: int) -> None:
        """Make room for so many segments, and for boxes of this interest."""
        more, groups = interest.bit_length() - self._cares.shape[1], -(-segments // 64)
        if more > 0:
            self._cares = np.pad(self._cares, ((0, 0), (0, more)))
            self._heard = np.pad(self._heard, ((0, 0), (0, more), (0, 0)))
        if groups > len(self._gate):
            fresh = (0, groups - len(self._gate))
            self._gate = np.pad(self._gate, (fresh, (0, 0), (0, 0)))
            self._cares = np.pad(self._cares, (fresh, (0, 0)))
        self._segments = max(self._segments, segments)
        self._alive, self._heard = grown(self._alive, segments), grown(self._heard, segments)
        self._zone = grown(self._zone, segments)
        self._block, self._known = grown(self._block, segments, -1), grown(self._known, segments)
        self._many = grown(self._many, segments)

    def rank(self, share: F64) -> None:
        """Let segments look first at the columns that the fewest boxes let rows by `share` through in.

        Whatever the order is, the same boxes are left. Cost: 10 us a segment.
        """
        kernels.rank(self._block, self._known, self._many, self._lines, share, np.empty(self._columns))

    def unmark(self, places: I64, boxes: FilterBoxes, cuts: Cuts) -> None:
        """Clear the bits of boxes that are about to go; zones stay as wide as they were."""
        self._write(places, boxes, cuts, on=False)

    def _write(self, places: I64, boxes: FilterBoxes, cuts: Cuts, on: bool) -> None:
        kernels.mark(
            places, self.shift, on, boxes.rec, boxes.rest, boxes.bounds, cuts.cuts, cuts.counts, self._block,
            self._lines, self._alive, self._heard, self._zone, self._gate, self._cares, boxes.scratch,
        )  # fmt: skip

    def check(self, boxes: FilterBoxes, cuts: Cuts) -> None:
        """Check the invariants of the module's header. Raises AssertionError. Cost: O(places * cells * columns)."""
        live = boxes.live()
        segments = self._segments
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
            assert (self._zone[s] & through == through).all(), (2, s, self._zone[s], through)
            self._check_interest(s, mine, boxes.rec[mine, INTEREST].view(np.uint64))
        self._check_gates()
        blocks = self._block[self._block >= 0]
        assert sorted(blocks.tolist()) == list(range(self._blocks)), (3, self._block)

    def _check_interest(self, s: int, mine: I64, interest: U64) -> None:
        """Check who hears of what in a segment, whose boxes are at the places `mine`."""
        bits = np.arange(self._cares.shape[1], dtype=np.uint64)
        expected = np.zeros((len(bits), WORDS * 64), np.uint8)
        expected[:, mine % self.segment] = interest >> bits[:, None] & np.uint64(1)
        assert (_unpacked(self._heard[s]) == expected).all(), (1, s, self._heard[s], expected)
        cares = self._cares[s // 64] >> np.uint64(s % 64) & np.uint64(1)
        assert (cares >= expected.any(axis=1)).all(), (4, s, cares)
        assert not (interest >> np.uint64(1) >> bits[-1]).any(), (4, s, interest)

    def _check_gates(self) -> None:
        """Check that gates are the zones, by cell."""
        zones = np.zeros((len(self._gate), 64, self._columns), np.uint64)
        zones.reshape(-1, self._columns)[: self._segments] = self._zone[: self._segments]
        cells = zones[..., None] >> np.arange(64, dtype=np.uint64) & np.uint64(1)
        turned = np.bitwise_or.reduce(cells << np.arange(64, dtype=np.uint64)[:, None, None], axis=1)
        assert (self._gate == turned).all(), (2, self._gate, zones)

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
