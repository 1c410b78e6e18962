"""Who is asked for joins by `make peers` tells what plain Python finds."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from benchmarks.peers.joins.buckets import WIDTH, squares
from benchmarks.peers.joins.held import Held, held_rows
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


def test_what_is_held_is_what_plain_python_finds(workload: JoinWorkload) -> None:
    x, v, digests = workload.x.copy(), workload.v.copy(), []
    for changes in [None, *workload.batches()]:
        for table, row, to_x, to_v in (
            zip(changes.table, changes.row, changes.x, changes.v, strict=True) if changes else ()
        ):
            x[table, row], v[table, row] = to_x, to_v
        rows = [[*of.elements()] for of in answers(workload, x, v)]
        hashes = (hashed(*np.array(each, np.int64).reshape(-1, 4).T) for each in rows)
        digests.append(digest(np.array([each.sum() for each in hashes])))
    held = expected(workload).held
    assert held is not None and held.digests == digests and len({*digests}) > 2


def test_rows_that_came_and_went_add_up_to_what_is_held(workload: JoinWorkload) -> None:
    held, first = Held(40), answers(workload, workload.x, workload.v)
    for number, rows in enumerate(first):
        held.take(True, number, (1, 2, 3, 4))
        for row in rows.elements():
            held.take(True, number, row)
        held.take(False, number, (1, 2, 3, 4))
    assert np.array_equal(held.sums(), held_rows(workload, workload.x, workload.v))
    assert held.told == 80 + sum(of.total() for of in first)


def test_a_pair_in_range_has_a_square_that_the_ranges_touch() -> None:
    for bounds in ((-5, 10, 40_000, 60_000), (49_999, 50_000, 7, 7), (0, 149_999, 100_000, 100_001)):
        for x, y in product((max(bounds[0], 0), bounds[1]), (max(bounds[2], 0), bounds[3])):
            assert (x // WIDTH, y // WIDTH) in squares(*bounds)
    assert squares(49_999, 50_000, 7, 7) == ((0, 0), (1, 0))


@pytest.mark.parametrize("module", PEERS)
def test_a_peer_tells_every_change(module: str, tmp_path: Path, workload: JoinWorkload) -> None:
    workload.save(tmp_path / "workload.npz")
    peer = getattr(import_module(f"benchmarks.peers.joins.{module}"), PEERS[module])
    result = run(peer, tmp_path, 60, JoinWorkload.load)
    assert result["digests"] == expected(workload).digests
    assert result["publications"] == 60 and result["told"] == sum(map(len, looked_up(workload)))
