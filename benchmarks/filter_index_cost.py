"""What a row change costs in the index of filters, by how many filters there are and of how many statements.

    python -m benchmarks --only filters

The workload is `benchmarks/filter_workload.py`; of a row that comes about two filters hold. The index is laid out for
50,000 of such rows. Each figure is the least processor time of several runs over the same changes, in microseconds a
change: images in, hits out, which are compared with NumPy's before.

`filter_us_62500`        updates, judged on both images, of filters of any attributes (`random`) and of those of 12
                         statements (`templates`)
`filter_over_numpy_100k` how many times as long NumPy takes to compare a new row with 100,000 filters, column by column
`filter_cost`            the same of rows that come; to put filters in and lay the index out, microseconds a filter;
                         bytes of a filter; boxes looked at for a hit (or for a change without any)

With other numbers of filters (`--quick`) the names say so.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.filter_workload import COLUMNS, Changes, Conjunctions, draw_changes, draw_filters, draw_rows
from state.change_batch import I64
from state.filter_columns import FilterColumns
from state.filter_index import FilterIndex, Hits, warm

HITS = 2.0
ROWS = 50_000
CHANGES = 400
COMPARED = 20
"""Rows that NumPy compares with all filters."""
RUNS = 40
TEMPLATES = 12


def measure(filters: int = 62_500, against_numpy: int = 100_000) -> dict[str, Any]:
    """Return all costs."""
    warm()
    sample = draw_rows(np.random.default_rng(77), ROWS)
    cases = {"random": 0, "templates": TEMPLATES}
    measured = {name: Case(draw_filters(filters, HITS, many), sample) for name, many in cases.items()}
    compared = Case(draw_filters(against_numpy, HITS), sample)
    return {
        f"filter_us_{filters}": {name: case.change_us(updates=True) for name, case in measured.items()},
        f"filter_over_numpy_{against_numpy // 1000}k": compared.over_numpy(),
        "filter_cost": {name: case.costs() for name, case in measured.items()},
    }


class Case:
    """An index that is laid out, and what is asked of it."""

    def __init__(self, filters: Conjunctions, sample: I64) -> None:
        self.filters = filters
        self.index = FilterIndex(COLUMNS)
        n = len(filters.columns)
        bits = np.where(filters.columns >= 0, 1 << np.maximum(filters.columns, 0), 0)
        interest = np.bitwise_or.reduce(bits, axis=1).astype(np.uint64)
        begin = time.thread_time()
        self.index.insert_all(FilterColumns.of_intervals(np.arange(n), interest, *filters))
        self.index.relay((sample, np.ones(sample.shape, np.bool_)))
        self._build_us = (time.thread_time() - begin) / n * 1e6

    def change_us(self, updates: bool) -> float:
        """Return the cost of a change, of as many as there are in a batch of some hundred."""
        changes = draw_changes(5, CHANGES, updates)
        self._check(changes)
        return round(least(lambda: self._match(changes)) / CHANGES * 1e6, 2)

    def costs(self) -> dict[str, float]:
        """Return what else an index costs."""
        return {
            "insert_us": self.change_us(updates=False),
            "build_us": round(self._build_us, 2),
            "bytes": round(self.index.nbytes / len(self.index)),
            "candidates": round(self.index.candidates_per_hit, 1),
        }

    def over_numpy(self) -> float:
        """Return how many times as long NumPy takes for a new row."""
        rows = draw_changes(5, COMPARED, updates=False).new
        plain = Plain(self.filters)
        seconds = least(lambda: [plain.met(row) for row in rows], runs=5) / COMPARED
        return round(seconds * 1e6 / self.change_us(updates=False), 1)

    def _match(self, changes: Changes) -> Hits:
        valid = np.ones(changes.new.shape, np.bool_)
        return self.index.match(changes.old, valid, changes.had, changes.new, valid, changes.has)

    def _check(self, changes: Changes) -> None:
        hits, plain = self._match(changes), Plain(self.filters)
        for i in range(0, CHANGES, CHANGES // 10):
            now = hits.slot[(hits.change == i) & (hits.kind >= 2)]
            differs = (self.filters.columns >= 0) & ((changes.old[i] != changes.new[i])[self.filters.columns])
            asked = plain.met(changes.new[i])
            expected = asked[differs[asked].any(axis=1)] if changes.had[i] else asked
            assert np.sort(now).tolist() == expected.tolist(), f"change {i} has other hits than NumPy finds"


class Plain:
    """The filters column by column, as one compares with NumPy."""

    def __init__(self, filters: Conjunctions) -> None:
        self._n = len(filters.columns)
        self._columns = []
        for c in range(COLUMNS):
            which, place = np.nonzero(filters.columns == c)
            self._columns.append((which, filters.lo[which, place], filters.hi[which, place]))

    def met(self, row: I64) -> I64:
        """Return the filters that a row meets."""
        holds = np.ones(self._n, np.bool_)
        for value, (which, lo, hi) in zip(row, self._columns, strict=True):
            holds[which] &= (lo <= value) & (value <= hi)
        return np.flatnonzero(holds)


def least(work: Callable[[], object], runs: int = RUNS) -> float:
    """Return the least processor time of several runs, in seconds."""
    times = []
    for _ in range(runs):
        begin = time.thread_time()
        work()
        times.append(time.thread_time() - begin)
    return min(times)


if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
