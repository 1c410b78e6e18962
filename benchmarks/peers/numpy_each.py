"""NumPy, every change: each publication is compared with all subscriptions, and those it touches are told.

The incremental program that one writes by hand: a lower price is a comparison; where the lowest price rises, the
range is looked through again. Unlike the recomputations it says every change of every answer.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.peers.worker import main
from benchmarks.peers.workload import I64, NONE, Changes, Workload


class NumpyEach:
    """Ranges as places in the order of risk. A publication costs O(subscriptions) and O(range) for each rise."""

    whole = False

    def __init__(self, workload: Workload, folder: Path) -> None:
        order = np.argsort(workload.risk, kind="stable")
        self._place = np.empty(len(order), np.int64)
        self._place[order] = np.arange(len(order))
        self._price = workload.price[order]
        self._first = np.searchsorted(workload.risk[order], workload.lo, "left").astype(np.int32)
        self._end = np.searchsorted(workload.risk[order], workload.hi, "right").astype(np.int32)
        self._lowest = np.array([self._look(i) for i in range(len(workload.lo))], np.int64)
        self.told = 0

    def _look(self, subscription: int) -> int:
        return int(self._price[self._first[subscription] : self._end[subscription]].min(initial=NONE))

    def prepare(self, changes: Changes) -> Changes:
        return changes

    def take(self, prepared: Changes) -> None:
        for place, price in zip(self._place[prepared.row].tolist(), prepared.price.tolist(), strict=True):
            before = self._price[place]
            self._price[place] = price
            inside = ((self._first <= place) & (place < self._end)).nonzero()[0]
            held = self._lowest[inside]
            if price < before:
                lower = inside[held > price]
                self._lowest[lower] = price
                self.told += len(lower)
            else:
                self._rise(inside[held == before])

    def _rise(self, touched: I64) -> None:
        for subscription in touched.tolist():
            now = self._look(subscription)
            self.told += int(now != self._lowest[subscription])
            self._lowest[subscription] = now

    def answers(self) -> I64:
        return self._lowest

    def close(self) -> None:
        """Nothing was started."""


if __name__ == "__main__":
    main(NumpyEach)
