"""The workload of all peers, as arrays: stocks whose prices move at random, and ranges whose lowest price is asked.

    SELECT MIN(price) FROM stock WHERE risk BETWEEN lo AND hi

Widths of ranges are spread evenly over the orders of magnitude, from one row to all of them (as `Audience` in
stock_workload.py does). Whoever asks for k of n rows hears of the lowest of them only, so about 1.2 / n of the
publications change its answer, whatever k is. Prices are whole cents, so that "equal" means equal. Made from seeds.

Workers in virtual environments of their own read it from a file: nothing but NumPy may be imported here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]

NONE = int(np.iinfo(np.int64).max)
"""The answer of a range without rows, as a number; SQL's NULL."""
TOP = 1_000.0
LOWEST, HIGHEST, STEP = 10_000, 1_000_000, 500


@dataclass(frozen=True, slots=True)
class Changes:
    """A batch: row `row[i]` costs `price[i]` now, in this order."""

    row: I64
    price: I64

    def __len__(self) -> int:
        return len(self.row)

    def last(self) -> Changes:
        """Return each row's last change only: what whoever recomputes once a batch needs."""
        rows, places = np.unique(self.row[::-1], return_index=True)
        return Changes(rows, self.price[::-1][places])


@dataclass(frozen=True, slots=True)
class Workload:
    """Rows (`risk`, `price` by row number), subscriptions (`lo`, `hi` by number), and all changes in order."""

    risk: F64
    price: I64
    lo: F64
    hi: F64
    changes: Changes
    batch: int

    @classmethod
    def make(cls, rows: int, subscriptions: int, publications: int, batch: int, seed: int = 4) -> Workload:
        """Return the workload of a seed: rows and changes are the same at any number of subscriptions."""
        random = np.random.default_rng(seed)
        risk = random.choice(1_000_000, rows, replace=False) / 1_000
        price = random.integers(LOWEST, HIGHEST, rows)
        changes = _walk(random, price, publications)
        width = TOP / rows * np.exp(random.uniform(0, np.log(rows), subscriptions))
        lo = np.round(random.uniform(0, TOP - width), 3)
        return cls(risk, price, lo, np.round(lo + width, 3), changes, batch)

    def batches(self) -> Iterator[Changes]:
        """Yield the changes in batches."""
        for start in range(0, len(self.changes), self.batch):
            place = slice(start, start + self.batch)
            yield Changes(self.changes.row[place], self.changes.price[place])

    def save(self, path: Path) -> None:
        """Write it to a file that `load` reads, in any environment."""
        row, to, batch = self.changes.row, self.changes.price, np.array(self.batch)
        np.savez(path, risk=self.risk, price=self.price, lo=self.lo, hi=self.hi, row=row, to=to, batch=batch)

    @classmethod
    def load(cls, path: Path) -> Workload:
        """Read what `save` wrote."""
        with np.load(path) as of:
            changes = Changes(of["row"], of["to"])
            return cls(of["risk"], of["price"], of["lo"], of["hi"], changes, int(of["batch"]))


def _walk(random: np.random.Generator, price: I64, publications: int) -> Changes:
    """Return changes of random rows by at most `STEP` cents, up and down, within the bounds and never by nothing."""
    rows = random.integers(0, len(price), publications)
    steps = random.integers(1, STEP, publications) * random.choice((-1, 1), publications)
    now, to = price.tolist(), []
    for row, step in zip(rows.tolist(), steps.tolist(), strict=True):
        moved = now[row] + step
        now[row] = moved if LOWEST <= moved <= HIGHEST else now[row] - step
        to.append(now[row])
    return Changes(rows, np.array(to, np.int64))


def digest(answers: I64) -> str:
    """Return a short text that is the same only for the same answers."""
    return hashlib.blake2b(np.ascontiguousarray(answers, np.int64).tobytes(), digest_size=8).hexdigest()
