"""NumPy, brute force: after each batch every range is compared with every row. The oracle of all others."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.peers.worker import main
from benchmarks.peers.workload import F64, I64, NONE, Changes, Workload

AT_ONCE = 2_000_000
"""Pairs of a range and a row compared in one go, so that the masks stay in the cache."""


def scan(risk: F64, price: I64, lo: F64, hi: F64) -> I64:
    """Return the lowest price of each range, NONE where it holds no row. Cost: O(rows * ranges)."""
    lowest = np.empty(len(lo), np.int64)
    step = max(1, AT_ONCE // len(risk))
    for start in range(0, len(lo), step):
        low, high = lo[start : start + step, None], hi[start : start + step, None]
        inside = (risk >= low) & (risk <= high)
        lowest[start : start + step] = np.where(inside, price, NONE).min(axis=1)
    return lowest


class NumpyScan:
    """Keeps the rows as they are, and scans them once a batch."""

    whole = False

    def __init__(self, workload: Workload, folder: Path) -> None:
        self._workload = workload
        self._price = workload.price.copy()
        self._lowest = scan(workload.risk, self._price, workload.lo, workload.hi)

    def prepare(self, changes: Changes) -> Changes:
        return changes

    def take(self, prepared: Changes) -> None:
        last = prepared.last()
        self._price[last.row] = last.price
        self._lowest = scan(self._workload.risk, self._price, self._workload.lo, self._workload.hi)

    def answers(self) -> I64:
        return self._lowest

    def close(self) -> None:
        """Nothing was started."""


if __name__ == "__main__":
    main(NumpyScan)
