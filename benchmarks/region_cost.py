"""What a row change costs in the index of filters where both sides are regions, and where rows choose subscribers.

    python -m benchmarks --only regions

Rows are offers: a range of prices, a range of time, a range of ages that every other row leaves open, and one of 200
regions or NULL. Subscribers ask for prices and a moment; with an audience they are of an age and a region. All are asked
in turns, and each figure is the least processor time of many runs over the same updates, microseconds a change.

`region_us_100k`    `price && '[p,q)' AND valid @> t`, which is 4 columns: `us`, `hits` a change; `over_filter`: over filters
                    of 4 intervals, of as many independent columns and with as many hits
`audience_us_100k`  the same with `ATTRIBUTES (age = a, region = 'r')`: 7 columns; over filters of prices, a moment and 3
                    intervals of independent columns, with as many hits

With other numbers of filters (`--quick`) the names say so.
"""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np

from benchmarks.filter_workload import zipf
from state.change_batch import I64, Bool
from state.filter_columns import COUNT, NULL, FilterColumns
from state.filter_index import FilterIndex, Hits, warm
from state.order_code import INT64_MAX, INT64_MIN

ROWS, CHANGES, RUNS = 50_000, 400, 25
REGIONS = zipf(200, 0.8)
OF_REGION, OF_AUDIENCE = 4, 7
"""Columns: the two ends of price, of time, of age; the region."""
_SPAN = 1_000_000


def measure(filters: int = 100_000) -> dict[str, Any]:
    """Return both figures."""
    warm()
    size = f"{filters // 1000}k"
    return {
        f"region_us_{size}": _beside(filters, OF_REGION),
        f"audience_us_{size}": _beside(filters, OF_AUDIENCE),
    }


class Case:
    """An index that is laid out, and the updates that it is asked for."""

    def __init__(self, filters: FilterColumns, rows: tuple[I64, Bool], changes: tuple[I64, Bool, I64, Bool]) -> None:
        self._changes = changes
        self._index = FilterIndex(rows[0].shape[1])
        self._index.insert_all(filters)
        self._index.relay(rows)
        self.hits = len(self.match().slot) / CHANGES
        self.seconds = np.inf

    def match(self) -> Hits:
        """Return what the updates hit."""
        old, old_valid, new, valid = self._changes
        there = np.ones(CHANGES, np.bool_)
        return self._index.match(old, old_valid, there, new, valid, there)

    def run(self) -> None:
        """Measure it once."""
        begin = time.thread_time()
        self.match()
        self.seconds = min(self.seconds, time.thread_time() - begin)


def _beside(filters: int, width: int) -> dict[str, float]:
    """Return the cost of filters of regions, and over that of filters of as many columns."""
    source = np.random.default_rng(11)
    rows = draw_offers(source, ROWS)
    regions = Case(draw_subscribers(source, filters, width), rows, _updates(source, draw_offers))
    draw, like = (_numbers, 0) if width == OF_REGION else (_half_offers, OF_REGION)
    rows, updates, share = draw(source, ROWS), _updates(source, draw), 0.1
    for _ in range(4):
        plain = Case(_plain(source, filters, width, like, share), rows, updates)
        share *= (regions.hits / max(plain.hits, regions.hits / 50)) ** (1 / (width - like))
    for _ in range(RUNS):
        regions.run()
        plain.run()
    return {
        "us": round(regions.seconds / CHANGES * 1e6, 2),
        "hits": round(regions.hits, 1),
        "filter_hits": round(plain.hits, 1),
        "over_filter": round(regions.seconds / plain.seconds, 2),
    }


def draw_offers(source: np.random.Generator, n: int) -> tuple[I64, Bool]:
    """Return n rows, int64[n, 7], and where they are not NULL."""
    rows = np.empty((n, OF_AUDIENCE), np.int64)
    for at, width in ((0, 0.004), (2, 0.01)):
        rows[:, at] = source.integers(0, _SPAN, n)
        rows[:, at + 1] = rows[:, at] + (source.exponential(width, n) * _SPAN).astype(np.int64)
    bounded = source.random(n) < 0.5
    rows[:, 4] = np.where(bounded, source.integers(0, 60, n), INT64_MIN + 1)
    rows[:, 5] = np.where(bounded, rows[:, 4] + source.integers(0, 30, n), INT64_MAX - 1)
    rows[:, 6] = source.choice(len(REGIONS), n, p=REGIONS)
    valid = np.ones(rows.shape, np.bool_)
    valid[:, 6] = source.random(n) < 0.7
    return rows, valid


def draw_subscribers(source: np.random.Generator, n: int, width: int) -> FilterColumns:
    """Return n subscriptions of regions, with `width` columns."""
    price, moment = source.integers(0, _SPAN, n), source.integers(0, _SPAN, n)
    beyond, age = price + (source.exponential(0.004, n) * _SPAN).astype(np.int64), source.integers(5, 90, n)
    region = source.choice(len(REGIONS), n, p=REGIONS)
    least, most = np.full(n, INT64_MIN), np.full(n, INT64_MAX)
    lo = np.stack([least, price, least, moment, least, age, region], axis=1)[:, :width]
    hi = np.stack([beyond, most, moment, most, age, most, region], axis=1)[:, :width]
    made = FilterColumns.of_intervals(*_of_all(n, width), np.tile(np.arange(width), (n, 1)), lo, hi)
    if width == OF_AUDIENCE:
        made.conditions[width - 1 :: width, 0] = width - 1 | 1 << NULL | 1 << COUNT
    return made


def _numbers(source: np.random.Generator, n: int) -> tuple[I64, Bool]:
    """Return n rows of independent numbers."""
    rows = source.integers(0, _SPAN, (n, OF_AUDIENCE))
    return rows, np.ones(rows.shape, np.bool_)


def _half_offers(source: np.random.Generator, n: int) -> tuple[I64, Bool]:
    """Return n rows with the ranges of price and time of offers, and independent numbers in their other columns."""
    rows, valid = _numbers(source, n)
    rows[:, :OF_REGION] = draw_offers(source, n)[0][:, :OF_REGION]
    return rows, valid


def _plain(source: np.random.Generator, n: int, width: int, like: int, share: float) -> FilterColumns:
    """Return n filters of `width` columns: `like` subscribers of the first ones, and intervals of the others.

    About `share` of the values of a column lie within such an interval.
    """
    size = int(share * _SPAN)
    lo = source.integers(-size // 2, _SPAN - size // 2, (n, width))
    hi = lo + size
    if like:
        of_regions = draw_subscribers(source, n, like).conditions.reshape(n, like, 3)
        lo[:, :like], hi[:, :like] = of_regions[:, :, 1], of_regions[:, :, 2]
    return FilterColumns.of_intervals(*_of_all(n, width), np.tile(np.arange(width), (n, 1)), lo, hi)


def _of_all(n: int, width: int) -> tuple[I64, Any]:
    """Return n slots, and of each filter that all its columns are of interest."""
    return np.arange(n), np.full(n, (1 << width) - 1, np.uint64)


def _updates(source: np.random.Generator, draw: Any) -> tuple[I64, Bool, I64, Bool]:
    """Return updates of one attribute: both ends of a range, or one of two neighbouring numbers."""
    (old, old_valid), (fresh, fresh_valid) = draw(source, CHANGES), draw(source, CHANGES)
    new, valid = old.copy(), old_valid.copy()
    attribute = source.integers(0, 4, CHANGES)
    for at in range(OF_AUDIENCE):
        which = attribute == at // 2
        new[which, at], valid[which, at] = fresh[which, at], fresh_valid[which, at]
    return old, old_valid, new, valid


if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
