"""Pathway: its incremental engine keeps the join of subscriptions and stock, and the MIN of each subscription.

A join of Pathway has equalities only, so this one has none: every pair is made, and a filter keeps those in range. One
worker thread. Rows come through a Python subject in upsert mode, each batch one commit, which the engine takes as one
moment: it tells the changes of answers between two batches, not those in between. An extra subscription asks for an
extra row that holds the batch's number; it is through when that is told.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pathway as pw

from benchmarks.peers.pathway_engine import Feed, finish, start
from benchmarks.peers.worker import main
from benchmarks.peers.workload import I64, NONE, Changes, Workload

Rows = list[dict[str, float]]


class Stock(pw.Schema):
    """The rows, by number."""

    row: int = pw.column_definition(primary_key=True)
    risk: float
    price: int


class Asked(pw.Schema):
    """The subscriptions, by number."""

    number: int = pw.column_definition(primary_key=True)
    lo: float
    hi: float


class PathwayJoin:
    """The engine runs in a thread of its own until the process ends."""

    whole = False

    def __init__(self, workload: Workload, folder: Path) -> None:
        self._risk, self._batch, self.told = workload.risk.tolist(), 0, 0
        self._lowest = np.full(len(workload.lo) + 1, NONE, np.int64)
        bounds = zip([*workload.lo.tolist(), -1.0], [*workload.hi.tolist(), -1.0], strict=True)
        asked = pw.debug.table_from_rows(Asked, [(i, lo, hi) for i, (lo, hi) in enumerate(bounds)])
        self._feed = Feed()
        stock = pw.io.python.read(self._feed, schema=Stock, autocommit_duration_ms=None)
        paired = self.pairs(asked, stock).filter((pw.this.risk >= pw.this.lo) & (pw.this.risk <= pw.this.hi))
        lowest = paired.groupby(pw.this.number).reduce(pw.this.number, lowest=pw.reducers.min(pw.this.price))
        self._moments = start(lowest, self._change)
        rows = enumerate(zip(self._risk, workload.price.tolist(), strict=True))
        self.take([{"row": row, "risk": risk, "price": price} for row, (risk, price) in rows])
        self.told = 0

    def pairs(self, asked: Any, stock: Any) -> Any:
        """Return all pairs of a subscription and a row that may meet."""
        return asked.join(stock).select(asked.number, asked.lo, asked.hi, stock.risk, stock.price)

    def _change(self, key: object, row: dict[str, Any], time: int, is_addition: bool) -> None:
        number = row["number"]
        if is_addition:
            self._lowest[number] = row["lowest"]
            self.told += 1

    def prepare(self, changes: Changes) -> Rows:
        last = changes.last()
        rows = zip(last.row.tolist(), last.price.tolist(), strict=True)
        return [{"row": row, "risk": self._risk[row], "price": price} for row, price in rows]

    def take(self, prepared: Rows) -> None:
        self._batch += 1
        self._feed.inbox.put([*prepared, {"row": len(self._risk), "risk": -1.0, "price": self._batch}])
        while self._lowest[-1] != self._batch:
            self._moments.get()

    def answers(self) -> I64:
        return self._lowest[:-1]

    def close(self) -> None:
        """Nothing to end: see `finish`."""


if __name__ == "__main__":
    main(PathwayJoin)
    finish()
