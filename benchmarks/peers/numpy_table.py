"""NumPy with the right data structure: a sparse table of minima, made anew after each batch.

Level j holds the minimum of every 2**j neighbours by risk; any range is covered by two overlapping entries of one
level. The best known recomputation for this one question, and written for nothing else.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.peers.worker import main
from benchmarks.peers.workload import I64, NONE, Changes, Workload


class NumpyTable:
    """Places of ranges are found once; a batch costs O(rows log rows + subscriptions)."""

    whole = False

    def __init__(self, workload: Workload, folder: Path) -> None:
        order = np.argsort(workload.risk, kind="stable")
        self._place = np.empty(len(order), np.int64)
        self._place[order] = np.arange(len(order))
        self._price = workload.price[order]
        sorted_risk = workload.risk[order]
        first = np.searchsorted(sorted_risk, workload.lo, "left")
        length = np.searchsorted(sorted_risk, workload.hi, "right") - first
        self._empty = length <= 0
        level = np.frexp(np.maximum(length, 1))[1].astype(np.int64) - 1
        rows = len(order)
        self._left = np.where(self._empty, 0, level * rows + first)
        self._right = np.where(self._empty, 0, level * rows + first + length - (1 << level))
        self._levels = np.full((int(rows).bit_length(), rows), NONE, np.int64)
        self._recompute()

    def _recompute(self) -> None:
        levels, rows = self._levels, len(self._price)
        levels[0] = self._price
        for j in range(1, len(levels)):
            half = 1 << (j - 1)
            if 2 * half <= rows:
                np.minimum(
                    levels[j - 1][: rows - 2 * half + 1],
                    levels[j - 1][half : rows - half + 1],
                    out=levels[j][: rows - 2 * half + 1],
                )
        flat = levels.ravel()
        lowest = np.minimum(flat[self._left], flat[self._right])
        self._lowest = np.where(self._empty, NONE, lowest)

    def prepare(self, changes: Changes) -> Changes:
        return changes

    def take(self, prepared: Changes) -> None:
        last = prepared.last()
        self._price[self._place[last.row]] = last.price
        self._recompute()

    def answers(self) -> I64:
        return self._lowest

    def close(self) -> None:
        """Nothing was started."""


if __name__ == "__main__":
    main(NumpyTable)
