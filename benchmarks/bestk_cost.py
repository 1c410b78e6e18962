"""What a row change costs where first rows of ranges are asked for.

    python -m benchmarks --only bestk

50,000 rows, x and rank drawn at random, no groups; each figure is the least processor time of several runs over the
same changes, in microseconds a change. The layout and the tree are made before; room for the messages is made within.

`bestk_us`         by limit: a row comes, goes, becomes better, becomes worse, moves along x
`bestk_over_min`   the same at a limit of 1 over the tree of minima (state/a2b_tree.py), for rows that come and go
`bestk_moves_up`   candidates a change by limit, where a row goes
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from state.a2b_tree import A2BTree
from state.best_tree import BestTree
from state.change_batch import I64
from state.minima import ABSENT
from state.ordering import Layout

ROWS = 50_000
CHANGES = 1_000
RUNS = 12
LIMITS = (1, 10)
KINDS = ("comes", "goes", "better", "worse", "moves")
OVER = ("comes", "goes")

Run = Callable[[], tuple[float, Any]]
Name = tuple[str, int]
"""Kind of changes and limit, 0 for the tree of minima."""


def measure(rows: int = ROWS, turns: int = RUNS) -> dict[str, Any]:
    """Return all costs."""
    case = Case(rows)
    runs = {(kind, most): case.best(kind, most) for most in LIMITS for kind in KINDS}
    took = _by_turns(runs | {(kind, 0): case.minimum(kind) for kind in OVER}, turns)
    moves_up = {str(most): len(runs["goes", most]()[1].cand) / CHANGES for most in LIMITS}
    return {
        "bestk_us": {str(most): {kind: round(took[kind, most], 2) for kind in KINDS} for most in LIMITS},
        "bestk_over_min": {kind: round(took[kind, 1] / took[kind, 0], 2) for kind in OVER},
        "bestk_moves_up": {most: round(count, 1) for most, count in moves_up.items()},
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

    def best(self, kind: str, most: int) -> Run:
        """Return what runs the changes of a kind through a new tree for the first `most` rows."""
        changes = self._changes(kind, -1)
        return lambda: _timed(BestTree(self._layout, self._leaves), lambda tree: tree.replay(changes, most))

    def minimum(self, kind: str) -> Run:
        """Return the same for the tree of minima."""
        changes = self._changes(kind, ABSENT)
        return lambda: _timed(A2BTree(self._layout, self._leaves), lambda tree: tree.replay(*changes))

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


def _timed(tree: Any, run: Callable[[Any], Any]) -> tuple[float, Any]:
    """Return microseconds a change, and what was found."""
    start = time.thread_time()
    found = run(tree)
    return (time.thread_time() - start) / CHANGES * 1e6, found


def _by_turns(runs: Mapping[Name, Run], times: int) -> dict[Name, float]:
    """Return the least microseconds of each; they take turns, so that a ratio is of runs that saw the same."""
    turns = [{name: run()[0] for name, run in runs.items()} for _ in range(times)]
    return {name: min(turn[name] for turn in turns) for name in runs}


if __name__ == "__main__":
    print(json.dumps(measure(), indent=1))
