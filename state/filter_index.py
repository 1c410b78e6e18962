"""Mismatch bitmaps: which of many filters does a row change leave, enter, or change in?

Problem. A filter is any condition over the columns of a row: `=`, ranges, IN, <>, IS NULL, AND, OR. There may be a
million of them, no two of the same columns, and thousands of row changes a second.
Naive: compare all, 370 us a change at 62,500 filters (NumPy). Counting which conditions a row meets: 60 us at 10,000.

Idea. Do not collect who matches: collect who does *not*, for that is one look-up a column. A column's values are cut
into 63 cells, and NULL is one more; of each cell there is a line of bits, a bit a box, that says "cannot hold if the
value is here". An OR over the row's lines, one a column, leaves the boxes that it may meet; they are looked at exactly.

    box 0   a = 3                  row  a = 3 (cell 1), b = 9 (cell 2), c NULL          0 1 2 3
    box 1   a in 3..9, b < 5                                            a, cell 1       . . X .
    box 2   a > 7                                                       b, cell 2       . X . .
    box 3   c IS NULL                                                   c, cell NULL    . . . .
                                        may hold: 0 and 3               OR              . X X .

A line has 512 bits, so boxes come in *segments* of 512, with lines for the columns that one of them asks for. A *zone*
of a segment has, for every column, the cells that at least one of its boxes lets through; where a value of the row is
in none of them the segment is passed over; which ones are is an AND of bits, too. For that boxes stand beside their
like (`state/box_layout.py`), and cells hold about as many rows each (`state/filter_cuts.py`).

A change is its old and its new image. Boxes that either may meet are candidates, and each is judged on both images:
was, now -> left, entered, stayed within. The images are apart in few columns, so they have most lines in common, and of
the others a box is out where it stands against both. Whom no changed column is of interest to is out before all, by
lines of their own; then come the lines with the most bits, until nobody is left: half of them are not read. The boxes
of one slot are a chain: the first of those that either image meets judges all of them, so that a change says one thing
of a slot.

The lines of many filters fit no cache, those of a segment do. So changes are taken together and judged segment by
segment; their hits are sorted by change at the end, by counting. How many there will be nobody knows before: where they
are too many at once, fewer changes are taken together.

Everything is *laid anew*, lazily before rows go through, when a quarter of the boxes came or went since, when there is
a sample of rows where there was none or a far larger one, or when rows meet more than 64 candidates for each hit (a row
without hits counts as one) over 10,000 changes: values that grow with time leave their cells. If that was in vain the
next look is after twice as many changes.

Invariants (`check`) are those of the parts: `state/filter_boxes.py` has what is asked, exactly, `state/filter_bits.py`
the bits made of it, unless they are due to be made anew.

    | one core, 20 columns, 2 to 5 conditions a filter | cost                                                 |
    | ------------------------------------------------ | ---------------------------------------------------- |
    | change, 62,500 filters, some 2 hits              | see `python -m benchmarks --only filters`            |
    | insert, remove                                   | O(conditions * cells) bits, 1 us; 20 and 5 us a call |
    | lay anew                                         | O(n log n): 2 us a box, 5 at a million               |
    | memory                                           | 64 bytes a box, and a bit a cell and asked column    |

Codes are compared, so what has one code is equal to the index: the caller says by `changed` what it knows of columns
that have no codes, or whose codes say less than their values (`overlay/index/text_codes.py`).
Deviation: the subject-space paper (its Fig. 7) collects mismatches in a hash table a dimension; here they are bits, and
the candidates are exact. Bits by cell are bit-vector packet classification (Lakshman and Stiliadis, 1998); zones are
zone maps. A k-d tree or counting needs a choice of access path a filter; here there is one path, for any condition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from state import box_layout, filter_match
from state import filter_kernels as kernels
from state.box_layout import lay_out
from state.change_batch import I32, I64, Bool
from state.filter_bits import FilterBits
from state.filter_boxes import FilterBoxes
from state.filter_columns import CodedBox, FilterColumns
from state.filter_cuts import ENOUGH, SAMPLE, Cuts, RowSample
from state.filter_kernels import U64, WORDS
from state.filter_match import TOGETHER
from state.order_code import INT64_MAX, INT64_MIN
from state.read_only import read_only

LEFT, ENTERED, WITHIN = 1, 2, 3
"""Kinds of hits; WITHIN says that a column of interest may have changed."""

SEGMENT = 512
HITS = 500_000
"""About the most hits that are found at once."""
_FEWER = 8
_ROOMY = 0.9
"""Part of the room for hits that changes are expected to fill."""
_DUE_PART = 4
_DUE_CANDIDATES = 64
_DUE_CHANGES = 10_000
_ENOUGH_CHANGES = 1_000
_CONSTANTS = 512
"""Boxes whose constants are taken for rows, while there are no rows."""


class Hits(NamedTuple):
    """change: int32[h], ascending.  slot: int64[h].  kind: int8[h], LEFT, ENTERED or WITHIN."""

    change: I32
    slot: I64
    kind: npt.NDArray[np.int8]


class FilterIndex:
    """Filters by slot, over rows of `columns` order codes."""

    def __init__(self, columns: int, segment: int = SEGMENT) -> None:
        """Make an empty index. `segment`, boxes, is 64, 128, 256 or 512."""
        if segment not in (64, 128, 256, 512):
            raise ValueError(f"expected segments of 64, 128, 256 or 512 boxes, got {segment}")
        self._columns = columns
        self._boxes = FilterBoxes()
        self._bits = FilterBits(self._width, segment)
        self._cuts = Cuts.none(self._width)
        self._sample = RowSample(self._width)
        self._turnover = 0
        self._due = False
        self._learned = 0
        self._patience = _DUE_CHANGES
        self._watched = np.zeros(3, np.int64)

    def __len__(self) -> int:
        return len(self._boxes)

    def __contains__(self, slot: int) -> bool:
        return slot in self._boxes

    @property
    def columns(self) -> int:
        """How many columns rows have."""
        return self._columns

    @property
    def nbytes(self) -> int:
        """Bytes of the boxes, and of their bits."""
        return self._boxes.nbytes + self._bits.nbytes

    @property
    def candidates_per_hit(self) -> float:
        """How many boxes were looked at for a hit, since they were laid anew last; a row without hits counts as one."""
        changes, hits, candidates = self._watched.tolist()
        return candidates / max(changes + hits, 1)

    @property
    def crowded(self) -> bool:
        """Whether rows meet too many candidates still, although everything was laid anew for that reason."""
        in_vain = self._patience > _DUE_CHANGES and int(self._watched[0]) >= _ENOUGH_CHANGES
        return in_vain and self.candidates_per_hit > _DUE_CANDIDATES

    def slots(self) -> I64:
        """Return all slots that are in, ascending."""
        return self._boxes.slots()

    def boxes(self, slot: int) -> list[CodedBox]:
        """Return the boxes of a slot, each with its conditions by column; none where it is not in."""
        return [self._boxes.conditions(place) for place in self._boxes.places_of(slot).tolist()]

    def insert(self, slot: int, boxes: Sequence[CodedBox], interest: Iterable[int]) -> None:
        """Put one filter in. Cost: 20 us and 1 us a box, amortised; many at once: `insert_all`.

        Raises ValueError if the slot is in, and for boxes that `FilterColumns.of` refuses.
        """
        self.insert_all(FilterColumns.of([(slot, boxes, interest)]))

    def insert_all(self, filters: FilterColumns) -> None:
        """Put filters in. Cost: 20 us, and 1 to 2 us a box, amortised.

        Raises ValueError if a slot is in or given twice, and for columns that rows do not have.
        """
        asked = filters.conditions[:, 0] & 0xFFFF
        if len(asked) and int(asked.max()) >= self._columns:
            raise ValueError(f"cannot insert filters: expected columns below {self._columns}, got {asked.max()}; widen")
        places = self._boxes.insert(filters, self._cuts)
        self._turn_over(len(places))
        if not self._due:
            self._bits.mark(places, self._boxes, self._cuts)

    def remove(self, slot: int) -> bool:
        """Take a filter out; return whether it was in. Cost: 5 us and 0.5 us a box."""
        if slot not in self._boxes:
            return False
        places = self._boxes.places_of(slot)
        if not self._due:
            self._bits.unmark(places, self._boxes, self._cuts)
        self._boxes.remove(slot, places)
        self._turn_over(len(places))
        return True

    def clear(self) -> None:
        """Take everything out."""
        self._boxes = FilterBoxes()
        self._turnover, self._due = 0, False
        self._bits.clear(self._width)

    def widen(self, columns: int) -> None:
        """Take rows of more columns from now on. Cost: everything is laid anew at the next `match`."""
        if columns <= self._columns:
            return
        self._columns = columns
        self._sample.widen(self._width)
        self._cuts = self._cuts.widened(self._width)
        self._due = True

    def recode(self, column: int, before: I64, after: I64) -> None:
        """Give the ends of intervals of a column other codes, in the same order: what is before[i] becomes after[i].

        `before` ascends; what is not in it stays. The rows that were seen are forgotten, and everything is laid anew.
        """
        boxes = self._boxes
        codes = np.array(before, np.int64), np.array(after, np.int64)
        kernels.recode(boxes.live(), column, *codes, boxes.rec, boxes.rest, boxes.bounds)
        self._sample.clear()
        self._due = True

    def relay(self, sample: tuple[I64, Bool] | None = None) -> None:
        """Lay everything anew, with cuts for rows like those of `sample`: codes and validity, [rows, columns].

        Without a sample: like the rows that were seen, or the filters' constants. `match` does it when it is due.
        Cost: 2 us a box, 5 at a million.
        """
        if sample is not None:
            self._sample.clear()
            self._sample.take(*sample, np.ones(len(sample[0]), np.bool_))
        self._learned = len(self._sample) if sample is not None or len(self._sample) >= ENOUGH else 0
        self._cuts = Cuts.of(*(self._sample.rows if self._learned else self._constants()))
        self._boxes.move(self._order(), self._cuts)
        self._bits.clear(self._width)
        self._bits.mark(np.arange(self._boxes.places), self._boxes, self._cuts)
        self._bits.rank(self._cuts.share)
        self._turnover, self._due = 0, False
        self._watched[:] = 0

    def match(
        self, old: I64, old_valid: Bool, had: Bool, new: I64, new_valid: Bool, has: Bool, changed: U64 | None = None
    ) -> Hits:
        """Return what m changes mean to whom, in the order of changes: all that `matches` yields."""
        pieces = [*self.matches(old, old_valid, had, new, new_valid, has, changed)] or [_room(0)]
        change, slot, kind = (np.concatenate(column) for column in zip(*pieces, strict=True))
        return Hits(change, slot, kind)

    def matches(
        self,
        old: I64,
        old_valid: Bool,
        had: Bool,
        new: I64,
        new_valid: Bool,
        has: Bool,
        changed: U64 | None = None,
        most: int = HITS,
    ) -> Iterator[Hits]:
        """Yield what m changes mean to whom, in the order of changes: the hits of some changes at a time, if any.

        old, new: int64[m, columns], the codes of the images; what is not valid is NULL. had, has: bool[m], whether
        there is an old and a new row. changed: uint64[m], bits c & 63 of columns that changed, whatever their codes
        say; what codes say need not be in it. most: hits at a time; where one change has more they are more, too.
        Cost: see the module's header.
        """
        m = len(had)
        if not len(self) or not m:
            return
        if not self._columns:
            old = new = np.zeros((m, 1), np.int64)
            old_valid = new_valid = np.zeros((m, 1), np.bool_)
        self._sample.take(new, new_valid, has)
        self._settle()
        told = np.zeros(m, np.uint64) if changed is None else changed
        rows: list[npt.NDArray[Any]] = [old, old_valid, had, new, new_valid, has, told]
        yield from self._run([read_only(column) for column in rows], most)

    def check(self) -> None:
        """Check the invariants of the parts. Raises AssertionError. Cost: O(boxes * cells * columns)."""
        self._boxes.check()
        self._cuts.check()
        if not self._due:
            self._bits.check(self._boxes, self._cuts)

    @property
    def _width(self) -> int:
        """Columns of the arrays: kernels look at the first whether it is asked for or not."""
        return max(self._columns, 1)

    def _turn_over(self, boxes: int) -> None:
        """Count boxes that came or went; a quarter of all, but not of a few, is reason to lay them anew."""
        self._turnover += boxes
        few = self._bits.segment // 8
        if self._turnover > max(few, self._boxes.boxes // _DUE_PART):
            self._due = True
            self._patience = _DUE_CHANGES

    def _settle(self) -> None:
        """Lay everything anew where that is due, or where too many candidates are looked at."""
        changes, hits, candidates = self._watched.tolist()
        if changes >= self._patience:
            self._watched[:] = 0
            if candidates > _DUE_CANDIDATES * (changes + hits):
                self._due = True
                self._patience *= 2
        if self._due or self._wiser:
            self.relay()

    @property
    def _wiser(self) -> bool:
        """Whether there is a far larger sample of rows than everything was laid out for."""
        enough = SAMPLE if self._learned else ENOUGH
        return self._learned < SAMPLE // 2 and len(self._sample) >= enough

    def _constants(self) -> tuple[I64, Bool]:
        """Return the ends of intervals as if they were rows; a column of few of them has them several times."""
        boxes = self._boxes
        places = boxes.live()
        ends: list[list[int]] = [[] for _ in range(self._width)]
        for place in places[:: -(-len(places) // _CONSTANTS) or 1].tolist():
            for column, intervals, _ in boxes.conditions(place):
                ends[column] += [end for pair in intervals for end in pair if INT64_MIN < end < INT64_MAX]
        rows = max(map(len, ends))
        codes, valid = np.zeros((rows, self._width), np.int64), np.zeros((rows, self._width), np.bool_)
        for c, values in enumerate(ends):
            if values:
                codes[:, c], valid[:, c] = np.resize(np.array(values, np.int64), rows), True
        return codes, valid

    def _order(self) -> I64:
        """Return the places of all boxes in the order in which they should stand."""
        boxes, cuts, places = self._boxes, self._cuts, self._boxes.live()
        _, starts = boxes.asked(places)
        columns, masks = np.empty(starts[-1], np.int64), np.empty(starts[-1], np.uint64)
        kernels.masks_of(
            places, boxes.rec, boxes.rest, boxes.bounds, cuts.cuts, cuts.counts, boxes.scratch, columns, masks
        )
        return places[lay_out(starts, columns, masks, cuts.share, self._bits.segment)]

    def _run(self, rows: Sequence[npt.NDArray[Any]], most: int) -> Iterator[Hits]:
        """Yield the hits of changes, the columns of `filter_match.match`, about `most` at a time."""
        boxes, m, width = self._boxes, len(rows[0]), self._width
        cells = self._cuts.cells(rows[0], rows[1]), self._cuts.cells(rows[3], rows[4])
        kept = (boxes.rec, boxes.rest, boxes.bounds, boxes.first, boxes.following)
        scratch = (
            np.empty(TOGETHER, np.uint64), np.empty((TOGETHER, width + 1), np.int32),
            np.empty((64, TOGETHER), np.int32), np.empty(64, np.int64), np.empty(WORDS, np.uint64),
            np.empty(64 * WORDS, np.int64),
        )  # fmt: skip
        out = _room(min(max(most, len(self)), m * len(self)))
        begin, together = 0, self._fitting(most)
        while begin < m:
            end, count, looked = filter_match.match(
                *rows, *cells, *self._bits.arrays, *kept, begin, together, *out, *scratch
            )
            if end == begin:
                together = max(together // _FEWER, 1)
                continue
            hits = _room(count)
            found = [read_only(column[:count]) for column in out]
            filter_match.in_order(*found, begin, np.zeros(end - begin, np.int64), *hits)
            self._watched += (end - begin, count, looked)
            begin = end
            together = min(together, self._fitting(most))
            if count:
                yield hits

    def _fitting(self, most: int) -> int:
        """Return how many changes to take together: so many that `most` hits do if they have as many as those before.

        What does not fit is done again, and costs as much as what does.
        """
        changes, hits, _ = self._watched.tolist()
        return min(max(int(_ROOMY * most * changes / hits), 1), TOGETHER) if hits else TOGETHER


def _room(hits: int) -> Hits:
    return Hits(np.empty(hits, np.int32), np.empty(hits, np.int64), np.empty(hits, np.int8))


def warm() -> None:
    """Compile or load the kernels, and refuse to compile them again. Cost: 15 s the first time on a machine."""
    index = FilterIndex(2, segment=64)
    box = [(0, [(1, 2)], False), (1, [(1, 1), (3, 3)], True)]
    index.insert_all(FilterColumns.of([(slot, [box], [0]) for slot in range(65)]))
    index.recode(0, np.array([1]), np.array([0]))
    codes, there = np.zeros((1, 2), np.int64), np.ones((1, 2), np.bool_)
    index.match(codes, there, there[:, 0], codes + 1, there, there[:, 0])
    index.insert(65, [box], [0])
    index.remove(0)
    for kernel in (*kernels.ENTRIES, *filter_match.ENTRIES, *box_layout.ENTRIES):
        if hasattr(kernel, "disable_compile"):
            kernel.disable_compile()
