"""How long subscribers wait where questions of all kinds stand side by side: ranges, filters, first rows, sums.

    python -m benchmarks --only mixed_latency

As `benchmarks/latency.py`, with 100,000 subscriptions on 50,000 rows, of each kind the share in `KINDS`:

    range    SELECT MIN(price) FROM stock WHERE risk BETWEEN lo AND hi
    filter   SELECT symbol, price FROM stock WHERE risk BETWEEN lo AND hi AND exchange = e AND price < p
    first    SELECT symbol, price FROM stock WHERE risk BETWEEN lo AND hi ORDER BY price, symbol LIMIT k     k = 1 to 10
    sum      SELECT COUNT(*), SUM(price) FROM stock WHERE risk BETWEEN lo AND hi AND exchange IN (e, f)

Ranges and first rows are as wide as in `stock_workload.Audience`, filters hold some 8 rows of all exchanges, sums 20. A
publication changes some 4 answers; `deliveries_per_s` counts them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.bench import Bench
from benchmarks.latency import wait_of
from benchmarks.stock_workload import EXCHANGES, HIGHEST, TOP, Audience
from connectors.record import OutRecord
from connectors.topics import Topics

KINDS = {"range": 0.4, "filter": 0.3, "first": 0.2, "sum": 0.1}
FILTER_ROWS, SUM_ROWS, MOST = 8, 20, 10


def measure(bench: Bench) -> dict[str, object]:
    """Return the quantiles in milliseconds, and how much was heard."""
    sizes = bench.sizes
    audience = MixedAudience(sizes.subscriptions, sizes.rows)
    return {"mixed_latency_ms": wait_of(bench, sizes.rows, sizes.subscriptions, audience.subscriptions)}


class MixedAudience:
    """`size` subscribers to a table of `rows`, of all kinds; the same numbers give the same statements."""

    def __init__(self, size: int, rows: int, seed: int = 7) -> None:
        self._random = np.random.default_rng(seed)
        self._rows = rows
        self._kinds = self._random.choice(list(KINDS), size, p=list(KINDS.values())).tolist()
        self._wide = Audience(size, rows)

    def statements(self) -> Iterator[str]:
        """Yield what each asks."""
        for kind, lo, hi in zip(self._kinds, self._wide.lo, self._wide.hi, strict=True):
            yield self._statement(kind, lo, hi)

    def subscriptions(self, topics: Topics) -> Iterator[OutRecord]:
        """Yield the records that ask an edge."""
        for number, sql in enumerate(self.statements()):
            yield OutRecord(topics.subscriptions, None, b"subscriber-%06d" % number, f'{{"sql":"{sql}"}}'.encode())

    def _statement(self, kind: str, lo: float, hi: float) -> str:
        if kind == "range":
            return f"SELECT MIN(price) FROM stock WHERE risk BETWEEN {lo!r} AND {hi!r}"
        if kind == "first":
            limit = self._random.integers(1, MOST + 1)
            where = f"risk BETWEEN {lo!r} AND {hi!r}"
            return f"SELECT symbol, price FROM stock WHERE {where} ORDER BY price, symbol LIMIT {limit}"
        here = self._random.integers(len(EXCHANGES))
        one, other = EXCHANGES[here], EXCHANGES[here - 1]
        if kind == "filter":
            price = self._random.integers(0, HIGHEST // 100)
            where = f"{self._about(lo, FILTER_ROWS)} AND exchange = '{one}' AND price < {price}"
            return f"SELECT symbol, price FROM stock WHERE {where}"
        where = f"{self._about(lo, SUM_ROWS)} AND exchange IN ('{one}', '{other}')"
        return f"SELECT COUNT(*), SUM(price) FROM stock WHERE {where}"

    def _about(self, lo: float, rows: int) -> str:
        """Return the condition that about so many rows meet, from `lo` on."""
        return f"risk BETWEEN {lo!r} AND {round(lo + rows * TOP / self._rows, 3)!r}"
