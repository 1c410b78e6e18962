"""DuckDB: one statement a batch joins the rows' new images with the table of filters.

Each image of a batch is a row of the join, so that every change is told. A filter stands in the part of the column of
its narrowest condition: where that is `=`, the part is a hash join; where it is a range, both its bounds stand in ON, for
the piecewise merge join. All other conditions follow in the same ON, unbounded where a filter has none. A row's last
matches are kept in Python: old images are not joined again. All cores.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from benchmarks.filter_workload import CATEGORICAL, COLUMNS
from benchmarks.peers.filters.held_matches import HeldMatches, Hit
from benchmarks.peers.filters.numpy_each import narrowest_first
from benchmarks.peers.filters.workload import Changes, FilterWorkload
from benchmarks.peers.worker import main
from benchmarks.peers.workload import I64

LEAST, GREATEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


def statement(parts: list[int]) -> str:
    """Return the statement that joins images with the filters of these columns."""
    return " UNION ALL ".join(_part(column) for column in parts) + " ORDER BY place, number"


def _part(column: int) -> str:
    others = [f"i.c{c} BETWEEN f.lo{c} AND f.hi{c}" for c in range(COLUMNS) if c != column]
    own = f"i.c{column} = f.lo{column}" if column < CATEGORICAL else f"i.c{column} >= f.lo{column}"
    own += "" if column < CATEGORICAL else f" AND i.c{column} <= f.hi{column}"
    return f"SELECT i.place, f.number FROM image i JOIN filter{column} f ON {own} AND {' AND '.join(others)}"


class DuckdbBatch:
    """A batch costs one join."""

    whole = False

    def __init__(self, workload: FilterWorkload, folder: Path) -> None:
        self._workload, self._held, self.told = workload, HeldMatches(), 0
        self._told: list[Hit] = []
        self._database = duckdb.connect()
        self._statement = statement(self._fill())
        for start in range(0, len(workload.rows), workload.batch):
            number = np.arange(start, min(start + workload.batch, len(workload.rows)))
            self.take(Changes(number, workload.rows[number]))
        self._told, self.told = [], 0

    def _fill(self) -> list[int]:
        """Make the parts of the table; return their columns."""
        filters = self._workload.filters
        narrowest = narrowest_first(filters, self._workload.rows).columns[:, 0]
        n = len(narrowest)
        lo, hi = np.full((n, COLUMNS), LEAST), np.full((n, COLUMNS), GREATEST)
        row, place = np.nonzero(filters.columns >= 0)
        lo[row, filters.columns[row, place]] = filters.lo[row, place]
        hi[row, filters.columns[row, place]] = filters.hi[row, place]
        parts: list[int] = np.unique(narrowest).tolist()
        for column in parts:
            of = np.flatnonzero(narrowest == column)
            bounds = {f"lo{c}": lo[of, c] for c in range(COLUMNS)} | {f"hi{c}": hi[of, c] for c in range(COLUMNS)}
            self._database.register("part", pa.table({"number": of} | bounds))
            self._database.execute(f"CREATE TABLE filter{column} AS SELECT * FROM part")
            self._database.unregister("part")
        return parts

    def prepare(self, changes: Changes) -> Changes:
        return changes

    def take(self, prepared: Changes) -> None:
        values = {f"c{c}": np.ascontiguousarray(prepared.image[:, c]) for c in range(COLUMNS)}
        self._database.register("image", pa.table({"place": np.arange(len(prepared))} | values))
        found = self._database.execute(self._statement).fetchnumpy()
        self._database.unregister("image")
        ends = np.searchsorted(found["place"], np.arange(len(prepared) + 1)).tolist()
        numbers, self._told = found["number"].tolist(), []
        for i, row in enumerate(prepared.row.tolist()):
            self._told += self._held.change(prepared.first + i, row, numbers[ends[i] : ends[i + 1]])
        self.told += len(self._told)

    def answers(self) -> I64:
        return self._workload.codes(*np.array(self._told, np.int64).reshape(-1, 3).T)

    def close(self) -> None:
        self._database.close()


if __name__ == "__main__":
    main(DuckdbBatch, FilterWorkload.load)
