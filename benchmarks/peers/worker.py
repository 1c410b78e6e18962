"""One peer in one process: set up, run batches until the time is up, write down what was answered.

    python -m benchmarks.peers.<peer> FOLDER LIMIT

FOLDER holds `workload.npz`; `result.json` and `answers.npy` (the last ones) are written beside it. Only `take` is
timed: what a publisher would do (`prepare`) and reading answers for the comparison (`answers`) are not. Nothing but
NumPy and the peer's own packages may be imported by a worker, since it runs in an environment of its own.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from benchmarks.peers.workload import I64, Workload, digest


class Peer(Protocol):
    """What a peer must do. `whole`: it takes all changes at once and has answers at the end only."""

    whole: bool

    def prepare(self, changes: Any) -> Any:
        """Return a batch of the workload's changes in the form in which they reach this peer."""
        ...

    def take(self, prepared: Any) -> None:
        """Apply them, and have the answers of all subscriptions ready."""
        ...

    def answers(self) -> I64:
        """Return the answers, NONE where there is none."""
        ...

    def close(self) -> None:
        """End what was started."""
        ...


Build = Callable[[Any, Path], Peer]


def run(build: Build, folder: Path, limit: float, load: Callable[[Path], Any] = Workload.load) -> dict[str, Any]:
    """Measure one peer; the result says how many batches it had done when it was through or out of time.

    `cpu_s` are processor seconds: of this process, or what the peer's own `busy` says where it has others.
    """
    workload = load(folder / "workload.npz")
    began = time.perf_counter()
    peer = build(workload, folder)
    ready = time.perf_counter() - began
    (folder / "ready").touch()
    batches = [workload.changes] if peer.whole else workload.batches()
    busy: Callable[[], float] = getattr(peer, "busy", time.process_time)
    seconds, cpu, done, digests = 0.0, 0.0, 0, [digest(peer.answers())]
    for changes in batches:
        prepared = peer.prepare(changes)
        began, spent = time.perf_counter(), busy()
        peer.take(prepared)
        seconds += time.perf_counter() - began
        cpu += busy() - spent
        done += len(changes)
        digests.append(digest(peer.answers()))
        if seconds > limit:
            break
    np.save(folder / "answers.npy", peer.answers())
    peer.close()
    told = getattr(peer, "told", None)
    figures = {"setup_s": ready, "seconds": seconds, "cpu_s": cpu, "publications": done, "told": told}
    return figures | {"digests": digests}


def main(build: Build, load: Callable[[Path], Any] = Workload.load) -> None:
    """Run as a program."""
    folder, limit = Path(sys.argv[1]), float(sys.argv[2])
    result = run(build, folder, limit, load)
    (folder / "result.json").write_text(json.dumps(result), encoding="utf-8")
