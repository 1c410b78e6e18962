"""A job of Flink whose answer is a lowest value by number: all that is told of it, kept."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from pyflink.table import TableResult

from benchmarks.peers.flink_job import Printed, busy
from benchmarks.peers.workload import I64, NONE


class FlinkLowest:
    """All changes are given at once, and answers come as they come: what Flink does best.

    tables: the folders that it reads.  count: how many ask, before the `extra` ones that say what is through.
    """

    whole = True
    _job: TableResult

    def __init__(self, folder: Path, tables: Iterable[str], count: int, extra: int) -> None:
        self._folder, self._count, self.told = folder / "flink", count, 0
        for name in (*tables, "next"):
            (self._folder / name).mkdir(parents=True)
        self._printed = Printed(self._folder / "out")
        self._lowest = np.full(count + extra, NONE, np.int64)

    def _wait(self, sentinels: slice, value: int) -> None:
        while (self._lowest[sentinels] != value).any():
            time.sleep(0.02)
            self._follow(self._printed.changes())

    def _follow(self, changes: Iterable[tuple[bool, tuple[int, ...]]]) -> None:
        for came, (number, lowest) in changes:
            self._lowest[number] = lowest if came else NONE
            self.told += came

    def busy(self) -> float:
        """Return the processor seconds of all processes, of the JVM, too."""
        return busy()

    def answers(self) -> I64:
        self._follow(self._printed.last_changes())
        return self._lowest[: self._count]

    def close(self) -> None:
        self._job.get_job_client().cancel().result()
