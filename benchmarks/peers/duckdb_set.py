"""DuckDB, recomputation after each batch: one statement for all subscriptions.

Both conditions of the range stand in the join's ON, so that DuckDB runs its piecewise merge join; rows change by MERGE.
The optimizer is off: DuckDB 2.0.1 gave a wrong `ORDER BY .. LIMIT 1` with it.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from benchmarks.peers.worker import main
from benchmarks.peers.workload import I64, NONE, Changes, Workload

ANSWERS = """
SELECT s.number, MIN(t.price) AS lowest
FROM subscription s JOIN stock t ON t.risk >= s.lo AND t.risk <= s.hi
GROUP BY s.number
"""
CHANGE = """
MERGE INTO stock USING change ON stock.row = change.row
WHEN MATCHED THEN UPDATE SET price = change.price
"""


def open_database(workload: Workload) -> duckdb.DuckDBPyConnection:
    """Return a database in memory with both tables filled."""
    database = duckdb.connect()
    database.execute("PRAGMA disable_optimizer")
    rows, numbers = np.arange(len(workload.risk)), np.arange(len(workload.lo))
    database.register("rows", pa.table({"row": rows, "risk": workload.risk, "price": workload.price}))
    database.register("asked", pa.table({"number": numbers, "lo": workload.lo, "hi": workload.hi}))
    database.execute("CREATE TABLE stock AS SELECT * FROM rows")
    database.execute("CREATE TABLE subscription AS SELECT * FROM asked")
    return database


def change(database: duckdb.DuckDBPyConnection, changes: Changes) -> None:
    """Apply a batch, of which only each row's last change counts."""
    last = changes.last()
    database.register("change", pa.table({"row": last.row, "price": last.price}))
    database.execute(CHANGE)
    database.unregister("change")


class DuckdbSet:
    """Uses all cores."""

    whole = False

    def __init__(self, workload: Workload, folder: Path) -> None:
        self._database = open_database(workload)
        self._lowest = np.empty(len(workload.lo), np.int64)
        self._recompute()

    def _recompute(self) -> None:
        found = self._database.execute(ANSWERS).fetchnumpy()
        self._lowest.fill(NONE)
        self._lowest[found["number"]] = found["lowest"]

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
    main(DuckdbSet)
