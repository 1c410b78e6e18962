"""What a run of the benchmarks says: a table for people, and `latest.json`."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil
from rich.table import Table

from benchmarks.bench import Sizes

PACKAGES = ("pyspark", "pyarrow", "pandas", "numpy", "numba", "msgspec", "confluent-kafka")
GOALS: dict[str, tuple[str, float]] = {
    "match_over_floor": (">=", 0.9),
    "match_over_copy": (">=", 0.6),
    "whole_over_match": (">=", 0.6),
    "latency_ms.p50": ("<=", 1_000),
    "latency_ms.p99": ("<=", 3_000),
    "mixed_latency_ms.p50": ("<=", 800),
    "mixed_latency_ms.p99": ("<=", 1_500),
    "operator_us.value_change": ("<=", 1),
    "operator_us.move": ("<=", 3),
    "filter_us_62500.random": ("<=", 10),
    "filter_us_62500.templates": ("<=", 5),
    "filter_over_numpy_100k": (">=", 40),
    "audience_us_100k.over_filter": ("<=", 1.2),
    "subject_over_paper": (">=", 100),
    "subject_step_over_random": ("<=", 0.5),
    "subject_insert_fit.r2": (">=", 0.98),
    "subject_stored.over": ("<=", 1.1),
    "filter_live_s_1m.templates": ("<=", 60),
    "filter_bytes.templates": ("<=", 400),
    "filters_1m_over_1k.templates": (">=", 0.8),
    "filters_1m_over_1k.random": (">=", 0.8),
    "filter_rows_per_s_1m.templates": (">=", 6_000),
    "filter_rows_per_s_1m.random": (">=", 6_000),
    "image_us.numbers.whole": ("<=", 0.5),
    "image_us.texts.whole": ("<=", 0.5),
    "bestk_us.10.goes": ("<=", 1.5),
    "bestk_us.10.moves": ("<=", 4),
    "bestk_over_min.comes": ("<=", 1.5),
    "bestk_over_min.goes": ("<=", 1.5),
    "bestk_edge_us_1m.message": ("<=", 12),
    "bestk_edge_pair_ns.kernel": ("<=", 300),
    "bestk_bytes": ("<=", 350),
    "join_edge_us_100k.us": ("<=", 12),
    "join_edge_us_1m.us": ("<=", 18),
    "join_deliveries_per_s": (">=", 500_000),
    "join_shard_us.1000.5": ("<=", 8),
    "joins_100k_over_1k": (">=", 0.85),
    "joins_1m_over_1k": (">=", 0.7),
    "join_bytes_over_ref_j_plus": ("<=", 0.067),
    "join_edge_bytes": ("<=", 300),
    "join_live_s": ("<=", 20),
    "join_first_s": ("<=", 8),
    "join_first_pause_s": ("<=", 6),
    "latency_beside_cell.p50": ("<=", 1.15),
    "view_us.1000": ("<=", 5),
    "view_us.20000": ("<=", 2),
    "view_chain_us.1000": ("<=", 6),
    "view_chain_us.20000": ("<=", 2),
    "view_over_match": (">=", 0.75),
    "cell_over_match": (">=", 0.65),
    "view_latency_over_table.p50": ("<=", 1.1),
    "view_first_pause_s": ("<=", 6),
    "view_live_s.by_sector": ("<=", 8),
    "view_live_s.best": ("<=", 8),
    "log_20k_over_2k": ("<=", 1.5),
    "subs_1m_over_1k": (">=", 0.9),
    "registration_s": ("<=", 45),
    "restart_s": ("<=", 30),
    "edge_bytes_per_subscription": ("<=", 200),
    "latency_1m_over_1k.p50": ("<=", 1.5),
    "latency_1m_over_1k.p99": ("<=", 1.5),
    "push_stopped_over_without": ("<=", 1.2),
    "push_crowd_over_without.half-open": ("<=", 1.2),
    "push_crowd_over_without.unread": ("<=", 1.2),
    "push_idle.connections": (">=", 2_000),
}
SHOWN = (
    "match_over_floor",
    "match_over_copy",
    "match_over_tuned_floor",
    "match_over_tuned_copy",
    "rows_per_s",
    "affected_per_publication",
    "whole_over_match",
    "whole_over_match_packed",
    "whole_rows_per_s",
    "registrations_per_s",
    "latency_ms",
    "mixed_latency_ms",
    "operator_us",
    "operator_load_ms",
    "filter_us_62500",
    "filter_over_numpy_100k",
    "filter_cost",
    "region_us_100k",
    "audience_us_100k",
    "subject_ms_100k",
    "subject_over_paper",
    "subject_step_over_random",
    "subject_insert_fit",
    "subject_stored",
    "subject_insert_ms",
    "filter_live_s_1m",
    "filter_live_us",
    "filter_bytes",
    "filter_edge_us",
    "filters_1m_over_1k",
    "filter_rows_per_s_1m",
    "image_us",
    "bestk_us",
    "bestk_over_min",
    "bestk_moves_up",
    "bestk_edge_us_1m",
    "bestk_edge_pair_ns",
    "bestk_edge_pairs",
    "bestk_live_s_1m",
    "bestk_live_us",
    "bestk_bytes",
    "bestk_stored",
    "bestk_restore_s_1m",
    "join_edge_us_100k",
    "join_edge_us_1m",
    "join_deliveries_per_s",
    "join_shard_us",
    "join_shard_alone_us",
    "join_shard_parts_us",
    "join_shard_rows",
    "join_shard_bytes",
    "join_shard_alone_bytes",
    "join_first_us",
    "join_first_one_ms",
    "joins_100k_over_1k",
    "joins_1m_over_1k",
    "join_chain_us",
    "join_live_s",
    "join_live_us",
    "join_edge_bytes",
    "join_bytes_over_ref_j_plus",
    "join_bytes",
    "join_window_state",
    "join_first_s",
    "join_first_pause_s",
    "latency_beside_cell",
    "join_latency_ms",
    "view_us",
    "view_chain_us",
    "view_shard_us",
    "view_over_match",
    "cell_over_match",
    "view_rows_per_s",
    "view_live_s",
    "view_first_pause_s",
    "view_latency_over_table",
    "view_latency_ms",
    "log_rows_per_s",
    "replay_rows_per_s",
    "log_20k_over_2k",
    "edge_us_per_message",
    "edge_us_per_subscription",
    "deliveries_per_s",
    "deliveries_100k",
    "subs_1m_over_1k",
    "registration_s",
    "restart_s",
    "edge_bytes_per_subscription",
    "latency_1m_over_1k",
    "million",
    "match_1m_over_50k",
    "large_table",
    "summaries",
    "memory_mb",
    "shard_ms",
    "push_events_per_s",
    "push_latency_ms",
    "push_stopped_over_without",
    "push_crowd_ms",
    "push_crowd_over_without",
    "push_crowd_mb",
    "push_us_per_delivery",
    "push_idle",
)


def circumstances(sizes: Sizes, began: datetime) -> dict[str, object]:
    """Return where, when and with what a run was made."""
    return {
        "date": began.isoformat(timespec="seconds"),
        "minutes": round((datetime.now(UTC) - began).total_seconds() / 60, 1),
        "commit": _commit(),
        "cores": os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 1e9),
        "machine": f"{platform.system()} {platform.release()} {platform.machine()}",
        "load_before": [round(load, 1) for load in os.getloadavg()],
        "python": platform.python_version(),
        "versions": {name: version(name) for name in PACKAGES},
        "sizes": asdict(sizes),
    }


def _commit() -> str | None:
    """Return the commit that runs; None outside of a repository."""
    try:
        asked = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def lines(figures: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    """Return name, figure, goal and verdict of everything shown; structures are spread over several lines."""
    leaves = [leaf for name in SHOWN for leaf in _leaves(name, figures.get(name))]
    return [(path, f"{value:,}", *_judged(path, value)) for path, value in leaves]


def _judged(path: str, value: float) -> tuple[str, str]:
    """Return the goal and whether it is met; nothing where there is no goal."""
    if path not in GOALS:
        return "", ""
    sign, limit = GOALS[path]
    return f"{sign} {limit:,g}", "yes" if (value >= limit if sign == ">=" else value <= limit) else "no"


def _leaves(path: str, value: Any) -> list[tuple[str, float]]:
    if isinstance(value, Mapping):
        return [leaf for name, inner in value.items() for leaf in _leaves(f"{path}.{name}", inner)]
    return [(path, value)] if isinstance(value, int | float) else []


def as_table(figures: Mapping[str, Any]) -> Table:
    """Return the table for the terminal."""
    table = Table("figure", "value", "goal", "met", title="tidewire benchmarks")
    table.columns[1].justify = "right"
    for line in lines(figures):
        table.add_row(*line)
    return table


def write(figures: Mapping[str, Any], target: Path) -> None:
    """Write all figures as JSON, whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_suffix(".new")
    beside.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    beside.replace(target)
