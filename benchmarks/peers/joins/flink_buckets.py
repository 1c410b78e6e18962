"""Flink SQL, tuned by hand: r and s are joined by key, and with the subscriptions by squares, as `buckets.py` says."""

from __future__ import annotations

from benchmarks.peers.joins.buckets import WIDTH, squares
from benchmarks.peers.joins.flink_join import FlinkJoin
from benchmarks.peers.joins.workload import JoinWorkload
from benchmarks.peers.worker import main


class FlinkBuckets(FlinkJoin):
    """The same question with equalities in both joins."""

    question = f"""
    INSERT INTO answer SELECT q.number, r.id, r.v, s.id, s.v
    FROM r JOIN s ON r.k = s.k JOIN asked q ON q.b0 = r.x / {WIDTH} AND q.b1 = s.x / {WIDTH}
    AND r.x BETWEEN q.lo0 AND q.hi0 AND s.x BETWEEN q.lo1 AND q.hi1
    """

    def squares(self, *bounds: int) -> tuple[tuple[int, int], ...]:
        return squares(*bounds)


if __name__ == "__main__":
    main(FlinkBuckets, JoinWorkload.load)
