"""Pathway: its incremental engine keeps the join of subscriptions, r and s.

A join of Pathway has equalities only, so every pair of a subscription and a row of r is made, a filter keeps those in
range, and these are joined with s by key. One worker thread. Rows of both tables come through one Python subject in
upsert mode, each batch one commit: it tells the rows that came and went between two batches, not those in between. An
extra subscription asks for an extra pair of rows, whose v is the batch's number; it is through when that is told.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pathway as pw

from benchmarks.peers.joins.held import Held
from benchmarks.peers.joins.workload import DOMAIN, Changes, JoinWorkload
from benchmarks.peers.pathway_engine import Feed, finish, start
from benchmarks.peers.worker import main
from benchmarks.peers.workload import I64

Rows = list[dict[str, int]]
FAR = 2 * DOMAIN


class Row(pw.Schema):
    """The rows of both tables; of: 0 r, 1 s."""

    of: int = pw.column_definition(primary_key=True)
    row: int = pw.column_definition(primary_key=True)
    k: int
    x: int
    v: int


class Asked(pw.Schema):
    """The subscriptions, by number."""

    number: int = pw.column_definition(primary_key=True)
    lo0: int
    hi0: int
    lo1: int
    hi1: int


class PathwayJoin:
    """The engine runs in a thread of its own until the process ends."""

    whole = False

    def __init__(self, workload: JoinWorkload, folder: Path) -> None:
        self._keys, self._count = workload.keys, len(workload.asked.lo)
        self._rows, self._batch, self._through = workload.x.shape[1], 0, 0
        self._held, self._before = Held(self._count), 0
        (lo0, lo1), (hi0, hi1) = (each.T.tolist() for each in workload.asked)
        bounds = [*zip(lo0, hi0, lo1, hi1, strict=True), (FAR, FAR, FAR, FAR)]
        asked = pw.debug.table_from_rows(Asked, [(i, *each) for i, each in enumerate(bounds)])
        self._feed = Feed()
        rows = pw.io.python.read(self._feed, schema=Row, autocommit_duration_ms=None)
        joined = self.joined(asked, rows.filter(rows.of == 0), rows.filter(rows.of == 1))
        self._moments = start(joined, self._change)
        loaded = enumerate(zip(workload.x, workload.v, strict=True))
        self.take([_row(of, i, i % self._keys, x, v) for of, table in loaded for i, (x, v) in enumerate(zip(*(each.tolist() for each in table), strict=True))])  # fmt: skip
        self.answers()
        self._before = self._held.told

    @property
    def told(self) -> int:
        """How many rows came or went, and were told."""
        return self._held.told - self._before

    def joined(self, asked: Any, r: Any, s: Any) -> Any:
        """Return the joined rows of every subscription."""
        met = asked.join(r).select(
            asked.number, asked.lo0, asked.hi0, asked.lo1, asked.hi1, r.k, r.x, r_id=r.row, r_v=r.v
        )
        met = met.filter((pw.this.x >= pw.this.lo0) & (pw.this.x <= pw.this.hi0))
        both = met.join(s, met.k == s.k).select(
            met.number, met.r_id, met.r_v, met.lo1, met.hi1, s.x, s_id=s.row, s_v=s.v
        )
        return both.filter((pw.this.x >= pw.this.lo1) & (pw.this.x <= pw.this.hi1))

    def _change(self, key: object, row: dict[str, Any], time: int, is_addition: bool) -> None:
        if row["number"] < self._count:
            self._held.take(is_addition, row["number"], (row["r_id"], row["r_v"], row["s_id"], row["s_v"]))
        elif is_addition:
            self._through = row["r_v"]

    def prepare(self, changes: Changes) -> Rows:
        columns = (each.tolist() for each in (changes.table, changes.row, changes.x, changes.v))
        last = {(of, row): _row(of, row, row % self._keys, x, v) for of, row, x, v in zip(*columns, strict=True)}
        return [*last.values()]

    def take(self, prepared: Rows) -> None:
        self._batch += 1
        extra = [_row(of, self._rows, -1, FAR, self._batch) for of in (0, 1)]
        self._feed.inbox.put([*prepared, *extra])
        while self._through != self._batch:
            self._moments.get()

    def answers(self) -> I64:
        return self._held.sums()

    def close(self) -> None:
        """Nothing to end: see `finish`."""


def _row(of: int, row: int, k: int, x: int, v: int) -> dict[str, int]:
    return {"of": of, "row": row, "k": k, "x": x, "v": v}


if __name__ == "__main__":
    main(PathwayJoin, JoinWorkload.load)
    finish()
