"""Flink SQL by PyFlink: a streaming join of subscriptions and stock, and MIN over each subscription.

The local cluster inside one JVM, parallelism 2, state on the heap, objects reused, mini-batches of 100 ms (they make
the plan fold changes before it aggregates). Stock is a stream of changes in Debezium's JSON, as a database's log would
be, in a folder that the file source watches every 50 ms; answers go to the `print` connector, which writes every
change of an answer to standard output, where this worker reads them.

A few extra subscriptions ask for one extra row that changes last of all; all changes are through when these have been
told. What the other task still has to write in that moment is waited for too, but not counted.
"""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path

import numpy as np
from pyflink.table import EnvironmentSettings, TableEnvironment, TableResult

from benchmarks.peers.worker import main
from benchmarks.peers.workload import I64, NONE, Changes, Workload

SENTINELS = 16
STILL_S = 0.5
SETTINGS = {
    "parallelism.default": "2",
    "pipeline.object-reuse": "true",
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "100 ms",
    "table.exec.mini-batch.size": "5000",
}
STOCK = """
CREATE TABLE stock (`row` BIGINT, risk DOUBLE, price BIGINT) WITH (
  'connector' = 'filesystem', 'path' = '{}', 'format' = 'debezium-json', 'source.monitor-interval' = '50 ms')
"""
ASKED = """
CREATE TABLE subscription (number BIGINT, lo DOUBLE, hi DOUBLE, bucket BIGINT)
WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = 'csv')
"""
ANSWER = "CREATE TABLE answer (number BIGINT, lowest BIGINT) WITH ('connector' = 'print')"
QUESTION = """
INSERT INTO answer SELECT s.number, MIN(t.price)
FROM subscription s JOIN stock t ON t.risk BETWEEN s.lo AND s.hi GROUP BY s.number
"""
_TOLD = re.compile(rb"([+-][IUD][AB]?)\[(\d+), (\d+)\]")


class FlinkSql:
    """All changes are given at once, and answers come as they come: what Flink does best."""

    whole = True
    question = QUESTION

    def __init__(self, workload: Workload, folder: Path) -> None:
        self._folder, self.told = folder / "flink", 0
        for name in ("stock", "subscription", "next"):
            (self._folder / name).mkdir(parents=True)
        self._out = self._folder / "out"
        os.dup2(os.open(self._out, os.O_CREAT | os.O_WRONLY | os.O_APPEND), 1)
        self._read, self._rest = 0, b""
        self._risk, self._price = [*workload.risk.tolist(), -1.0], [*workload.price.tolist(), 0]
        self._lowest = np.full(len(workload.lo) + SENTINELS, NONE, np.int64)
        self._subscribe([*workload.lo.tolist(), *[-1.0] * SENTINELS], [*workload.hi.tolist(), *[-1.0] * SENTINELS])
        with (self._folder / "next" / "load").open("w", encoding="utf-8") as load:
            load.writelines(self._event(row, None, price) for row, price in enumerate(self._price))
        self._job = self._start()
        self.take(("load", 0))
        self.answers()
        self.told = 0

    def _subscribe(self, lo: list[float], hi: list[float]) -> None:
        with (self._folder / "subscription" / "all.csv").open("w", encoding="utf-8") as file:
            for number, (low, high) in enumerate(zip(lo, hi, strict=True)):
                file.writelines(f"{number},{low!r},{high!r},{bucket}\n" for bucket in self.buckets(low, high))

    def buckets(self, lo: float, hi: float) -> range:
        """Return the numbers under which a subscription is entered; here it is entered once."""
        return range(1)

    def _start(self) -> TableResult:
        tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        for key, value in SETTINGS.items():
            tables.get_config().set(key, value)
        tables.execute_sql(STOCK.format(self._folder / "stock"))
        tables.execute_sql(ASKED.format(self._folder / "subscription"))
        tables.execute_sql(ANSWER)
        return tables.execute_sql(self.question)

    def _event(self, row: int, before: int | None, after: int) -> str:
        image = {"row": row, "risk": self._risk[row]}
        old = None if before is None else image | {"price": before}
        return json.dumps({"before": old, "after": image | {"price": after}, "op": "u" if old else "c"}) + "\n"

    def prepare(self, changes: Changes) -> tuple[str, int]:
        """Write the file of changes, with the one of the extra row at its end."""
        last = len(self._price) - 1
        with (self._folder / "next" / "changes").open("w", encoding="utf-8") as file:
            for row, price in zip([*changes.row.tolist(), last], [*changes.price.tolist(), 1], strict=True):
                file.write(self._event(row, self._price[row], price))
                self._price[row] = price
        return "changes", 1

    def take(self, prepared: tuple[str, int]) -> None:
        name, sentinel = prepared
        (self._folder / "next" / name).rename(self._folder / "stock" / name)
        while (self._lowest[-SENTINELS:] != sentinel).any():
            time.sleep(0.02)
            self._poll()

    def _poll(self) -> bool:
        """Read what was printed since; return whether there was anything."""
        with self._out.open("rb") as out:
            out.seek(self._read)
            new = out.read()
        self._read += len(new)
        text = self._rest + new
        cut = text.rfind(b"\n") + 1
        self._rest = text[cut:]
        for kind, number, lowest in _TOLD.findall(text[:cut]):
            if kind in (b"+I", b"+U", b"+UA"):
                self._lowest[int(number)] = int(lowest)
                self.told += 1
            elif kind == b"-D":
                self._lowest[int(number)] = NONE
        return bool(new)

    def answers(self) -> I64:
        still = time.monotonic() + STILL_S
        while time.monotonic() < still:
            if self._poll():
                still = time.monotonic() + STILL_S
            time.sleep(0.02)
        return self._lowest[:-SENTINELS]

    def close(self) -> None:
        self._job.get_job_client().cancel().result()


if __name__ == "__main__":
    main(FlinkSql)
