"""What every subscription holds: the sum of the hashes of its joined rows, for whom does not tell each change.

Workers in virtual environments of their own use it: nothing but NumPy may be imported here.
"""

from __future__ import annotations

import numpy as np

from benchmarks.peers.joins.workload import PARTNERS, JoinWorkload, hashed
from benchmarks.peers.workload import I64

_CHUNK = 256


def held_rows(workload: JoinWorkload, x: I64, v: I64) -> I64:
    """Return what is held where the rows of both tables have x and v, int64[2, n]. Cost: O(subscriptions * rows)."""
    r = np.repeat(np.arange(x.shape[1]), PARTNERS)
    s = r % workload.keys + workload.keys * np.tile(np.arange(PARTNERS), x.shape[1])
    hashes, (lo, hi) = hashed(r, v[0, r], s, v[1, s]), workload.asked
    found = []
    for at in range(0, len(lo), _CHUNK):
        met = np.ones((len(lo[at : at + _CHUNK]), len(r)), np.bool_)
        for table, row in enumerate((r, s)):
            of = x[table, row]
            met &= (lo[at : at + _CHUNK, table, None] <= of) & (of <= hi[at : at + _CHUNK, table, None])
        found.append(np.where(met, hashes, 0).sum(axis=1))
    return np.concatenate(found)


class Held:
    """Adds up rows that came and went; `told` counts them."""

    def __init__(self, subscriptions: int) -> None:
        self._sums = np.zeros(subscriptions, np.int64)
        self._signed: list[tuple[int, ...]] = []
        self.told = 0

    def take(self, came: bool, number: int, row: tuple[int, ...]) -> None:
        """Note a row (r.id, r.v, s.id, s.v) of a subscription."""
        self._signed.append((number, 1 if came else -1, *row))

    def sums(self) -> I64:
        """Return what is held by each."""
        if self._signed:
            number, sign, *row = np.array(self._signed, np.int64).T
            np.add.at(self._sums, number, sign * hashed(*row))
            self.told += len(number)
            self._signed.clear()
        return self._sums
