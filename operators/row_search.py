"""Which stored rows meet which filters: by a scan for each filter, or by an index of the filters for all rows.

A scan narrows the rows condition by condition: of n rows it looks at all for the first, and at what is left for the
others. An index of the filters (state/filter_index.py) has every row judged once for all of them, which pays from some
thousands on. Both find the same, in the order of the stored rows.

Cost: a scan 2 ns a row, and 5 ns for each row that is left after the first condition; 20 us a filter besides. The
index: 5 us a filter to make, and what it says of a match for each row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import eq
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from catalog.bulk.term_columns import TermColumns
from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import encode_terms
from catalog.query.shape import AnyShape, Region
from operators.coded_terms import CodedRows
from state.change_batch import I64, Bool
from state.filter_columns import CodedBox, FilterColumns
from state.filter_index import FilterIndex

MANY = 2_000
"""From so many filters on they are found by an index."""
_ROWS_AT_ONCE = 4_096
_FEW_INTERVALS = 4
_NOTHING = encode_terms([])
_Number = TypeVar("_Number", np.int64, np.uint64)


@dataclass(frozen=True, slots=True)
class Found:
    """The rows that meet each of k filters: those of filter i are rows[starts[i]:starts[i + 1]], ascending."""

    starts: I64
    rows: I64

    @property
    def counts(self) -> I64:
        """How many rows meet each filter."""
        return np.diff(self.starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def only(self, which: Sequence[int]) -> Found:
        """Return what some of the filters found, in the order of `which`.

        Cost: 50 ns a filter for all of them as they stand, else 0.5 us a filter and a copy.
        """
        if len(which) == len(self) and all(map(eq, which, range(len(self)))):
            return self
        ends = self.starts.tolist()
        return _joined([self.rows[ends[i] : ends[i + 1]] for i in which])

    def sums(self, values: npt.NDArray[_Number]) -> npt.NDArray[_Number]:
        """Return the sum of the values of each filter's rows, which `values` has one for each of; modulo 2**64."""
        totals = np.zeros(len(values) + 1, values.dtype)
        np.cumsum(values, out=totals[1:])
        return totals[self.starts[1:]] - totals[self.starts[:-1]]


def search(rows: CodedRows, regions: Sequence[Region], many: int = MANY) -> Found:
    """Return the stored rows that meet each of `regions`, all of filters. Raises ValueError for unsound terms."""
    if len(regions) >= max(many, 1) and len(rows):
        return _by_index(rows, regions)
    return _joined([scan(rows, its_boxes) for its_boxes in rows.boxes(regions)])


def _joined(found: Sequence[I64]) -> Found:
    return Found(np.cumsum([0, *map(len, found)]), np.concatenate([np.zeros(0, np.int64), *found]))


def scan(rows: CodedRows, boxes: Sequence[CodedBox]) -> I64:
    """Return the rows that are in any of the boxes, ascending. Cost: see the module's header."""
    found = [_in_box(rows, box) for box in boxes]
    if len(found) == 1:
        return found[0]
    return np.unique(np.concatenate([np.zeros(0, np.int64), *found]))


def _in_box(rows: CodedRows, box: CodedBox) -> I64:
    left: I64 | None = None
    for column, intervals, null in box:
        codes, valid = rows.codes(column)
        if left is None:
            left = np.flatnonzero(_holds(codes, valid, intervals, null))
        else:
            left = left[_holds(codes[left], valid[left], intervals, null)]
    return np.arange(len(rows)) if left is None else left


def _holds(codes: I64, valid: Bool, intervals: Sequence[tuple[int, int]], null: bool) -> Bool:
    """Return which values are in one of the intervals, or NULL where `null`."""
    if len(intervals) > _FEW_INTERVALS:
        lows, highs = np.array(intervals, np.int64).T
        place = np.searchsorted(lows, codes, "right") - 1
        inside = (place >= 0) & (codes <= highs[place])
    else:
        inside = np.zeros(len(codes), np.bool_)
        for lo, hi in intervals:
            # The distance from `lo`, modulo 2**64, is at most that of `hi` just for lo <= code <= hi.
            inside |= (codes - np.int64(lo)).view(np.uint64) <= np.uint64(hi - lo)
    inside &= valid
    return inside | ~valid if null else inside


def _by_index(rows: CodedRows, regions: Sequence[Region]) -> Found:
    tested, index = _index_of(rows, regions)
    columns = [rows.codes(column) for column in tested] or [(np.zeros(len(rows), np.int64), np.ones(len(rows), bool))]
    codes, valid = np.stack([c for c, _ in columns], axis=1), np.stack([v for _, v in columns], axis=1)
    hits: list[tuple[I64, I64]] = []
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        part = slice(start, min(start + _ROWS_AT_ONCE, len(rows)))
        here = np.ones(part.stop - start, np.bool_)
        change, slot, _ = index.match(codes[part], valid[part], ~here, codes[part], valid[part], here)
        hits.append((slot.astype(np.int64), change.astype(np.int64) + start))
    slots, where = (np.concatenate(parts) for parts in zip(*hits, strict=True))
    starts = np.zeros(len(regions) + 1, np.int64)
    np.cumsum(np.bincount(slots, minlength=len(regions)), out=starts[1:])
    return Found(starts, where[_by_number(slots)])


def _index_of(rows: CodedRows, regions: Sequence[Region]) -> tuple[list[int], FilterIndex]:
    """Return an index of filters by their places, and which columns of the table its columns are."""
    tested, parts = coded_filters(rows, regions)
    index = FilterIndex(max(len(tested), 1))
    for filters in parts:
        index.insert_all(filters)
    return tested, index


def coded_filters(rows: CodedRows, regions: Sequence[Region]) -> tuple[list[int], tuple[FilterColumns, FilterColumns]]:
    """Return filters over these rows as columns, by their places, and which columns of the table theirs are.

    Those that compare order codes alone are the first part, the others the second; what no row can meet is in neither.
    Cost: 1 us a filter of the first part, 10 us one of the second. Raises ValueError for unsound terms.
    """
    shapes = {id(region.shape): region.shape for region in regions}
    by_shape = [[rows.relation.index(name) for name in _filter(shape).tested] for shape in shapes.values()]
    tested = sorted({column for columns in by_shape for column in columns})
    number = {column: i for i, column in enumerate(tested)}
    numbers = np.full((len(shapes), max(map(len, by_shape), default=0) + 1), -1, np.int64)
    for i, columns in enumerate(by_shape):
        numbers[i, : len(columns)] = [number[column] for column in columns]
    place = {shape: i for i, shape in enumerate(shapes)}
    shape = np.array([place[id(region.shape)] for region in regions], np.int64)
    slots = np.arange(len(regions))
    terms = TermColumns.of([_NOTHING if region.empty else region.terms for region in regions])
    coded = terms.numbered(slots, np.ones(len(regions), np.uint64), numbers, shape)
    left = (~terms.taken).nonzero()[0].tolist()
    boxes = rows.boxes([regions[i] for i in left])
    ranked = [[[(number[c], intervals, null) for c, intervals, null in box] for box in its] for its in boxes]
    return tested, (coded, FilterColumns.of((i, its, (0,)) for i, its in zip(left, ranked, strict=True) if its))


def _filter(shape: AnyShape) -> FilterShape:
    assert isinstance(shape, FilterShape), "only filters are searched for"
    return shape


def _by_number(numbers: I64) -> I64:
    """Return the stable order of numbers below 2**32. Cost: O(n), since NumPy sorts numbers of 16 bits by counting."""
    order = np.argsort((numbers & 0xFFFF).astype(np.uint16), kind="stable")
    high = (numbers >> 16).astype(np.uint16)
    return order[np.argsort(high[order], kind="stable")] if high.any() else order
