"""One peer at one size: its worker is run, watched, ended in time, and what it answered is compared."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from benchmarks.peers.contestant import Contestant
from benchmarks.peers.numpy_scan import scan
from benchmarks.peers.numpy_table import NumpyTable
from benchmarks.peers.workload import I64, Workload, digest

ROOT = Path(__file__).parents[2]
SHARE = 0.75
"""A peer whose processes take more of the machine's memory is ended."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds: for all publications, and for loading rows and subscriptions before them."""

    run: float = 60.0
    setup: float = 600.0

    def beyond(self, whole: bool) -> float:
        """Return how long a worker may run when it is ready; by batches it ends itself, and compares in between."""
        return self.run + 10 if whole else 3 * self.run + 60


@dataclass(frozen=True, slots=True)
class Expected:
    """What is right: a digest of all answers before the first and after every batch, and the last answers.

    Where answers are what is told of each change, `held` says the same of what every question holds then.
    """

    digests: list[str]
    last: I64
    held: Expected | None = None

    @classmethod
    def of(cls, workload: Workload) -> Expected:
        """Recompute after each batch, and check the beginning and the end by brute force."""
        table = NumpyTable(workload, Path())
        price, digests = workload.price.copy(), [digest(table.answers())]
        for changes in workload.batches():
            table.take(changes)
            price[changes.last().row] = changes.last().price
            digests.append(digest(table.answers()))
        first = scan(workload.risk, workload.price, workload.lo, workload.hi)
        last = scan(workload.risk, price, workload.lo, workload.hi)
        assert [digest(first), digest(last)] == [digests[0], digests[-1]], "the two ways with NumPy disagree"
        return cls(digests, last)


@dataclass(slots=True)
class Measured:
    """`seconds` for `publications`; `verdict`: equal, wrong, slow (out of time), or failed, with `note`."""

    verdict: str
    seconds: float | None = None
    publications: int = 0
    setup_s: float | None = None
    told: int | None = None
    peak_mb: float = 0.0
    note: str = ""
    cpu_s: float | None = None

    def figures(self) -> dict[str, Any]:
        """Return what is written to the file of results."""
        known = {name: value for name, value in asdict(self).items() if value not in (None, "")}
        return {name: round(value, 3) if isinstance(value, float) else value for name, value in known.items()}


@dataclass(slots=True)
class Worker:
    """The process of a peer, with all that it starts, in a group of its own."""

    process: subprocess.Popen[bytes]
    folder: Path
    peak: float = field(default=0.0)

    @classmethod
    def start(cls, python: Path, module: str, folder: Path, limit: float) -> Worker:
        command = [str(python), "-m", f"benchmarks.peers.{module}", str(folder), str(limit)]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=os.environ | {"PYTHONPATH": str(ROOT)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return cls(process, folder)

    def watch(self, limits: Limits, whole: bool) -> str:
        """Wait for its end; return why it had to be ended, or nothing."""
        most, deadline = psutil.virtual_memory().total * SHARE, time.monotonic() + limits.setup
        is_ready = False
        while self.process.poll() is None:
            self.peak = max(self.peak, self._memory())
            time.sleep(0.1)
            if not is_ready and (self.folder / "ready").exists():
                is_ready, deadline = True, time.monotonic() + limits.beyond(whole)
            if self.peak > most:
                return f"it took more than {most / 2**30:.0f} GiB of memory"
            if time.monotonic() > deadline:
                return "" if is_ready else f"it was not ready after {limits.setup:.0f} s"
        return ""

    def end(self) -> None:
        """End its whole group, whatever is left of it."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def _memory(self) -> float:
        """Return the resident bytes of the process and its descendants."""
        try:
            own = psutil.Process(self.process.pid)
            return float(sum(each.memory_info().rss for each in [own, *own.children(recursive=True)]))
        except psutil.Error:
            return 0.0


def measure(peer: Contestant, python: Path, folder: Path, expected: Expected, limits: Limits) -> Measured:
    """Run `peer` on the workload in `folder` and judge it."""
    worker = Worker.start(python, peer.module, folder, limits.run)
    try:
        ended = worker.watch(limits, peer.whole)
    finally:
        was_running = worker.process.poll() is None
        worker.end()
    measured = _read(folder, was_running, ended) or _judged(peer, folder, expected, limits)
    measured.peak_mb = worker.peak / 2**20
    return measured


def _read(folder: Path, was_running: bool, ended: str) -> Measured | None:
    """Return the verdict on a worker that left no result."""
    if ended:
        return Measured("failed", note=ended)
    if was_running:
        return Measured("slow", note="ended before it had finished")
    if not (folder / "result.json").exists():
        lines = (folder / "log").read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return Measured("failed", note=lines[-1].strip() if lines else "it said nothing")
    return None


def _judged(peer: Contestant, folder: Path, expected: Expected, limits: Limits) -> Measured:
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    digests: list[str] = result["digests"]
    right = [expected.digests[0], expected.digests[-1]] if peer.whole else expected.digests[: len(digests)]
    verdict = "slow" if result["seconds"] > limits.run else "equal"
    measured = Measured(verdict, result["seconds"], result["publications"], result["setup_s"], result["told"])
    measured.cpu_s = result["cpu_s"]
    if digests != right:
        measured.verdict, measured.note = "wrong", _difference(folder, digests, right, expected)
    return measured


def _difference(folder: Path, digests: list[str], right: list[str], expected: Expected) -> str:
    place = next(i for i, (one, other) in enumerate(zip(digests, right, strict=True)) if one != other)
    last = np.load(folder / "answers.npy")
    same = last.shape == expected.last.shape
    differing = int(np.count_nonzero(last != expected.last)) if same else len(np.setxor1d(last, expected.last))
    return f"first differs at check {place} of {len(right) - 1}; {differing:,} of the last answers differ"
