"""The same standing questions put to other engines, one after the other; `make peers`.

    python -m benchmarks.peers [--quick] [--most N] [--only PEER ...]

Each peer gets 10, 100, 1,000, ... subscriptions and the same publications, until it needs more than the limit: first
ranges whose lowest price is asked, then filters, joins, and questions about a chain of views. What each is and how it
is configured: docs/peers.md. Prints tables, of all but ranges with the row changes a second of processor time, since
they are compared across processes; writes `benchmarks/results/peers.json`, with `--quick` (small sizes, to see that it
works; the figures mean nothing) `local-peers-quick.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.bench import Sizes
from benchmarks.peers.contestant import FILTER_PEERS, JOIN_PEERS, PEERS, VIEW_PEERS, Contestant, NotInstalled, python_of
from benchmarks.peers.filters import cargo
from benchmarks.peers.filters.expected import expected as expected_of_filters
from benchmarks.peers.filters.workload import FilterWorkload
from benchmarks.peers.joins.numpy_each import expected as expected_of_joins
from benchmarks.peers.joins.workload import JoinWorkload
from benchmarks.peers.measured import Expected, Limits, Measured, measure
from benchmarks.peers.views.workload import Recomputed, ViewWorkload
from benchmarks.peers.workload import Workload, digest
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
FILTERS = Scale(rows=2_000, subscriptions=(1_000, 10_000, 100_000))
SMALL_FILTERS = Scale(rows=200, publications=1_000, batch=100, subscriptions=(100, 1_000))
JOINS = Scale(rows=2_000, publications=2_000, batch=100, subscriptions=(10, 100, 1_000, 10_000))
SMALL_JOINS = Scale(rows=200, publications=200, batch=100, subscriptions=(10, 100))
VIEWS = Scale(rows=50_000, subscriptions=(1, 1_000, 100_000))
SMALL_VIEWS = Scale(rows=2_000, publications=1_000, batch=100, subscriptions=(1, 100))
FURTHER = {"filters": "filters", "joins": "joins", "views": "questions of a view"}
"""What is asked beside ranges, by its name in the figures, and what is counted."""
Done = dict[Contestant, dict[int, Measured]]


def ranges(scale: Scale, size: int, path: Path) -> Expected:
    """Write the workload of ranges at a size; return what is right."""
    workload = Workload.make(scale.rows, size, scale.publications, scale.batch)
    workload.save(path)
    return Expected.of(workload)


def filters(scale: Scale, size: int, path: Path) -> Expected:
    """Write the workload of filters at a size; return what is right."""
    workload = FilterWorkload.make(scale.rows, size, scale.publications, scale.batch)
    workload.save(path)
    return expected_of_filters(workload)


def joins(scale: Scale, size: int, path: Path) -> Expected:
    """Write the workload of joins at a size; return what is right."""
    workload = JoinWorkload.make(scale.rows, size, scale.publications, scale.batch)
    workload.save(path)
    return expected_of_joins(workload)


def views(scale: Scale, size: int, path: Path) -> Expected:
    """Write the workload of views at a size; return what is right."""
    workload = ViewWorkload.make(scale.rows, size, scale.publications, scale.batch)
    workload.save(path)
    right = Recomputed(workload)
    digests = [digest(right.answers())]
    for changes in workload.batches():
        right.take(changes)
        digests.append(digest(right.answers()))
    return Expected(digests, right.answers())


@dataclass(slots=True)
class Contest:
    """A run: the workloads made so far, and who has done what."""

    scale: Scale
    limits: Limits
    folder: Path
    console: Console
    make: Callable[[Scale, int, Path], Expected] = ranges
    onward: bool = False
    """Whether a peer that was too slow at a size is asked for the next one: where what it has done is told as a rate."""
    known: dict[int, Expected] = field(default_factory=dict)

    def expected(self, size: int) -> Expected:
        """Return what is right at a size; its workload is written to the folder when it is first asked for."""
        if size not in self.known:
            self.known[size] = self.make(self.scale, size, self.folder / f"{size}.npz")
        return self.known[size]

    def run(self, peer: Contestant) -> dict[int, Measured]:
        """Measure a peer at growing sizes, until it fails, or is out of time and not asked onward."""
        try:
            python = python_of(peer.package)
            if peer.crate is not None:
                cargo.build()
        except NotInstalled as error:
            self.console.print(f"{peer.title}: not installed: {error}", highlight=False, markup=False)
            return {self.scale.subscriptions[0]: Measured("not installed", note=str(error))}
        done: dict[int, Measured] = {}
        for size in self.scale.subscriptions:
            done[size] = self._one(peer, python, size)
            said = f"{peer.title}, {size:,} subscriptions: {cell(done[size])} {done[size].note}"
            self.console.print(said, highlight=False, markup=False)
            if done[size].verdict not in (("equal", "slow") if self.onward else ("equal",)):
                break
        return done

    def _one(self, peer: Contestant, python: Path, size: int) -> Measured:
        expected, own = self.expected(size), self.folder / "run"
        if peer.holds:
            assert expected.held is not None, f"{peer.module} is compared by what is held"
            expected = expected.held
        own.mkdir()
        try:
            (own / "workload.npz").symlink_to(self.folder / f"{size}.npz")
            return measure(peer, python, own, expected, self.limits)
        finally:
            shutil.rmtree(own, ignore_errors=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for; return 1 if an answer was wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description="Measure tidewire and its peers.")
    names = [peer.module for peer in (*PEERS, *FILTER_PEERS, *JOIN_PEERS, *VIEW_PEERS)]
    parser.add_argument("--only", action="append", choices=names, help="this one; may be repeated")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that everything works")
    parser.add_argument("--most", type=int, metavar="N", help="not more than this number of subscriptions")
    chosen = parser.parse_args(arguments)
    console, began = Console(), datetime.now(UTC)
    sizes = (SMALL, SMALL_FILTERS, SMALL_JOINS, SMALL_VIEWS) if chosen.quick else (Scale(), FILTERS, JOINS, VIEWS)
    scales = [_at_most(scale, chosen.most) for scale in sizes]
    limits = Limits(run=20.0) if chosen.quick else Limits()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(143))  # a worker must not outlive this process
    done = []
    asked_of = (PEERS, FILTER_PEERS, JOIN_PEERS, VIEW_PEERS)
    for scale, make, peers in zip(scales, (ranges, filters, joins, views), asked_of, strict=True):
        asked = [peer for peer in peers if not chosen.only or peer.module in chosen.only]
        done.append(_contest(scale, limits, make, asked, console))
    further = dict(zip(FURTHER, zip(scales[1:], done[1:], strict=True), strict=True))
    target = RESULTS / ("local-peers-quick.json" if chosen.quick else "peers.json")
    before = json.loads(target.read_text(encoding="utf-8")) if chosen.only and target.exists() else {}
    figures = merged(before, as_figures(scales[0], limits, done[0], began, further))
    write(figures, target)
    for table in (
        as_table(scales[0], done[0]),
        *(as_table(*further[name], counted) for name, counted in FURTHER.items()),
    ):
        if table.row_count:
            console.print(table)
    for line in notes(scales[0], figures):
        console.print(line, highlight=False, markup=False)
    console.print(f"written to {target}", highlight=False)
    return int(any(m.verdict == "wrong" for each in done for of in each.values() for m in of.values()))


def _at_most(scale: Scale, most: int | None) -> Scale:
    return scale if most is None else replace(scale, subscriptions=tuple(n for n in scale.subscriptions if n <= most))


def _contest(
    scale: Scale,
    limits: Limits,
    make: Callable[[Scale, int, Path], Expected],
    peers: Sequence[Contestant],
    console: Console,
) -> Done:
    """Measure peers on one workload, in a folder that is removed then."""
    folder = Path(tempfile.mkdtemp(prefix="tidewire-peers-"))
    try:
        contest = Contest(scale, limits, folder, console, make, onward=make is not ranges)
        return {peer: contest.run(peer) for peer in peers}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def merged(before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """Return the figures of a run, and those of an earlier one for peers that it did not measure.

    Where a run measured no peer of a workload, all of what was known of that workload stays.
    """
    together = now | {"peers": before.get("peers", {}) | now["peers"]}
    if not now["peers"]:
        together = now | {name: before[name] for name in before if name not in FURTHER}
    for name in FURTHER:
        if known := before.get(name):
            found = now.get(name, {"peers": {}})
            together[name] = (found if found["peers"] else known) | {"peers": known["peers"] | found["peers"]}
    return together


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


def rate(measured: Measured | None) -> str:
    """Return row changes a second of processor time, of those that were done; or why there are none."""
    if measured is None or measured.verdict not in ("equal", "slow") or not measured.cpu_s:
        return cell(measured)
    return f"{measured.publications / measured.cpu_s:,.0f}"


def as_table(scale: Scale, done: Done, further: str = "") -> Table:
    """Return the table for the terminal: seconds, or what is done in one where `further` says what of."""
    title = f"seconds for {scale.publications:,} publications on {scale.rows:,} rows, by number of subscriptions"
    if further:
        title = f"changes of {scale.rows:,} rows a second of processor time, by number of {further}"
    table = Table("peer", "says", *[f"{size:,}" for size in scale.subscriptions], title=title)
    for column in table.columns[2:]:
        column.justify = "right"
    for peer, of in done.items():
        shown = [(rate if further else cell)(of.get(size)) for size in scale.subscriptions]
        table.add_row(peer.title, peer.says, *shown)
    return table


def as_figures(
    scale: Scale, limits: Limits, done: Done, began: datetime, further: Mapping[str, tuple[Scale, Done]] | None = None
) -> dict[str, Any]:
    """Return everything that is written: where and when, how much, each peer, and the whole chain's own figures."""
    own = {"sizes": asdict(scale), "limit_s": limits.run, "peers": by_module(done), "whole_chain": whole_chain()}
    where = circumstances(Sizes(), began)
    for name, (sizes, of) in (further or {}).items():
        known = {each: where[each] for each in ("date", "minutes", "commit", "load_before")}
        known |= {"load_after": [round(load, 1) for load in os.getloadavg()]}
        own[name] = known | {"sizes": asdict(sizes), "peers": by_module(of)}
    return where | own


def by_module(done: Done) -> dict[str, Any]:
    """Return the figures of each peer at each size."""
    return {
        peer.module: asdict(peer) | {"by_subscriptions": {str(size): m.figures() for size, m in of.items()}}
        for peer, of in done.items()
    }


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
