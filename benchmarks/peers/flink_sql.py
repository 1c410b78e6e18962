"""Flink SQL by PyFlink: a streaming join of subscriptions and stock, and MIN over each subscription.

As `flink_job.py` says. A few extra subscriptions ask for one extra row that changes last of all; all changes are through
when these have been told. What the other task still has to write in that moment is waited for too, but not counted.
"""

from __future__ import annotations

from pathlib import Path

from pyflink.table import TableResult

from benchmarks.peers.flink_job import FIXED, PRINTED, STREAM, environment, event
from benchmarks.peers.flink_lowest import FlinkLowest
from benchmarks.peers.worker import main
from benchmarks.peers.workload import Changes, Workload

SENTINELS = 16
QUESTION = """
INSERT INTO answer SELECT s.number, MIN(t.price)
FROM subscription s JOIN stock t ON t.risk BETWEEN s.lo AND s.hi GROUP BY s.number
"""


class FlinkSql(FlinkLowest):
    """The job of one join."""

    question = QUESTION

    def __init__(self, workload: Workload, folder: Path) -> None:
        super().__init__(folder, ("stock", "subscription"), len(workload.lo), SENTINELS)
        self._risk, self._price = [*workload.risk.tolist(), -1.0], [*workload.price.tolist(), 0]
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
        tables, at = environment(), self._folder
        tables.execute_sql(
            f"CREATE TABLE stock (`row` BIGINT, risk DOUBLE, price BIGINT) {STREAM.format(at / 'stock')}"
        )
        columns = "number BIGINT, lo DOUBLE, hi DOUBLE, bucket BIGINT"
        tables.execute_sql(f"CREATE TABLE subscription ({columns}) {FIXED.format(at / 'subscription')}")
        tables.execute_sql(f"CREATE TABLE answer (number BIGINT, lowest BIGINT) {PRINTED}")
        return tables.execute_sql(self.question)

    def _event(self, row: int, before: int | None, after: int) -> str:
        image = {"row": row, "risk": self._risk[row]}
        old = None if before is None else image | {"price": before}
        return event(old, image | {"price": after})

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
        self._wait(slice(-SENTINELS, None), sentinel)


if __name__ == "__main__":
    main(FlinkSql)
