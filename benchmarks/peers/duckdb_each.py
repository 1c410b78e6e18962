"""DuckDB, the naive way: after each batch every subscription runs its own statement, prepared once."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.peers.duckdb_set import change, open_database
from benchmarks.peers.worker import main
from benchmarks.peers.workload import I64, NONE, Changes, Workload

ANSWER = "SELECT MIN(price) FROM stock WHERE risk >= ? AND risk <= ?"


class DuckdbEach:
    """One statement a subscription and batch."""

    whole = False

    def __init__(self, workload: Workload, folder: Path) -> None:
        self._database = open_database(workload)
        self._ranges = list(zip(workload.lo.tolist(), workload.hi.tolist(), strict=True))
        self._recompute()

    def _recompute(self) -> None:
        found = [self._database.execute(ANSWER, bounds).fetchall()[0][0] for bounds in self._ranges]
        self._lowest = np.array([NONE if lowest is None else lowest for lowest in found], np.int64)

    def prepare(self, changes: Changes) -> Changes:
        return changes

    def take(self, prepared: Changes) -> None:
        change(self._database, prepared)
        self._recompute()

    def answers(self) -> I64:
        return self._lowest

    def close(self) -> None:
        self._database.close()


if __name__ == "__main__":
    main(DuckdbEach)
