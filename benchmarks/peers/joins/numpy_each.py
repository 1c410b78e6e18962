"""NumPy, by hand: each change is joined with its partners, and the joined rows are compared with all ranges at once.

What the others must tell, too: it is the reference, which DuckDB recomputes in its own way.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.peers.joins.held import held_rows
from benchmarks.peers.joins.workload import PARTNERS, Changes, JoinWorkload, hashed, summed
from benchmarks.peers.measured import Expected
from benchmarks.peers.worker import main
from benchmarks.peers.workload import I64, digest

Parts = list[tuple[I64, I64, I64]]


class NumpyEach:
    """A change costs O(subscriptions * partners)."""

    whole = False

    def __init__(self, workload: JoinWorkload, folder: Path) -> None:
        self._asked, self._keys = workload.asked, workload.keys
        self._x, self._v = workload.x.copy(), workload.v.copy()
        self._told, self.told = np.zeros((0, 3), np.int64), 0

    def prepare(self, changes: Changes) -> Changes:
        return changes

    def take(self, prepared: Changes) -> None:
        parts: Parts = []
        columns = (prepared.table, prepared.row, prepared.x, prepared.v)
        for i, (table, row, x, v) in enumerate(zip(*(each.tolist() for each in columns), strict=True)):
            self._met(parts, prepared.first + i, table, row, -1)
            self._x[table, row], self._v[table, row] = x, v
            self._met(parts, prepared.first + i, table, row, 1)
        self._told = summed(*(np.concatenate(each) for each in zip(*parts, strict=True)))
        self.told += len(self._told)

    def _met(self, parts: Parts, change: int, table: int, row: int, sign: int) -> None:
        """Add who asks for the joined rows of a row as it is now, with the hash of each."""
        partner = row % self._keys + self._keys * np.arange(PARTNERS)
        lo, hi = self._asked
        met = np.flatnonzero((lo[:, table] <= self._x[table, row]) & (self._x[table, row] <= hi[:, table]))
        x = self._x[1 - table, partner]
        at, which = np.nonzero((lo[met, 1 - table, None] <= x) & (x <= hi[met, 1 - table, None]))
        sides = [np.full(len(which), row), partner[which]]
        r, s = sides if table == 0 else sides[::-1]
        hashes = sign * hashed(r, self._v[0, r], s, self._v[1, s])
        parts.append((np.full(len(at), change), met[at], hashes))

    @property
    def rows(self) -> tuple[I64, I64]:
        """x and v of the rows of both tables."""
        return self._x, self._v

    def answers(self) -> I64:
        return self._told.ravel()

    def close(self) -> None:
        """Nothing was started."""


def expected(workload: JoinWorkload) -> Expected:
    """Return digests of what each batch must tell, with nothing before the first, and what the last one must.

    `held` is followed from what was held at first; at the end it is found from the rows as well.
    """
    peer = NumpyEach(workload, Path())
    sums = held_rows(workload, workload.x, workload.v)
    digests, held = [digest(peer.answers())], [digest(sums)]
    for changes in workload.batches():
        peer.take(changes)
        _, number, fingerprint = peer.answers().reshape(-1, 3).T
        np.add.at(sums, number, fingerprint)
        digests.append(digest(peer.answers()))
        held.append(digest(sums))
    assert np.array_equal(sums, held_rows(workload, *peer.rows)), "the two ways with NumPy disagree"
    return Expected(digests, peer.answers(), Expected(held, sums))


if __name__ == "__main__":
    main(NumpyEach, JoinWorkload.load)
