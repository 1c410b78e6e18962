"""Flink SQL, tuned by hand: the range is cut into buckets, so that the join has an equality to hash by.

A subscription is entered once for each bucket that its range touches, and a row looks only at its own bucket; the
conditions of the range stay. It works for a range that is known to lie within bounds, by somebody who knows the data.
"""

from __future__ import annotations

from benchmarks.peers.flink_sql import FlinkSql
from benchmarks.peers.worker import main

WIDTH = 10


class FlinkBuckets(FlinkSql):
    """The same job with `bucket = FLOOR(risk / 10)` in the join."""

    question = f"""
    INSERT INTO answer SELECT s.number, MIN(t.price)
    FROM subscription s JOIN stock t
    ON s.bucket = CAST(FLOOR(t.risk / {WIDTH}) AS BIGINT) AND t.risk BETWEEN s.lo AND s.hi
    GROUP BY s.number
    """

    def buckets(self, lo: float, hi: float) -> range:
        """Return the buckets that the range touches."""
        return range(int(lo // WIDTH), int(hi // WIDTH) + 1)


if __name__ == "__main__":
    main(FlinkBuckets)
