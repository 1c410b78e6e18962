"""DuckDB, recomputation after each batch: the chain, and all questions joined to its last view, in one statement.

All cores. The optimizer is on: without it the joins are products. The views are views of DuckDB, with the very texts
that tidewire is given.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from benchmarks.peers.views.workload import AVAILABLE, CHEAPEST, TOTAL, Changes, ViewWorkload
from benchmarks.peers.worker import main
from benchmarks.peers.workload import I64, NONE

ANSWERS = (
    "SELECT q.number, MIN(c.fare) AS lowest FROM asked q "
    "JOIN cheapest c ON c.dest = q.dest AND c.seats_left >= q.lo AND c.seats_left <= q.hi GROUP BY q.number"
)
CHANGE = (
    "UPDATE flights SET fare = fares.fare FROM fares WHERE flights.flight = fares.flight; "
    "DELETE FROM booked WHERE id IN (SELECT id FROM ended); INSERT INTO booked SELECT * FROM came"
)
Tables = dict[str, pa.Table]


class DuckdbChain:
    """A batch costs the whole chain, and the answers of all."""

    whole = False

    def __init__(self, workload: ViewWorkload, folder: Path) -> None:
        self._bookings, self._count = workload.bookings, len(workload.asked.dest)
        self._database = duckdb.connect()
        self._create("flights", {"flight": np.arange(len(workload.flights.dest)), **workload.flights._asdict()})
        held = np.arange(workload.held)
        self._create("booked", {"id": held} | {name: c[held] for name, c in workload.bookings._asdict().items()})
        self._create("asked", {"number": np.arange(self._count), **workload.asked._asdict()})
        for name, query in (("total", TOTAL), ("available", AVAILABLE), ("cheapest", CHEAPEST)):
            self._database.execute(f"CREATE VIEW {name} AS {query}")
        self._lowest = self._recompute()

    def _create(self, table: str, columns: dict[str, I64]) -> None:
        self._database.register("loaded", pa.table(columns))
        self._database.execute(f"CREATE TABLE {table} AS SELECT * FROM loaded")
        self._database.unregister("loaded")

    def _recompute(self) -> I64:
        found = self._database.execute(ANSWERS).fetchnumpy()
        lowest = np.full(self._count, NONE, np.int64)
        lowest[found["number"]] = found["lowest"]
        return lowest

    def prepare(self, changes: Changes) -> Tables:
        """Return what is left of a batch: the last fares, the bookings that came, those that ended."""
        came, ended = changes.bookings()
        fares = changes.fares()
        return {
            "fares": pa.table({"flight": pa.array(fares, pa.int64()), "fare": pa.array(fares.values(), pa.int64())}),
            "ended": pa.table({"id": pa.array(ended, pa.int64())}),
            "came": pa.table(
                {"id": pa.array(came, pa.int64()), "flight": self._bookings.flight[came], "n": self._bookings.n[came]}
            ),
        }

    def take(self, prepared: Tables) -> None:
        for name, table in prepared.items():
            self._database.register(name, table)
        self._database.execute(CHANGE)
        self._lowest = self._recompute()

    def answers(self) -> I64:
        return self._lowest

    def close(self) -> None:
        self._database.close()


if __name__ == "__main__":
    main(DuckdbChain, ViewWorkload.load)
