"""All benchmarks, one after the other; `make bench`.

    python -m benchmarks [--quick] [--only NAME ...]

Prints a table and writes `benchmarks/results/latest.json` after each part, the figures that were asked for at its top
level; what `--only` leaves out is kept as it stands there. Takes half an hour; with `--quick` (small sizes, to see that
it works; the figures mean nothing) some minutes, and writes `local-quick.json` then.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks import (
    bestk_cost,
    bestk_edge_cost,
    decode_cost,
    deliveries,
    edge_cost,
    filter_cost,
    filter_index_cost,
    join_cost,
    join_edge_cost,
    join_first_cost,
    join_latency,
    join_shard_cost,
    join_traffic,
    large_table,
    latency,
    log_cost,
    match_rate,
    million,
    mixed_latency,
    operator_cost,
    push,
    push_crowds,
    region_cost,
    several_edges,
    shard_cost,
    subject_bench,
    summaries,
    view_cost,
    view_latency,
    view_rate,
    view_shard_cost,
    whole_rate,
)
from benchmarks.bench import QUICK, Bench, Sizes
from benchmarks.report import as_table, circumstances, write

RESULTS = Path(__file__).parent / "results"

PARTS: dict[str, Callable[[Bench], Mapping[str, Any]]] = {
    "operator": lambda bench: operator(),
    "decode": lambda bench: {"decode": decode_cost.measure()},
    "edge": lambda bench: edge_cost.measure(),
    "filters": lambda bench: filter_index_cost.measure(bench.sizes.filters, bench.sizes.filters_against_numpy),
    "regions": lambda bench: region_cost.measure(bench.sizes.filters_against_numpy),
    "subject": lambda bench: subject_bench.measure(bench.sizes.filters_against_numpy),
    "filter_chain": lambda bench: filter_cost.measure(bench.sizes.filters),
    "bestk": lambda bench: bestk_cost.measure() | bestk_edge_cost.measure(bench.sizes.filters),
    "join_first": lambda bench: join_first_cost.measure(bench.sizes.rows, bench.sizes.subscriptions),
    "join_edge": lambda bench: join_edge_cost.measure(bench.sizes.subscriptions, bench.sizes.crowd),
    "join_shard": lambda bench: join_shard_cost.measure(bench.sizes.rows),
    "join_chain": lambda bench: join_cost.measure(bench.sizes.subscriptions, bench.sizes.crowd),
    "join_traffic": lambda bench: join_traffic.measure(bench.sizes.subscriptions),
    "view": lambda bench: view_cost.measure(bench.sizes.rows),
    "view_shard": lambda bench: view_shard_cost.measure(bench.sizes.rows, bench.sizes.subscriptions, bench.sizes.batch),
    "view_rate": view_rate.measure,
    "view_latency": view_latency.measure,
    "deliveries": deliveries.measure,
    "shard": lambda bench: shard_cost.measure(bench.sizes.rows, bench.sizes.subscriptions, bench.sizes.batch),
    "summaries": lambda bench: summaries.measure(),
    "match": match_rate.measure,
    "whole": whole_rate.measure,
    "latency": latency.measure,
    "mixed_latency": mixed_latency.measure,
    "join_latency": join_latency.measure,
    "log": log_cost.measure,
    "million": million.measure,
    "large_table": large_table.measure,
    "several_edges": several_edges.measure,
    "push": lambda bench: push.measure(bench.sizes, bench.say),
    "crowds": lambda bench: push_crowds.measure(bench.sizes, bench.say),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure tidewire on this machine.")
    parser.add_argument("--only", action="append", choices=sorted(PARTS), help="run this part; may be repeated")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that everything works")
    chosen = parser.parse_args(arguments)
    console, sizes = Console(), QUICK if chosen.quick else Sizes()
    target = RESULTS / ("local-quick.json" if chosen.quick else "latest.json")
    kept = json.loads(target.read_text(encoding="utf-8")) if chosen.only and target.exists() else {}
    for figures in run(chosen.only or list(PARTS), sizes, console):
        write(kept | figures, target)
    console.print(as_table(kept | figures))
    console.print(f"written to {target}", highlight=False)
    return 0


def operator() -> dict[str, Any]:
    """Return the operator's costs; `operator_us` has the goals: 50,000 rows, 1,000 changes, no load, no dump.

    What is linear in the rows is the load's: reading the state and laying it out, `operator_load_ms`.
    """
    costs = operator_cost.measure()
    cells: Any = costs["rows"]
    at = cells["50000"]["1000"]
    worst = max(at["good"]["operator_us"], at["bad"]["operator_us"])
    return {
        "operator_us": {"value_change": worst, "move": at["move"]["operator_us"]},
        "operator_load_ms": {"read": at["move"]["load_ms"], "lay_out": at["move"]["layout_ms"]},
        "operator_cost": costs,
    }


def run(names: Sequence[str], sizes: Sizes, console: Console) -> Iterator[dict[str, Any]]:
    """Run the parts `names` one after the other, each in a folder of its own; after each yield all figures so far."""
    began, clock = datetime.now(UTC), time.monotonic()
    figures: dict[str, Any] = circumstances(sizes, began)
    for name in names:
        folder = Path(tempfile.mkdtemp(prefix="tidewire-bench-"))

        def say(text: str, name: str = name) -> None:
            console.print(f"[dim]{time.monotonic() - clock:6.1f} s[/] {name}: {text}", highlight=False)

        say("...")
        try:
            figures |= PARTS[name](Bench(folder, sizes, say))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        yield figures | {"minutes": round((time.monotonic() - clock) / 60, 1)}


if __name__ == "__main__":
    raise SystemExit(main())
