"""The workload of joins, as arrays: two tables whose rows change, and ranges over both that stand.

    SELECT r.id, r.v, s.id, s.v FROM r JOIN s ON r.k = s.k WHERE r.x BETWEEN .. AND .. AND s.x BETWEEN .. AND ..

Five rows of either table have one key. A change gives a random row of r or s, by turns, another v, half of them another
x as well. Each of the subscriptions hears of as many changes, however many there are. Made from seeds.

What is to be told of a change: of each subscription whose joined rows become others, which went and which came. Answers
are compared as fingerprints of that: the sum of the hashes of what came less those of what went.

Workers in virtual environments of their own read it from a file: nothing but NumPy may be imported here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.peers.workload import I64

DOMAIN = 1_000_000
PARTNERS = 5
ANSWER = 5.0
_FACTORS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x27D4EB2F165667C5], np.uint64)


@dataclass(frozen=True, slots=True)
class Changes:
    """A batch: row `row[i]` of table `table[i]` (0 r, 1 s) has x[i] and v[i] now, in this order; `first` were before."""

    table: I64
    row: I64
    x: I64
    v: I64
    first: int = 0

    def __len__(self) -> int:
        return len(self.row)


class Ranges(NamedTuple):
    """What is asked of x: int64[n, 2] each, of r and of s."""

    lo: I64
    hi: I64


@dataclass(frozen=True, slots=True)
class JoinWorkload:
    """x and v of the rows of both tables, int64[2, n]; what is asked; and all changes in order. A row's key: `key`."""

    x: I64
    v: I64
    asked: Ranges
    changes: Changes
    batch: int

    @classmethod
    def make(cls, rows: int, joins: int, publications: int, batch: int, seed: int = 4) -> JoinWorkload:
        """Return the workload of a seed: rows and changes are the same at any number of joins."""
        random = np.random.default_rng(seed)
        x, v = random.integers(0, DOMAIN, (2, rows)), random.integers(0, 1_000, (2, rows))
        changes = _walk(random, x, publications)
        width = DOMAIN * (ANSWER / rows / PARTNERS) ** 0.5
        half = random.exponential(width / 2, (joins, 2))
        middle = random.random((joins, 2)) * DOMAIN
        asked = Ranges((middle - half).astype(np.int64), (middle + half).astype(np.int64))
        return cls(x, v, asked, changes, batch)

    @property
    def keys(self) -> int:
        """How many keys there are; row i of either table has key i % keys."""
        return self.x.shape[1] // PARTNERS

    def batches(self) -> Iterator[Changes]:
        """Yield the changes in batches."""
        of = self.changes
        for start in range(0, len(of), self.batch):
            place = slice(start, start + self.batch)
            yield Changes(of.table[place], of.row[place], of.x[place], of.v[place], start)

    def save(self, path: Path) -> None:
        """Write it to a file that `load` reads."""
        of, (lo, hi), batch = self.changes, self.asked, np.array(self.batch)
        np.savez(
            path, x=self.x, v=self.v, table=of.table, row=of.row, to_x=of.x, to_v=of.v, lo=lo, hi=hi, batch=batch
        )  # fmt: skip

    @classmethod
    def load(cls, path: Path) -> JoinWorkload:
        """Read what `save` wrote."""
        with np.load(path) as of:
            changes = Changes(of["table"], of["row"], of["to_x"], of["to_v"])
            return cls(of["x"], of["v"], Ranges(of["lo"], of["hi"]), changes, int(of["batch"]))


def hashed(r_id: I64, r_v: I64, s_id: I64, s_v: I64) -> I64:
    """Return the hash of each joined row."""
    mixed = np.zeros(len(r_id), np.uint64)
    for factor, part in zip(_FACTORS, (r_id, r_v, s_id, s_v), strict=True):
        mixed = (mixed ^ (part.astype(np.uint64) + np.uint64(1))) * factor
        mixed ^= mixed >> np.uint64(29)
    return mixed.astype(np.int64)


def summed(change: I64, join: I64, hashes: I64) -> I64:
    """Return int64[n, 3], ascending: change, subscription and fingerprint of those whose hashes do not sum to nothing."""
    if not len(change):
        return np.zeros((0, 3), np.int64)
    order = np.lexsort((join, change))
    change, join, hashes = change[order], join[order], hashes[order]
    first = np.flatnonzero((np.diff(change, prepend=-1) != 0) | (np.diff(join, prepend=-1) != 0))
    sums = np.add.reduceat(hashes, first)
    return np.stack([change[first], join[first], sums], axis=1)[sums != 0]


def _walk(random: np.random.Generator, x: I64, publications: int) -> Changes:
    """Return changes of random rows of r and s by turns: another v, and another x in half of them."""
    table, row = np.arange(publications) % 2, random.integers(0, x.shape[1], publications)
    stays, fresh = random.random(publications) < 0.5, random.integers(0, DOMAIN, publications)
    now, to = x.copy(), np.empty(publications, np.int64)
    for i, (t, r) in enumerate(zip(table.tolist(), row.tolist(), strict=True)):
        if not stays[i]:
            now[t, r] = fresh[i]
        to[i] = now[t, r]
    return Changes(table, row, to, 1_000 + np.arange(publications))
