"""The same standing questions put to other engines, one after the other; `make peers`.

    python -m benchmarks.peers [--quick] [--most N] [--only PEER ...]

Each peer gets 10, 100, 1,000, ... subscriptions and the same publications, until it needs more than the limit. What
each is and how it is configured: docs/peers.md. Prints a table and writes `benchmarks/results/peers.json`, with
`--quick` (small sizes, to see that it works; the figures mean nothing) `local-peers-quick.json`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.bench import Sizes
from benchmarks.peers.contestant import PEERS, Contestant, NotInstalled, python_of
from benchmarks.peers.measured import Expected, Limits, Measured, measure
from benchmarks.peers.workload import Workload
from benchmarks.report import circumstances, write

RESULTS = Path(__file__).parents[1] / "results"
QUOTED = ("date", "commit", "whole_rows_per_s", "rows_per_s", "subs_1m_over_1k")


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is asked of every peer."""

    rows: int = 10_000
    publications: int = 20_000
    batch: int = 1_000
    subscriptions: tuple[int, ...] = (10, 100, 1_000, 10_000, 100_000, 1_000_000)


SMALL = Scale(rows=1_000, publications=1_000, batch=100, subscriptions=(10, 100))


@dataclass(slots=True)
class Contest:
    """A run: the workloads made so far, and who has done what."""

    scale: Scale
    limits: Limits
    folder: Path
    console: Console
    known: dict[int, Expected] = field(default_factory=dict)

    def expected(self, size: int) -> Expected:
        """Return what is right at a size; its workload is written to the folder when it is first asked for."""
        if size not in self.known:
            workload = Workload.make(self.scale.rows, size, self.scale.publications, self.scale.batch)
            workload.save(self.folder / f"{size}.npz")
            self.known[size] = Expected.of(workload)
        return self.known[size]

    def run(self, peer: Contestant) -> dict[int, Measured]:
        """Measure a peer at growing sizes, until it is out of time or fails."""
        try:
            python = python_of(peer.package)
        except NotInstalled as error:
            self.console.print(f"{peer.title}: not installed: {error}", highlight=False, markup=False)
            return {self.scale.subscriptions[0]: Measured("not installed", note=str(error))}
        done: dict[int, Measured] = {}
        for size in self.scale.subscriptions:
            done[size] = self._one(peer, python, size)
            said = f"{peer.title}, {size:,} subscriptions: {cell(done[size])} {done[size].note}"
            self.console.print(said, highlight=False, markup=False)
            if done[size].verdict != "equal":
                break
        return done

    def _one(self, peer: Contestant, python: Path, size: int) -> Measured:
        expected, own = self.expected(size), self.folder / "run"
        own.mkdir()
        try:
            (own / "workload.npz").symlink_to(self.folder / f"{size}.npz")
            return measure(peer, python, own, expected, self.limits)
        finally:
            shutil.rmtree(own, ignore_errors=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for; return 1 if an answer was wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description="Measure tidewire and its peers.")
    parser.add_argument("--only", action="append", choices=[p.module for p in PEERS], help="this one; may be repeated")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that everything works")
    parser.add_argument("--most", type=int, metavar="N", help="not more than this number of subscriptions")
    chosen = parser.parse_args(arguments)
    scale, console, began = SMALL if chosen.quick else Scale(), Console(), datetime.now(UTC)
    if chosen.most is not None:
        scale = replace(scale, subscriptions=tuple(size for size in scale.subscriptions if size <= chosen.most))
    peers = [peer for peer in PEERS if not chosen.only or peer.module in chosen.only]
    folder = Path(tempfile.mkdtemp(prefix="tidewire-peers-"))
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(143))  # a worker must not outlive this process
    try:
        contest = Contest(scale, Limits(run=20.0) if chosen.quick else Limits(), folder, console)
        done = {peer: contest.run(peer) for peer in peers}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    target = RESULTS / ("local-peers-quick.json" if chosen.quick else "peers.json")
    before = json.loads(target.read_text(encoding="utf-8")) if chosen.only and target.exists() else {}
    figures = as_figures(scale, contest.limits, done, began)
    figures["peers"] = before.get("peers", {}) | figures["peers"]
    write(figures, target)
    console.print(as_table(scale, done))
    for line in notes(scale, figures):
        console.print(line, highlight=False, markup=False)
    console.print(f"written to {target}", highlight=False)
    return int(any(m.verdict == "wrong" for of in done.values() for m in of.values()))


def cell(measured: Measured | None) -> str:
    """Return what stands in the table: seconds, or why there are none."""
    if measured is None:
        return ""
    if measured.verdict == "equal":
        seconds = measured.seconds or 0.0
        return f"{seconds:.3f}" if seconds < 1 else f"{seconds:,.1f}"
    if measured.verdict == "slow":
        return f"too long: {measured.publications:,} done" if measured.publications else "too long"
    return measured.verdict


def as_table(scale: Scale, done: dict[Contestant, dict[int, Measured]]) -> Table:
    """Return the table for the terminal."""
    title = f"seconds for {scale.publications:,} publications on {scale.rows:,} rows, by number of subscriptions"
    table = Table("peer", "says", *[f"{size:,}" for size in scale.subscriptions], title=title)
    for column in table.columns[2:]:
        column.justify = "right"
    for peer, of in done.items():
        table.add_row(peer.title, peer.says, *[cell(of.get(size)) for size in scale.subscriptions])
    return table


def as_figures(
    scale: Scale, limits: Limits, done: dict[Contestant, dict[int, Measured]], began: datetime
) -> dict[str, Any]:
    """Return everything that is written: where and when, how much, each peer, and the whole chain's own figures."""
    peers = {
        peer.module: asdict(peer) | {"by_subscriptions": {str(size): m.figures() for size, m in of.items()}}
        for peer, of in done.items()
    }
    own = {"sizes": asdict(scale), "limit_s": limits.run, "peers": peers, "whole_chain": whole_chain()}
    return circumstances(Sizes(), began) | own


def whole_chain(latest: Path = RESULTS / "latest.json") -> dict[str, Any]:
    """Return figures of the stack with Kafka and Spark from its own benchmark, another run and another workload."""
    if not latest.exists():
        return {}
    figures = json.loads(latest.read_text(encoding="utf-8"))
    return {name: figures[name] for name in QUOTED if name in figures}


def notes(scale: Scale, figures: dict[str, Any]) -> list[str]:
    """Return what must be said below the table."""
    lines = [
        f"Batches of {scale.batch:,}. Answers were compared after every batch (Flink: before and after all of them).",
        "`answers a batch` gives the answers after each batch only, and not whose answer has changed.",
    ]
    chain = figures["whole_chain"]
    if "whole_rows_per_s" in chain:
        rate, when = chain["whole_rows_per_s"]["whole"], chain.get("date")
        lines.append(f"The whole stack, from latest.json ({when}; another workload): {rate:,} publications/s.")
    return lines


if __name__ == "__main__":
    raise SystemExit(main())
