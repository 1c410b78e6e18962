"""tidewire's matching alone: `state.filter_index` takes both images of every change, as an edge does, and names hits."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.filter_workload import COLUMNS
from benchmarks.peers.filters.workload import Changes, FilterWorkload
from benchmarks.peers.worker import main
from benchmarks.peers.workload import I64
from state.filter_columns import FilterColumns
from state.filter_index import FilterIndex, Hits, warm


class Images(NamedTuple):
    """A batch as it reaches an edge."""

    old: I64
    new: I64
    first: int


class TidewireIndex:
    """One thread. Every column is of interest, as in `SELECT *`."""

    whole = False

    def __init__(self, workload: FilterWorkload, folder: Path) -> None:
        warm()
        self._workload, self._rows, self.told = workload, workload.rows.copy(), 0
        n = len(workload.filters.columns)
        self._index = FilterIndex(COLUMNS)
        interest = np.full(n, (1 << COLUMNS) - 1, np.uint64)
        self._index.insert_all(FilterColumns.of_intervals(np.arange(n), interest, *workload.filters))
        self._index.relay((self._rows, np.ones(self._rows.shape, np.bool_)))
        self._first, self._hits = 0, self._match(self._rows[:0], self._rows[:0])

    def _match(self, old: I64, new: I64) -> Hits:
        valid, there = np.ones(old.shape, np.bool_), np.ones(len(old), np.bool_)
        return self._index.match(old, valid, there, new, valid, there)

    def prepare(self, changes: Changes) -> Images:
        """Return the images that the shard would have sent."""
        old = np.empty_like(changes.image)
        for i, row in enumerate(changes.row.tolist()):
            old[i] = self._rows[row]
            self._rows[row] = changes.image[i]
        return Images(old, changes.image, changes.first)

    def take(self, prepared: Images) -> None:
        self._first, self._hits = prepared.first, self._match(prepared.old, prepared.new)
        self.told += len(self._hits.slot)

    def answers(self) -> I64:
        change, slot, kind = self._hits
        return self._workload.codes(change.astype(np.int64) + self._first, slot, kind.astype(np.int64))

    def close(self) -> None:
        """Nothing was started."""


if __name__ == "__main__":
    main(TidewireIndex, FilterWorkload.load)
