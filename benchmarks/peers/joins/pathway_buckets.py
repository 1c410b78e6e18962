"""Pathway, tuned by hand: r and s are joined by key, and with the subscriptions by squares, as `buckets.py` says."""

from __future__ import annotations

from typing import Any

import pathway as pw

from benchmarks.peers.joins.buckets import WIDTH, squares
from benchmarks.peers.joins.pathway_join import PathwayJoin
from benchmarks.peers.joins.workload import JoinWorkload
from benchmarks.peers.pathway_engine import finish
from benchmarks.peers.worker import main


class PathwayBuckets(PathwayJoin):
    """The same question with equalities in both joins."""

    def joined(self, asked: Any, r: Any, s: Any) -> Any:
        of = pw.apply_with_type(squares, tuple[tuple[int, int], ...], asked.lo0, asked.hi0, asked.lo1, asked.hi1)
        spread = asked.with_columns(square=of).flatten(pw.this.square)
        pairs = r.join(s, r.k == s.k).select(
            r_id=r.row, r_v=r.v, r_x=r.x, s_id=s.row, s_v=s.v, s_x=s.x,
            square=pw.make_tuple(r.x // WIDTH, s.x // WIDTH),
        )  # fmt: skip
        met = spread.join(pairs, spread.square == pairs.square).select(
            spread.number, spread.lo0, spread.hi0, spread.lo1, spread.hi1,
            pairs.r_id, pairs.r_v, pairs.r_x, pairs.s_id, pairs.s_v, pairs.s_x,
        )  # fmt: skip
        this = pw.this
        return met.filter((this.r_x >= this.lo0) & (this.r_x <= this.hi0)).filter(
            (this.s_x >= this.lo1) & (this.s_x <= this.hi1)
        )


if __name__ == "__main__":
    main(PathwayBuckets, JoinWorkload.load)
    finish()
