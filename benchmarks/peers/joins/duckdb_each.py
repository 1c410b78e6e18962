"""DuckDB: after each publication one statement finds all joined rows of all subscriptions, and what differs is told.

The table of subscriptions stands in the join, so that a publication costs one statement, not one a subscription. All
cores; `PRAGMA disable_optimizer` is not set, since without it the join of ranges is a product. What is told is what
NumPy recomputes.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from benchmarks.peers.joins.workload import Changes, JoinWorkload, hashed, summed
from benchmarks.peers.worker import main
from benchmarks.peers.workload import I64

ANSWERS = (
    "SELECT q.number, r.id, r.v, s.id, s.v FROM asked q "
    "JOIN r ON r.x >= q.lo0 AND r.x <= q.hi0 JOIN s ON r.k = s.k AND s.x >= q.lo1 AND s.x <= q.hi1"
)


class DuckdbEach:
    """A publication costs one join of everything."""

    whole = False

    def __init__(self, workload: JoinWorkload, folder: Path) -> None:
        self._database = duckdb.connect()
        ids = np.arange(workload.x.shape[1])
        for i, table in enumerate("rs"):
            rows = pa.table({"id": ids, "k": ids % workload.keys, "x": workload.x[i], "v": workload.v[i]})
            self._create(table, rows)
        bounds = {f"{name}{i}": each[:, i] for name, each in workload.asked._asdict().items() for i in (0, 1)}
        self._create("asked", pa.table({"number": np.arange(len(workload.asked.lo)), **bounds}))
        self._told, self.told = np.zeros((0, 3), np.int64), 0
        self._held = self._recompute()

    def _create(self, table: str, rows: pa.Table) -> None:
        self._database.register("loaded", rows)
        self._database.execute(f"CREATE TABLE {table} AS SELECT * FROM loaded")
        self._database.unregister("loaded")

    def _recompute(self) -> tuple[I64, I64]:
        """Return of each joined row whose it is, and its hash."""
        number, *row = self._database.execute(ANSWERS).fetchnumpy().values()
        return np.asarray(number, np.int64), hashed(*(np.asarray(each, np.int64) for each in row))

    def prepare(self, changes: Changes) -> Changes:
        return changes

    def take(self, prepared: Changes) -> None:
        told = []
        columns = (prepared.table, prepared.row, prepared.x, prepared.v)
        for i, (table, row, x, v) in enumerate(zip(*(each.tolist() for each in columns), strict=True)):
            self._database.execute(f"UPDATE {'rs'[table]} SET x = ?, v = ? WHERE id = ?", [x, v, row])
            before, self._held = self._held, self._recompute()
            number = np.concatenate([before[0], self._held[0]])
            hashes = np.concatenate([-before[1], self._held[1]])
            told.append(summed(np.full(len(number), prepared.first + i), number, hashes))
        self._told = np.concatenate(told)
        self.told += len(self._told)

    def answers(self) -> I64:
        return self._told.ravel()

    def close(self) -> None:
        self._database.close()


if __name__ == "__main__":
    main(DuckdbEach, JoinWorkload.load)
