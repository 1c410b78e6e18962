"""Who is asked for joins by `make peers` tells what plain Python finds."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from benchmarks.peers.joins.numpy_each import expected
from benchmarks.peers.joins.workload import JoinWorkload, hashed, summed
from benchmarks.peers.worker import run
from benchmarks.peers.workload import digest

PEERS = {"numpy_each": "NumpyEach", "duckdb_each": "DuckdbEach", "tidewire_chain": "TidewireChain"}


@pytest.fixture(scope="module")
def workload() -> JoinWorkload:
    return JoinWorkload.make(rows=50, joins=40, publications=60, batch=25)


def answers(workload: JoinWorkload, x: np.ndarray, v: np.ndarray) -> list[Counter[tuple[int, int, int, int]]]:
    """The joined rows of every subscription, by nested loops."""
    rows = range(x.shape[1])
    pairs = [(r, s) for r in rows for s in rows if r % workload.keys == s % workload.keys]
    found = []
    for lo, hi in zip(workload.asked.lo, workload.asked.hi, strict=True):
        met = [(r, s) for r, s in pairs if lo[0] <= x[0, r] <= hi[0] and lo[1] <= x[1, s] <= hi[1]]
        found.append(Counter((r, int(v[0, r]), s, int(v[1, s])) for r, s in met))
    return found


def looked_up(workload: JoinWorkload) -> list[np.ndarray]:
    """What each batch must tell, recomputed after each change."""
    x, v, told = workload.x.copy(), workload.v.copy(), []
    held = answers(workload, x, v)
    for changes in workload.batches():
        parts = []
        for i, (table, row) in enumerate(zip(changes.table, changes.row, strict=True)):
            x[table, row], v[table, row] = changes.x[i], changes.v[i]
            before, held = held, answers(workload, x, v)
            for number, (old, new) in enumerate(zip(before, held, strict=True)):
                signed = [(-1, row) for row in (old - new).elements()] + [(1, row) for row in (new - old).elements()]
                parts += [(changes.first + i, number, sign, row) for sign, row in signed]
        changed, numbers, signs, rows = (np.array(each, np.int64) for each in zip(*parts, strict=True))
        told.append(summed(changed, numbers, signs * hashed(*rows.T)))
    return told


def test_the_workload_is_the_same_in_a_file(tmp_path: Path, workload: JoinWorkload) -> None:
    workload.save(tmp_path / "w.npz")
    other = JoinWorkload.load(tmp_path / "w.npz")
    assert np.array_equal(other.x, workload.x) and np.array_equal(other.asked.lo, workload.asked.lo)
    assert np.array_equal(other.changes.x, workload.changes.x) and other.batch == workload.batch


def test_what_is_expected_is_what_plain_python_finds(workload: JoinWorkload) -> None:
    told, right = looked_up(workload), expected(workload)
    assert right.digests[1:] == [digest(each.ravel()) for each in told]
    assert sum(map(len, told)) > 60


@pytest.mark.parametrize("module", PEERS)
def test_a_peer_tells_every_change(module: str, tmp_path: Path, workload: JoinWorkload) -> None:
    workload.save(tmp_path / "workload.npz")
    peer = getattr(import_module(f"benchmarks.peers.joins.{module}"), PEERS[module])
    result = run(peer, tmp_path, 60, JoinWorkload.load)
    assert result["digests"] == expected(workload).digests
    assert result["publications"] == 60 and result["told"] == sum(map(len, looked_up(workload)))
