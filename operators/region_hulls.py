"""Hulls: of each region an interval a column, in places of a table's sorted values; which rows some of them may hold.

    values of `1.price`, sorted       3 5 5 8 9          price BETWEEN 4 AND 8   ->   [1, 4)
    place of a row with 8                   3            inside

Places are small and evenly spaced whatever the values are, so that widths compare, and to say which rows any of many
regions may hold is one pass over the places. What a region asks beside one interval a column only makes its hull too
wide: several intervals, several boxes. NULL has the place behind all values.
Cost: O(n log n) a column, once; 0.5 us a region and column, and 5 us a region that compares texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from catalog.query.shape import Region
from operators.coded_terms import CodedRows
from operators.row_search import coded_filters
from state.change_batch import I64, Bool
from state.filter_columns import COUNT, NULL, FilterColumns
from state.order_code import INT64_MAX, INT64_MIN


class ColumnPlaces:
    """The values of one column of a table, sorted. `of_rows`: int64[rows], the place of each; `count` that of NULL."""

    def __init__(self, table: CodedRows, column: int) -> None:
        codes, valid = table.codes(column)
        self._sorted = np.sort(codes[valid])
        self.count = len(self._sorted)
        self.of_rows = np.where(valid, np.searchsorted(self._sorted, codes), self.count)

    def between(self, lo: I64, hi: I64) -> tuple[I64, I64]:
        """Return the places [first, stop) of the values from lo[i] to hi[i]."""
        return np.searchsorted(self._sorted, lo), np.searchsorted(self._sorted, hi, side="right")


@dataclass(frozen=True, slots=True)
class Hull:
    """What regions ask of a column: the places [first, stop) of each, and whether it may hold NULL."""

    places: ColumnPlaces
    first: I64
    stop: I64
    null: Bool

    def take(self, which: I64) -> Hull:
        """Return the hull of some of the regions."""
        return Hull(self.places, self.first[which], self.stop[which], self.null[which])

    def may_hold(self, rows: I64) -> Bool:
        """Return which of `rows` some region may hold."""
        count = self.places.count
        inside = self.first < self.stop
        edges = np.bincount(self.first[inside], minlength=count + 1) - np.bincount(
            self.stop[inside], minlength=count + 1
        )
        held = np.cumsum(edges) > 0
        held[count] = self.null.any()
        return held[self.places.of_rows[rows]]

    @property
    def widths(self) -> I64:
        """How many rows each region may hold, NULL left out."""
        return np.maximum(self.stop - self.first, 0)

    @property
    def narrowness(self) -> float:
        """The mean width of a region in proportion to all that they hold together: what a division would narrow."""
        reach = int(self.stop.max(initial=0)) - int(self.first.min(initial=self.places.count))
        return float(self.widths.mean()) / reach if reach > 0 else 1.0


def intervals_of(rows: CodedRows, regions: Sequence[Region]) -> dict[int, tuple[I64, I64, Bool]]:
    """Return for each column that some region compares the least and the greatest code of each, and whether NULL too.

    A region that does not compare the column, in each of its boxes, has all codes and NULL; one that nothing can meet
    has none. Raises ValueError for unsound terms.
    """
    tested, parts = coded_filters(rows, regions)
    shape = (len(tested), len(regions))
    lo, hi = np.full(shape, INT64_MAX), np.full(shape, INT64_MIN)
    null, boxes, compared = np.zeros(shape, np.bool_), np.zeros(len(regions), np.int64), np.zeros(shape, np.int64)
    for part in parts:
        boxes[part.slots] = np.diff(part.boxes)
        box = np.repeat(np.arange(len(part.starts) - 1), np.diff(part.starts))
        where = part.conditions[:, 0] & 0xFFFF, np.repeat(part.slots, np.diff(part.boxes))[box]
        least, greatest = _ends(part)
        np.minimum.at(lo, where, least)
        np.maximum.at(hi, where, greatest)
        np.logical_or.at(null, where, part.conditions[:, 0] >> NULL & 1 == 1)
        np.add.at(compared, where, 1)
    free = compared < boxes
    lo[free], hi[free], null[free] = INT64_MIN, INT64_MAX, True
    return {column: (lo[i], hi[i], null[i]) for i, column in enumerate(tested)}


def _ends(filters: FilterColumns) -> tuple[I64, I64]:
    """Return the least and the greatest code of each condition."""
    count, lo, hi = filters.conditions[:, 0] >> COUNT, filters.conditions[:, 1].copy(), filters.conditions[:, 2].copy()
    several = np.flatnonzero(count > 1)
    first = filters.conditions[several, 1]
    lo[several], hi[several] = filters.bounds[first, 0], filters.bounds[first + count[several] - 1, 1]
    lo[count == 0], hi[count == 0] = INT64_MAX, INT64_MIN
    return lo, hi
