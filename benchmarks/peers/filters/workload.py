"""The workload of filters, as arrays: a table of 20 columns whose rows change, and conditions that stand.

    SELECT * FROM item WHERE c3 = 7 AND c12 BETWEEN 900 AND 1200 AND ...

Rows and filters are those of `benchmarks/filter_workload.py`: 2 to 5 conditions, met by about two filters a row whatever
their number. A change gives a random row other values in 1, 2 or 3 columns, and at least one is another than before.

What is to be told of a change: of each filter that the row leaves, enters, or stays within. Made from seeds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.filter_workload import CATEGORICAL, COLUMNS, NUMERIC, Conjunctions, draw_filters, draw_rows
from benchmarks.peers.workload import I64

HITS = 2.0
LEFT, ENTERED, WITHIN = 1, 2, 3


@dataclass(frozen=True, slots=True)
class Changes:
    """A batch: row `row[i]` is `image[i]` now, int64[m, columns], in this order; `first` were before."""

    row: I64
    image: I64
    first: int = 0

    def __len__(self) -> int:
        return len(self.row)


@dataclass(frozen=True, slots=True)
class FilterWorkload:
    """Rows by their numbers, int64[n, columns], the filters by theirs, and all changes in order."""

    rows: I64
    filters: Conjunctions
    changes: Changes
    batch: int

    @classmethod
    def make(cls, rows: int, filters: int, publications: int, batch: int, seed: int = 4) -> FilterWorkload:
        """Return the workload of a seed: rows and changes are the same at any number of filters."""
        random = np.random.default_rng(seed)
        first = draw_rows(random, rows)
        return cls(first, draw_filters(filters, HITS), _walk(random, first, publications), batch)

    def batches(self) -> Iterator[Changes]:
        """Yield the changes in batches."""
        for start in range(0, len(self.changes), self.batch):
            place = slice(start, start + self.batch)
            yield Changes(self.changes.row[place], self.changes.image[place], start)

    def codes(self, change: I64, filters: I64, kind: I64) -> I64:
        """Return hits as numbers, ascending: of each the change by its place among all, the filter, and the kind."""
        return np.sort((change * len(self.filters.columns) + filters) * 4 + kind)

    def save(self, path: Path) -> None:
        """Write it to a file that `load` reads."""
        own, changes = self.filters._asdict(), self.changes
        np.savez(path, rows=self.rows, row=changes.row, image=changes.image, batch=np.array(self.batch), **own)

    @classmethod
    def load(cls, path: Path) -> FilterWorkload:
        """Read what `save` wrote."""
        with np.load(path) as of:
            filters = Conjunctions(of["columns"], of["lo"], of["hi"])
            return cls(of["rows"], filters, Changes(of["row"], of["image"]), int(of["batch"]))


def _walk(random: np.random.Generator, rows: I64, publications: int) -> Changes:
    """Return changes of random rows: of 1, 2 or 3 columns (70, 20, 10 %), numeric ones four times as often."""
    now, which = rows.copy(), random.integers(0, len(rows), publications)
    fresh = draw_rows(random, publications)
    many = random.choice([1, 2, 3], publications, p=[0.7, 0.2, 0.1])
    often = np.array([0.02] * CATEGORICAL + [0.08] * NUMERIC)
    columns = random.choice(COLUMNS, (publications, 3), p=often)
    images = np.empty((publications, COLUMNS), np.int64)
    for i, row in enumerate(which.tolist()):
        before = now[row].copy()
        now[row, columns[i, : many[i]]] = fresh[i, columns[i, : many[i]]]
        if np.array_equal(before, now[row]):
            now[row, -1] += 1
        images[i] = now[row]
    return Changes(which, images)
