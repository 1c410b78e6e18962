"""Filters through a shard and a virtual edge that many filters are subscribed at (`benchmarks/edge_chain.py`).

The table has the 20 attributes of `benchmarks/filter_workload.py`, as BIGINT, and a key. A filter shows the key and two
attributes; it is a SELECT with the conditions that the workload draws.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.edge_chain import EdgeChain
from benchmarks.filter_workload import COLUMNS, Conjunctions, draw_changes, draw_rows
from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from state.change_batch import I64

ROWS = 50_000
NAMES = [f"a{c}" for c in range(COLUMNS)]
DDL = f"CREATE TABLE item (k BIGINT PRIMARY KEY, {', '.join(f'{name} BIGINT' for name in NAMES)}) WITH ('topic'='item')"
CATALOG = apply_ddl(Catalog(), DDL, 0)
SHOWN = "k, a18, a19"


def statements(filters: Conjunctions) -> Iterator[str]:
    """Yield the statement of each filter."""
    for columns, lows, highs in zip(*(part.tolist() for part in filters), strict=True):
        asked = [
            f"{NAMES[c]} = {lo}" if lo == hi else f"{NAMES[c]} BETWEEN {lo} AND {hi}"
            for c, lo, hi in zip(columns, lows, highs, strict=True)
            if c >= 0
        ]
        yield f"SELECT {SHOWN} FROM item WHERE {' AND '.join(asked)}"


class Chain(EdgeChain):
    """A chain whose table has rows; `home` as there."""

    def __init__(self, rows: int = ROWS, home: int = 1) -> None:
        super().__init__(CATALOG, home)
        self._rows = draw_rows(np.random.default_rng(77), rows)
        self.run_batch(self.published(np.arange(rows), self._rows))

    def subscribe(self, filters: Conjunctions) -> None:
        """Let filters be live at the edge."""
        self.ask(statements(filters))

    def timed(self, count: int, batches: int, seed: int = 0) -> tuple[dict[str, float], float]:
        """Return the median seconds of shard and edge for a batch of `count` updates, and deliveries an update."""
        before, runs = self.edge.counters.deliveries, []
        for batch in range(batches):
            rows = self.updates(count, 100 * seed + batch)
            self.stages.seconds.clear()
            self.run_batch(rows)
            runs.append(dict(self.stages.seconds))
        seconds = {name: float(np.median([run[name] for run in runs])) for name in ("shard", "edge")}
        return seconds, (self.edge.counters.deliveries - before) / count / batches

    def updates(self, count: int, seed: int) -> list[bytes]:
        """Return changes of rows that there are, as the workload draws them."""
        source = np.random.default_rng(seed)
        which = source.integers(0, len(self._rows), count)
        drawn = draw_changes(seed, count, updates=True)
        changed = drawn.old != drawn.new
        made = []
        for i, row in enumerate(which.tolist()):
            self._rows[row] = np.where(changed[i], drawn.new[i], self._rows[row])
            made.append(self._rows[row].copy())
        return self.published(which, np.array(made))

    def published(self, keys: I64, rows: I64) -> list[bytes]:
        """Return rows as records of the topic."""
        fields = ",".join([f'"{name}":%d' for name in ("k", *NAMES)])
        return [(f"{{{fields}}}" % (key, *row)).encode() for key, row in zip(keys.tolist(), rows.tolist(), strict=True)]
