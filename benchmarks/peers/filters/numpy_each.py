"""NumPy, every change: each is compared with all filters at once.

The program that one writes by hand, with two things that help it most: filters stand by the column of their narrowest
condition, so that all of those are compared without a look-up, and only who passes is compared further; and a row's
last matches are kept, so that old images are not compared again.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.filter_workload import COLUMNS, MOST, Conjunctions
from benchmarks.peers.filters.held_matches import HeldMatches, Hit
from benchmarks.peers.filters.workload import Changes, FilterWorkload
from benchmarks.peers.worker import main
from benchmarks.peers.workload import I64


def narrowest_first(filters: Conjunctions, rows: I64) -> Conjunctions:
    """Return the filters with each one's conditions in the order of how many of `rows` meet them."""
    many = np.full(filters.columns.shape, len(rows) + 1)
    for column in range(COLUMNS):
        which, values = filters.columns == column, np.sort(rows[:, column])
        ends = np.searchsorted(values, filters.hi[which], "right")
        many[which] = ends - np.searchsorted(values, filters.lo[which], "left")
    order = np.argsort(many, axis=1, kind="stable")
    return Conjunctions(*(np.take_along_axis(each, order, axis=1) for each in filters))


class NumpyEach:
    """A change costs O(filters)."""

    whole = False

    def __init__(self, workload: FilterWorkload, folder: Path) -> None:
        self._workload, self._held, self.told = workload, HeldMatches(), 0
        self._told: list[Hit] = []
        filters = narrowest_first(workload.filters, workload.rows)
        self._order = np.argsort(filters.columns[:, 0], kind="stable")
        self._filters = Conjunctions(*(np.ascontiguousarray(each[self._order].T) for each in filters))
        self._starts = np.searchsorted(self._filters.columns[0], np.arange(COLUMNS + 1)).tolist()
        self._passes = np.empty(len(self._order), np.bool_)
        for row, image in enumerate(workload.rows):
            self._held.change(-1, row, self._met(image))

    def _met(self, image: I64) -> list[int]:
        columns, lo, hi = self._filters
        for column, value in enumerate(image):
            part = slice(self._starts[column], self._starts[column + 1])
            np.logical_and(lo[0, part] <= value, value <= hi[0, part], out=self._passes[part])
        left = self._passes.nonzero()[0]
        for j in range(1, MOST):
            asked = columns[j, left]
            values = image[asked]
            left = left[(asked < 0) | ((lo[j, left] <= values) & (values <= hi[j, left]))]
        found: list[int] = self._order[left].tolist()
        return found

    def prepare(self, changes: Changes) -> Changes:
        return changes

    def take(self, prepared: Changes) -> None:
        self._told = []
        for i, (row, image) in enumerate(zip(prepared.row.tolist(), prepared.image, strict=True), prepared.first):
            self._told += self._held.change(i, row, self._met(image))
        self.told += len(self._told)

    def answers(self) -> I64:
        return self._workload.codes(*np.array(self._told, np.int64).reshape(-1, 3).T)

    def close(self) -> None:
        """Nothing was started."""


if __name__ == "__main__":
    main(NumpyEach, FilterWorkload.load)
