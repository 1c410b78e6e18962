"""Who is asked for views by `make peers` answers what plain Python finds, after every batch."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from benchmarks.peers.__main__ import SMALL_VIEWS, views
from benchmarks.peers.views.workload import BEST, Changes, Recomputed, ViewWorkload
from benchmarks.peers.worker import run
from benchmarks.peers.workload import I64, NONE, digest

PEERS = {"duckdb_each": "DuckdbChain", "tidewire_chain": "TidewireChain"}


@pytest.fixture(scope="module")
def workload() -> ViewWorkload:
    return ViewWorkload.make(rows=1_000, questions=50, publications=120, batch=40)


class Plain:
    """The chain by loops over rows."""

    def __init__(self, workload: ViewWorkload) -> None:
        self._of, self._fare = workload, workload.flights.fare.tolist()
        self._there = set(range(workload.held))

    def take(self, number: int, fare: int, ends: int) -> None:
        if fare >= 0:
            self._fare[number] = fare
        elif ends:
            self._there.remove(number)
        else:
            self._there.add(number)

    def answers(self) -> I64:
        flights, bookings = self._of.flights, self._of.bookings
        left = flights.seats.tolist()
        for booking in self._there:
            left[bookings.flight[booking]] -= int(bookings.n[booking])
        found = []
        for dest, lo, hi in zip(*self._of.asked, strict=True):
            rows = [(fare, i) for i, fare in enumerate(self._fare) if flights.dest[i] == dest and left[i] >= 1]
            best = [fare for fare, i in sorted(rows)[:BEST] if lo <= left[i] <= hi]
            found.append(min(best, default=NONE))
        return np.array(found, np.int64)


def test_the_workload_is_the_same_in_a_file(tmp_path: Path, workload: ViewWorkload) -> None:
    workload.save(tmp_path / "w.npz")
    other = ViewWorkload.load(tmp_path / "w.npz")
    assert np.array_equal(other.flights, workload.flights) and np.array_equal(other.asked, workload.asked)
    assert np.array_equal(other.changes.number, workload.changes.number) and other.held == 1_000 and other.batch == 40


def test_a_batch_without_what_it_undoes_itself() -> None:
    changes = Changes(*np.array([[7, 50, 0], [9, -1, 0], [7, 60, 0], [9, -1, 1], [3, -1, 1], [8, -1, 0]]).T)
    assert changes.fares() == {7: 60} and changes.bookings() == ([8], [3])


def test_what_is_expected_is_what_plain_python_finds(tmp_path: Path) -> None:
    size = SMALL_VIEWS.subscriptions[-1]
    right = views(SMALL_VIEWS, size, tmp_path / "w.npz")
    workload = ViewWorkload.load(tmp_path / "w.npz")
    plain = Plain(workload)
    digests = [digest(plain.answers())]
    for changes in workload.batches():
        for each in zip(changes.number.tolist(), changes.fare.tolist(), changes.ends.tolist(), strict=True):
            plain.take(*each)
        digests.append(digest(plain.answers()))
    assert right.digests == digests and len(set(digests)) > len(digests) // 2


@pytest.mark.parametrize("module", PEERS)
def test_a_peer_has_the_answers_after_each_batch(module: str, tmp_path: Path, workload: ViewWorkload) -> None:
    workload.save(tmp_path / "workload.npz")
    peer = getattr(import_module(f"benchmarks.peers.views.{module}"), PEERS[module])
    result = run(peer, tmp_path, 60, ViewWorkload.load)
    right = Recomputed(workload)
    digests = [digest(right.answers())]
    for changes in workload.batches():
        right.take(changes)
        digests.append(digest(right.answers()))
    assert result["digests"] == digests and result["publications"] == 120


def test_tidewire_tells_every_change_once(tmp_path: Path, workload: ViewWorkload) -> None:
    plain, changed = Plain(workload), 0
    held = plain.answers()
    for changes in workload.batches():
        for each in zip(changes.number.tolist(), changes.fare.tolist(), changes.ends.tolist(), strict=True):
            plain.take(*each)
            before, held = held, plain.answers()
            changed += int(np.count_nonzero(before != held))
    workload.save(tmp_path / "workload.npz")
    peer = import_module("benchmarks.peers.views.tidewire_chain").TidewireChain
    assert run(peer, tmp_path, 60, ViewWorkload.load)["told"] == changed > 10
