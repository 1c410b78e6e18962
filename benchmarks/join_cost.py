"""What joins cost from a statement to its first answer, and then for each change: a cell and a virtual edge.

    python -m benchmarks.join_cost [USUAL [MANY]]
    python -m benchmarks --only join_chain

Both are in this process (`benchmarks/join_chain.py`): no Kafka, no Spark. Times are processor times of its one thread.
Two tables of 50,000 rows, five of a key.

`join_live_s`           seconds until 100,000 subscriptions are live, whose answers have five rows: compiling, admission
                        and registration at the edge, first answers at the cell, snapshots at the edge; `join_live_us`
                        has the parts, of one subscription
`join_edge_bytes`       what an edge has allocated for each of them after a restart, its index laid
`joins_100k_over_1k`    rows/s of cell and edge with 100,000 subscriptions over those with 1,000; a change meets two with
                        either, and both take turns. `joins_1m_over_1k`: with 1,000,000, all of them at one virtual edge
`join_chain_us`         microseconds a change of cell and edge, by how many there are
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np

from benchmarks.join_chain import ROWS, JoinChain
from overlay.process.jit_warmup import warm
from overlay.process.lasting_objects import settle
from shard.tables import warm as warm_tables

FEW = 1_000
MET = 2.0
ANSWER = 5
CHANGES = 4_000
TURNS = 5


def measure(
    usual: int = 100_000, many: int = 1_000_000, turns: int = TURNS, rows: int = ROWS, changes: int = CHANGES
) -> dict[str, Any]:
    """Return all figures; `many` of 0 leaves those of a million out, tests have fewer rows and changes."""
    warm()
    warm_tables()
    with_five = live(usual, rows)
    crowds = {"100k": usual, "1m": many}
    ratios = {name: Crowds(count, turns, rows, changes) for name, count in crowds.items() if count}
    return with_five | {
        **{f"joins_{name}_over_1k": crowd.ratio for name, crowd in ratios.items()},
        "join_chain_us": {name: crowd.us for name, crowd in ratios.items()},
    }


def live(count: int, rows: int = ROWS) -> dict[str, Any]:
    """Return what it takes until subscriptions are live, and what an edge keeps of each."""
    met = ANSWER * count / rows
    JoinChain(rows).subscribe(max(count // 20, 1), met / 20)
    settle()
    chain = JoinChain(rows)
    chain.stages.seconds.clear()
    chain.subscribe(count, met)
    us = chain.stages.each(count)
    assert chain.edge.counts["live"] == count
    return {
        "join_live_s": round(sum(us.values()) * 100_000 / 1e6, 1),
        "join_live_us": us,
        "join_edge_bytes": chain.bytes_after_restart(lambda: chain.change(2)),
    }


class Crowds:
    """Two chains with equally many that hear of a change, of few subscriptions and of many.

    Wide ranges of few reach beyond the domain; a chain that is not counted tells how much wider they have to be.

    ratio: rows/s of the many over those of the few.  us: a change, of shard and edge, of either.
    """

    def __init__(self, count: int, turns: int, rows: int, changes: int) -> None:
        chains = {"few": JoinChain(rows), "many": JoinChain(rows)}
        chains["many"].subscribe(count, MET)
        once = JoinChain(rows)
        once.subscribe(FEW, MET)
        told = {name: chain.timed(changes)[1] for name, chain in (("few", once), ("many", chains["many"]))}
        chains["few"].subscribe(FEW, MET * told["many"] / told["few"])
        chains["few"].timed(changes)
        settle()
        runs = [{name: chain.timed(changes) for name, chain in chains.items()} for _ in range(turns)]
        whole = [[sum(run[name][0].values()) for name in ("few", "many")] for run in runs]
        self.ratio = round(float(np.median([few / many for few, many in whole])), 3)
        self.us = {name: _least([run[name] for run in runs], changes) for name in chains}


def _least(runs: list[tuple[dict[str, float], float]], changes: int) -> dict[str, float]:
    """Return least microseconds a change by stage, and deliveries a change."""
    stages = {name: round(min(run[name] for run, _ in runs) / changes * 1e6, 2) for name in ("shard", "edge")}
    return stages | {"deliveries": round(float(np.mean([told for _, told in runs])), 2)}


if __name__ == "__main__":
    began = time.process_time()
    print(json.dumps(measure(*map(int, sys.argv[1:])), indent=2))
    print(f"{time.process_time() - began:.0f} s of processor time")
