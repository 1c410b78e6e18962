"""What filters cost from a statement to its first answer, and then for each change: a shard and a virtual edge.

    python -m benchmarks.filter_cost [filters]

Both are in this process (`benchmarks/filter_chain.py`): no Kafka, no Spark. Times are processor times of its one thread.
A filter's first answer has about 20 of 50,000 rows. `templates`: filters of 12 statements; `random`: of any attributes,
and of them a sixth become live where that is measured: most of it is parsing statements that are new.

`filter_live_s_1m`      1,000,000 times the seconds a filter of: compiling, admission and registration at the edge, its
                        first answer at the shard, its snapshot at the edge; `filter_live_us` has the parts
`filter_bytes`          what an edge has allocated for each filter after a restart; the bits of its index, which it lays
                        with the first changes, come to it (50 to 140 bytes)
`filter_edge_us`        at the edge, of images of changed rows: for a change, and for a hit (a delivery) what is beyond
                        the same changes with nobody hit
`filters_1m_over_1k`    rows/s of shard and edge with as many filters as 16 virtual edges of a million have each, over
                        those with 1,000; a row has two hits with either, and both take turns
`filter_rows_per_s_1m`  changes/s that one edge of 16 virtual edges can take with 1,000,000 filters and two hits a
                        change: one of them is measured, with a sixteenth of the filters and of the hits
`image_us`              at the shard, of a changed row: finding its image, writing it, the whole of both; with 20
                        columns of numbers, and with 20 of texts no two of which are alike
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np

from benchmarks.edge_memory import VIRTUAL_EDGES
from benchmarks.filter_chain import ROWS, Chain
from benchmarks.filter_workload import Conjunctions, draw_filters
from benchmarks.image_cost import image_us
from overlay.process.jit_warmup import warm
from overlay.process.lasting_objects import settle
from shard.tables import warm as warm_tables

ANSWER = 20
HITS = 2.0
FEW = 1_000
CHANGES = 5_000
TURNS = 5
TEMPLATES = {"templates": 12, "random": 0}


def measure(filters: int = 62_500) -> dict[str, Any]:
    """Return all figures; those of a million filters are from `filters`."""
    warm()
    warm_tables()
    live = {name: Live(filters if templates else filters // 6, templates) for name, templates in TEMPLATES.items()}
    crowds = {name: Crowds(filters, templates) for name, templates in TEMPLATES.items()}
    return {
        "filter_live_s_1m": {name: round(sum(one.us.values()), 1) for name, one in live.items()},
        "filter_live_us": {name: one.us for name, one in live.items()},
        "filter_edge_us": {name: one.change_us() for name, one in live.items()},
        "filter_bytes": {name: one.chain.bytes_after_restart() for name, one in live.items()},
        "filters_1m_over_1k": {name: one.ratio for name, one in crowds.items()},
        "filter_rows_per_s_1m": {name: one.rows_per_s for name, one in crowds.items()},
        "image_us": image_us(),
    }


class Live:
    """Filters that have become live; `us`: what each stage took for each."""

    def __init__(self, filters: int, templates: int) -> None:
        drawn = draw_filters(filters, ANSWER * filters / ROWS, templates)
        once = Chain()
        once.subscribe(_some(drawn, filters // 4))
        del once
        self.chain = Chain()
        self.chain.stages.seconds.clear()
        settle()
        self.chain.subscribe(drawn)
        self.us = self.chain.stages.each(filters)
        assert self.chain.edge.counts["live"] == filters

    def change_us(self) -> dict[str, float]:
        """Return what a change costs the edge, a hit beyond it, and how many hits a change has."""
        seconds, hits = self.chain.timed(CHANGES, TURNS)
        alone, _ = Chain().timed(CHANGES, TURNS)
        each, bare = seconds["edge"] / CHANGES * 1e6, alone["edge"] / CHANGES * 1e6
        return {"change": round(each, 2), "hit": round((each - bare) / hits, 2), "hits": round(hits, 2)}


class Crowds:
    """Two chains with equally many hits a row, of few filters and of many."""

    def __init__(self, filters: int, templates: int) -> None:
        few, many, edge = Chain(), Chain(), Chain()
        few.subscribe(draw_filters(FEW, HITS, templates))
        many.subscribe(draw_filters(filters, HITS, templates))
        edge.subscribe(draw_filters(filters, HITS / VIRTUAL_EDGES, templates))
        settle()
        runs = [[sum(chain.timed(CHANGES, 1, seed)[0].values()) for chain in (few, many)] for seed in range(TURNS)]
        self.ratio = round(float(np.median([a / b for a, b in runs])), 3)
        seconds, _ = edge.timed(CHANGES, TURNS)
        self.rows_per_s = round(CHANGES / seconds["edge"] / VIRTUAL_EDGES)


def _some(filters: Conjunctions, count: int) -> Conjunctions:
    return Conjunctions(*(part[:count] for part in filters))


if __name__ == "__main__":
    began = time.process_time()
    print(json.dumps(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 62_500), indent=2))
    print(f"{time.process_time() - began:.0f} s of processor time")
