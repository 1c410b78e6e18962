"""What a row change costs where first rows of ranges are asked for.

    python -m benchmarks --only bestk

50,000 rows, x and rank drawn at random, no groups; each figure is the least processor time of several runs over the
same changes, in microseconds a change, the layout left out.

`bestk_us`         by limit: a row comes, goes, becomes better, becomes worse, moves along x
`bestk_over_min`   the same at a limit of 1 over the tree of minima (state/a2b_tree.py), for rows that come and go
`bestk_moves_up`   candidates a change by limit, where a row goes
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from state.a2b_tree import A2BTree
from state.best_tree import ABSENT, BestTree
from state.change_batch import I64
from state.ordering import Layout

ROWS = 50_000
CHANGES = 1_000
RUNS = 12
LIMITS = (1, 10)
KINDS = ("comes", "goes", "better", "worse", "moves")


def measure(rows: int = ROWS) -> dict[str, Any]:
    """Return all costs."""
    case = Case(rows)
    trees = {(kind, most): case.best(kind, most) for most in LIMITS for kind in KINDS}
    over = {kind: round(trees[kind, 1][0] / case.minimum(kind), 2) for kind in ("comes", "goes")}
    return {
        "bestk_us": {str(most): {kind: round(trees[kind, most][0], 2) for kind in KINDS} for most in LIMITS},
        "bestk_over_min": over,
        "bestk_moves_up": {str(most): round(trees["goes", most][1], 1) for most in LIMITS},
    }


class Case:
    """Rows at random places, and changes of each kind; slots have room for the rows that come."""

    def __init__(self, rows: int) -> None:
        rng = np.random.default_rng(5)
        slots = rows + CHANGES
        self._x = np.sort(rng.integers(0, 10**9, slots))
        every = np.arange(slots)
        self._layout = Layout(every, self._x, np.zeros(slots, np.int64), np.array([0, slots]), every, 0)
        self._rank = rng.permutation(slots).astype(np.int64) * 10
        self._fresh = rng.choice(slots, CHANGES, replace=False)
        self._leaves = self._rank.copy()
        self._leaves[self._fresh] = ABSENT
        self._old = rng.choice(np.flatnonzero(self._leaves != ABSENT), CHANGES, replace=False)
        self._better = (self._rank[self._old] * rng.random(CHANGES)).astype(np.int64) // 10 * 10 + 5
        far = (10 * slots - self._rank[self._old]) * rng.random(CHANGES)
        self._worse = self._rank[self._old] + far.astype(np.int64) // 10 * 10 + 5

    def best(self, kind: str, most: int) -> tuple[float, float]:
        """Return microseconds and candidates a change."""
        changes, found = self._changes(kind, -1), []
        taken = _least(
            lambda: BestTree(self._layout, self._leaves), lambda tree: found.append(tree.replay(changes, most))
        )
        return taken, len(found[0].cand) / CHANGES

    def minimum(self, kind: str) -> float:
        """Return microseconds a change of the tree of minima."""
        changes = self._changes(kind, ABSENT)
        return _least(lambda: A2BTree(self._layout, self._leaves), lambda tree: tree.replay(*changes))

    def _changes(self, kind: str, nothing: int) -> I64:
        old, rank = self._old, self._rank
        away, none = np.full(CHANGES, -1), np.full(CHANGES, nothing)
        sides = {
            "comes": (away, none, self._fresh, rank[self._fresh]),
            "goes": (old, rank[old], away, none),
            "better": (old, rank[old], old, self._better),
            "worse": (old, rank[old], old, self._worse),
            "moves": (old, rank[old], self._fresh, rank[old]),
        }[kind]
        return np.stack([np.arange(CHANGES), *sides])


def _least(make: Callable[[], Any], run: Callable[[Any], object]) -> float:
    """Return the least processor time of runs, each over what is made anew, in microseconds a change."""
    times = []
    for _ in range(RUNS):
        made = make()
        start = time.thread_time()
        run(made)
        times.append(time.thread_time() - start)
    return min(times) / CHANGES * 1e6


if __name__ == "__main__":
    print(json.dumps(measure(), indent=1))
