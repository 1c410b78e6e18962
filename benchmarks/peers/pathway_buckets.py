"""Pathway, tuned by hand: the range is cut into buckets, so that the join has the equality it asks for.

As in flink_buckets.py; here the subscriptions are spread over their buckets by the engine itself.
"""

from __future__ import annotations

from typing import Any

import pathway as pw

from benchmarks.peers.pathway_engine import finish
from benchmarks.peers.pathway_join import PathwayJoin
from benchmarks.peers.worker import main

WIDTH = 10


def buckets(lo: float, hi: float) -> tuple[int, ...]:
    """Return the buckets that a range touches."""
    return tuple(range(int(lo // WIDTH), int(hi // WIDTH) + 1))


class PathwayBuckets(PathwayJoin):
    """The same dataflow with an equality of buckets in the join."""

    def pairs(self, asked: Any, stock: Any) -> Any:
        of = pw.apply_with_type(buckets, tuple[int, ...], pw.this.lo, pw.this.hi)
        spread = asked.with_columns(bucket=of).flatten(pw.this.bucket)
        placed = stock.with_columns(bucket=pw.cast(int, pw.this.risk // WIDTH))
        joined = spread.join(placed, spread.bucket == placed.bucket)
        return joined.select(spread.number, spread.lo, spread.hi, placed.risk, placed.price)


if __name__ == "__main__":
    main(PathwayBuckets)
    finish()
