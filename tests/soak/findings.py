"""What a soak says at the end: figures, tables, and what it must not have found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict
from statistics import median
from typing import Any

import msgspec
from rich.console import Console

from connectors.topics import Topics
from tests.soak.restarts import SLOW_SECONDS
from tests.soak.retention import expectation, is_bounded
from tests.soak.soak import Outcome
from tests.soak.trend import DiskTrend, Memory, MemoryTrend, disk_trend, memory_trend
from tidewire.terminal import table
from tidewire.verification.compare.report import rows_of

JUDGED_FROM_MINUTES = 30.0
"""In shorter runs slopes are told and not judged: nothing is warm yet."""
MEMORY_PART, MEMORY_MB = 0.10, 20.0
DISK_PART, DISK_MB = 0.25, 32.0
"""What may be more at the end of an hour: a part of the mean, or so many MB, whichever is more."""
_RESTART = ("process", "ended", "why", "it said", "down, s", "ready after, s")


def memory_trends(outcome: Outcome) -> dict[str, MemoryTrend]:
    """Return the trend of each role, from the second quarter of the run on."""
    assert outcome.census is not None
    by_role: dict[str, list[Memory]] = defaultdict(list)
    for moment in outcome.census.moments:
        for role, memory in moment.memory:
            by_role[role].append(memory)
    return {role: memory_trend(by_role[role], outcome.plan.seconds / 4) for role in sorted(by_role)}


def disk_trends(outcome: Outcome) -> dict[str, DiskTrend]:
    """Return the trend of each kind, from the second quarter of the run on."""
    assert outcome.census is not None
    by_kind: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for moment in outcome.census.moments:
        for kind, mb in moment.disk.items():
            by_kind[kind].append((moment.time, mb))
    return {kind: disk_trend(by_kind[kind], outcome.plan.seconds / 4) for kind in sorted(by_kind)}


def failures(outcome: Outcome, topics: Topics) -> Iterator[str]:
    """Yield what a soak must not have."""
    yield from outcome.failures
    report, figures = outcome.report, outcome.figures
    if report is None or not report.clean:
        yield "verify is not clean" if report else "nothing was verified"
    if report is not None and report.publications != figures["publications"]:
        yield f"{report.publications} publications were verified, {figures['publications']} were sent"
    if figures.get("publications_per_s", 0) < 0.98 * outcome.plan.rate:
        yield f"published {figures.get('publications_per_s')}/s instead of {outcome.plan.rate:g}/s"
    if outcome.plan.minutes < JUDGED_FROM_MINUTES:
        return
    for role, memory in memory_trends(outcome).items():
        if memory.over_time is not None and memory.over_time > max(MEMORY_PART * memory.mean, MEMORY_MB):
            yield f"memory of {role} grows by {memory.over_time:.0f} MB/h"
    for kind, disk in disk_trends(outcome).items():
        allowed = max(DISK_PART * disk.first, DISK_MB)
        if is_bounded(kind, topics) and disk.per_hour is not None and disk.per_hour > allowed:
            yield f"`{kind}` ({expectation(kind, topics)}) grows on disk by {disk.per_hour:.0f} MB/h"


def figures_of(outcome: Outcome, topics: Topics) -> dict[str, Any]:
    """Return everything as JSON has it; MB and MB/h with one decimal."""
    assert outcome.census is not None
    lags = [moment.lag for moment in outcome.census.moments if moment.lag is not None]
    disk = {
        kind: asdict(trend) | {"expected": expectation(kind, topics)} for kind, trend in disk_trends(outcome).items()
    }
    deliveries = outcome.census.moments[-1].deliveries if outcome.census.moments else None
    found = {
        **outcome.figures,
        "lag": {"median": median(lags), "most": max(lags), "last": lags[-1]} if lags else None,
        "delivery_records": deliveries,
        "memory_mb": {role: asdict(trend) for role, trend in memory_trends(outcome).items()},
        "disk_mb": disk,
        "verify": None
        if outcome.report is None
        else {"clean": outcome.report.clean} | msgspec.to_builtins(outcome.report),
        "kill_list": outcome.kills,
        "restarts": outcome.restarts.deaths,
        "starts": outcome.restarts.starts,
        "failures": list(failures(outcome, topics)),
    }
    return {name: _rounded(value) for name, value in found.items()}


def show(outcome: Outcome, topics: Topics, console: Console) -> None:
    """Print tables for a person, and the verdict."""
    memory = [
        (role, round(t.mean), round(t.peak), t.lives, _text(t.over_time), _text(t.with_age), _life(t))
        for role, t in memory_trends(outcome).items()
    ]
    header = ("memory, MB", "mean", "peak", "lives", "per hour", "per hour of age", "longest life")
    console.print(table(header, memory))
    disk = [
        (kind, round(t.first, 1), round(t.last, 1), round(t.peak, 1), _text(t.per_hour), expectation(kind, topics))
        for kind, t in disk_trends(outcome).items()
    ]
    console.print(table(("disk, MB", "when warm", "last", "peak", "per hour", "expected"), disk))
    console.print(table(_RESTART, [[str(value) for value in one.values()] for one in outcome.restarts.deaths]))
    for one in outcome.restarts.starts:
        if (one["ready_after_s"] or SLOW_SECONDS) >= SLOW_SECONDS:
            console.print(f"slow: {one}", markup=False)
    console.print(table(("", ""), _plain_figures(outcome)))
    if outcome.report is not None:
        console.print(table(("verify", ""), rows_of(outcome.report)))
        for fault in outcome.report.faults[:10]:
            console.print(f"{fault.kind}: {fault.about}: {fault.note}", markup=False)
    found = list(failures(outcome, topics))
    for failure in found:
        console.print(f"FAILED: {failure}", markup=False)
    console.print("not passed" if found else "passed")


def _plain_figures(outcome: Outcome) -> list[tuple[str, str]]:
    census = outcome.census
    lags = [moment.lag for moment in census.moments if moment.lag is not None] if census else []
    rows = [(name.replace("_", " "), str(value)) for name, value in outcome.figures.items()]
    return rows + ([("lag, median and most", f"{median(lags):,.0f}, {max(lags):,}")] if lags else [])


def _life(trend: MemoryTrend) -> str:
    if trend.longest is None:
        return ""
    minutes, warm, end = trend.longest
    return f"{minutes:.0f} min: {warm:.0f} -> {end:.0f}"


def _text(number: float | None) -> str:
    return "?" if number is None else f"{number:+.1f}"


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 1)
    if isinstance(value, dict):
        return {name: _rounded(one) for name, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, list | tuple) else value
