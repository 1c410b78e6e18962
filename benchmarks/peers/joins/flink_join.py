"""Flink SQL by PyFlink: a streaming join of subscriptions, r and s, as `flink_job.py` says.

All changes are given at once, and rows come and go as they do: what Flink does best. r and s are read independently, so
that rows may be told that were joined at no moment; they go again, and what is held at the end is compared. A few extra
pairs of rows, each with a key of its own, change last of all in both tables, and extra subscriptions ask for them; all
changes are through when these have been told.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from pyflink.table import TableResult

from benchmarks.peers.flink_job import FIXED, PRINTED, STREAM, Printed, busy, environment, event
from benchmarks.peers.joins.held import Held
from benchmarks.peers.joins.workload import DOMAIN, Changes, JoinWorkload
from benchmarks.peers.worker import main
from benchmarks.peers.workload import I64

SENTINELS = 16
FAR = 2 * DOMAIN
TABLES = "rs"
QUESTION = """
INSERT INTO answer SELECT q.number, r.id, r.v, s.id, s.v
FROM asked q JOIN r ON r.x BETWEEN q.lo0 AND q.hi0 JOIN s ON r.k = s.k AND s.x BETWEEN q.lo1 AND q.hi1
"""
Row = dict[str, object]


class FlinkJoin:
    """What is held after all changes; `told` counts the rows that came and went."""

    whole = True
    question = QUESTION

    def __init__(self, workload: JoinWorkload, folder: Path) -> None:
        self._keys, self._rows, self._folder = workload.keys, workload.x.shape[1], folder / "flink"
        for name in (*TABLES, "asked", "next"):
            (self._folder / name).mkdir(parents=True)
        self._printed = Printed(self._folder / "out")
        self._count = len(workload.asked.lo)
        self._held, self._before, self._through = Held(self._count), 0, np.full(SENTINELS, -1)
        self._now: list[list[Row]] = [
            [self._row(i, x, v) for i, (x, v) in enumerate(zip(xs.tolist(), vs.tolist(), strict=True))]
            for xs, vs in zip(workload.x, workload.v, strict=True)
        ]
        (lo0, lo1), (hi0, hi1) = (each.T.tolist() for each in workload.asked)
        self._ask([*zip(lo0, hi0, lo1, hi1, strict=True), *((FAR + i,) * 4 for i in range(SENTINELS))])
        self._job = self._start()
        self.take(self._written(0, [[(None, row) for row in rows] for rows in self._now]))
        self.answers()
        self._before = self._held.told

    @property
    def told(self) -> int:
        """How many rows came or went, and were told."""
        return self._held.told - self._before

    def _ask(self, bounds: list[tuple[int, ...]]) -> None:
        with (self._folder / "asked" / "all.csv").open("w", encoding="utf-8") as file:
            for number, each in enumerate(bounds):
                file.writelines(",".join(map(str, (number, *each, *square))) + "\n" for square in self.squares(*each))

    def squares(self, *bounds: int) -> tuple[tuple[int, int], ...]:
        """Return the numbers under which a subscription is entered; here it is entered once."""
        return ((0, 0),)

    def _start(self) -> TableResult:
        tables = environment()
        for name in TABLES:
            columns = "id BIGINT, k BIGINT, x BIGINT, v BIGINT"
            tables.execute_sql(f"CREATE TABLE {name} ({columns}) {STREAM.format(self._folder / name)}")
        columns = ", ".join(f"{name} BIGINT" for name in ("number", "lo0", "hi0", "lo1", "hi1", "b0", "b1"))
        tables.execute_sql(f"CREATE TABLE asked ({columns}) {FIXED.format(self._folder / 'asked')}")
        columns = "number BIGINT, r BIGINT, rv BIGINT, s BIGINT, sv BIGINT"
        tables.execute_sql(f"CREATE TABLE answer ({columns}) {PRINTED}")
        return tables.execute_sql(self.question)

    def _row(self, row: int, x: int, v: int) -> Row:
        return {"id": row, "k": row % self._keys, "x": x, "v": v}

    def _written(self, times: int, events: list[list[tuple[Row | None, Row]]]) -> int:
        """Write the files of changes, with those of the extra rows at their ends; return how often these changed."""
        for name, of in zip(TABLES, events, strict=True):
            far = [
                [{"id": self._rows + i, "k": -1 - i, "x": FAR + i, "v": v} for v in (0, 1)] for i in range(SENTINELS)
            ]
            ends = [(each[0] if times else None, each[times]) for each in far]
            with (self._folder / "next" / f"{name}-{times}").open("w", encoding="utf-8") as file:
                file.writelines(event(before, after) for before, after in [*of, *ends])
        return times

    def prepare(self, changes: Changes) -> int:
        """Write the files of all changes."""
        events: list[list[tuple[Row | None, Row]]] = [[], []]
        columns = (each.tolist() for each in (changes.table, changes.row, changes.x, changes.v))
        for table, row, x, v in zip(*columns, strict=True):
            before, after = self._now[table][row], self._row(row, x, v)
            events[table].append((before, after))
            self._now[table][row] = after
        return self._written(1, events)

    def take(self, prepared: int) -> None:
        for name in TABLES:
            (self._folder / "next" / f"{name}-{prepared}").rename(self._folder / name / str(prepared))
        while (self._through != prepared).any():
            time.sleep(0.02)
            self._follow(self._printed.changes())

    def _follow(self, changes: Iterable[tuple[bool, tuple[int, ...]]]) -> None:
        for came, (number, *row) in changes:
            if number < self._count:
                self._held.take(came, number, tuple(row))
            elif came and row[1] == row[3]:
                self._through[number - self._count] = row[1]

    def busy(self) -> float:
        """Return the processor seconds of all processes, of the JVM, too."""
        return busy()

    def answers(self) -> I64:
        self._follow(self._printed.last_changes())
        return self._held.sums()

    def close(self) -> None:
        self._job.get_job_client().cancel().result()


if __name__ == "__main__":
    main(FlinkJoin, JoinWorkload.load)
