"""Who is asked for filters by `make peers` tells what plain Python finds; what is missing is said."""

from __future__ import annotations

import shutil
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from benchmarks.peers.__main__ import SMALL_FILTERS, Contest, Scale, filters, merged, rate
from benchmarks.peers.contestant import FILTER_PEERS, NotInstalled
from benchmarks.peers.filters import cargo
from benchmarks.peers.filters.expected import expected
from benchmarks.peers.filters.held_matches import HeldMatches
from benchmarks.peers.filters.numpy_each import NumpyEach
from benchmarks.peers.filters.workload import ENTERED, LEFT, WITHIN, FilterWorkload
from benchmarks.peers.measured import Limits, Measured
from benchmarks.peers.worker import run
from benchmarks.peers.workload import digest

HERE = {"duckdb_batch": "DuckdbBatch", "numpy_each": "NumpyEach"}
HERE |= {"tidewire_chain": "TidewireChain", "tidewire_index": "TidewireIndex"}
BY_MODULE = {peer.module: peer for peer in FILTER_PEERS}


@pytest.fixture(scope="module")
def workload() -> FilterWorkload:
    return FilterWorkload.make(rows=30, filters=60, publications=90, batch=20)


@pytest.fixture
def folder(tmp_path: Path, workload: FilterWorkload) -> Path:
    workload.save(tmp_path / "workload.npz")
    return tmp_path


def looked_up(workload: FilterWorkload) -> list[list[tuple[int, int, int]]]:
    """Hits of every batch, by plain Python."""
    conditions = [
        [(c, lo, hi) for c, lo, hi in zip(*each, strict=True) if c >= 0]
        for each in zip(*(part.tolist() for part in workload.filters), strict=True)
    ]
    rows, told, change = workload.rows.tolist(), [], 0
    for changes in workload.batches():
        hits = []
        for row, image in zip(changes.row.tolist(), changes.image.tolist(), strict=True):
            for number, asked in enumerate(conditions):
                was, now = (all(lo <= each[c] <= hi for c, lo, hi in asked) for each in (rows[row], image))
                if was or now:
                    hits.append((change, number, WITHIN if was and now else LEFT if was else ENTERED))
            rows[row] = image
            change += 1
        told.append(hits)
    return told


def test_the_workload_is_the_same_in_a_file_and_from_its_seed(folder: Path, workload: FilterWorkload) -> None:
    for other in (FilterWorkload.load(folder / "workload.npz"), FilterWorkload.make(30, 60, 90, 20)):
        assert np.array_equal(other.rows, workload.rows) and other.batch == workload.batch
        assert np.array_equal(other.changes.row, workload.changes.row)
        assert np.array_equal(other.changes.image, workload.changes.image)
        assert all(np.array_equal(a, b) for a, b in zip(other.filters, workload.filters, strict=True))


def test_every_change_changes_one_to_three_columns(workload: FilterWorkload) -> None:
    rows = workload.rows.copy()
    for row, image in zip(workload.changes.row, workload.changes.image, strict=True):
        assert 1 <= (rows[row] != image).sum() <= 3
        rows[row] = image


def test_batches_know_where_they_begin(workload: FilterWorkload) -> None:
    assert [(each.first, len(each)) for each in workload.batches()] == [(0, 20), (20, 20), (40, 20), (60, 20), (80, 10)]


def test_what_is_expected_is_what_plain_python_finds(workload: FilterWorkload) -> None:
    told = looked_up(workload)
    codes = [workload.codes(*np.array(hits, np.int64).reshape(-1, 3).T) for hits in told]
    right = expected(workload)
    assert right.digests == [digest(codes[0][:0]), *map(digest, codes)]
    assert np.array_equal(right.last, codes[-1])
    assert {kind for hits in told for _, _, kind in hits} == {LEFT, ENTERED, WITHIN}


@pytest.mark.parametrize("module", HERE)
def test_a_peer_tells_every_change(module: str, folder: Path, workload: FilterWorkload) -> None:
    peer = getattr(import_module(f"benchmarks.peers.filters.{module}"), HERE[module])
    result = run(peer, folder, 60, FilterWorkload.load)
    assert result["digests"] == expected(workload).digests
    assert result["publications"] == 90 and result["told"] == sum(map(len, looked_up(workload)))


@pytest.mark.skipif(
    shutil.which("cargo") is None or not cargo.program().exists(), reason="not built: `make peers` builds it with cargo"
)
@pytest.mark.parametrize("module", ["mokaccino", "a_tree"])
def test_a_percolator_tells_every_change(module: str, folder: Path, workload: FilterWorkload) -> None:
    build = import_module(f"benchmarks.peers.filters.{module}").build
    result = run(build, folder, 60, FilterWorkload.load)
    assert result["digests"] == expected(workload).digests
    assert result["told"] == sum(map(len, looked_up(workload)))


def test_held_matches_say_what_differs() -> None:
    held = HeldMatches()
    assert held.change(0, 7, [1, 2]) == [(0, 1, ENTERED), (0, 2, ENTERED)]
    assert sorted(held.change(1, 7, [2, 3])) == [(1, 1, LEFT), (1, 2, WITHIN), (1, 3, ENTERED)]
    assert held.change(2, 8, []) == []


def test_without_cargo_a_percolator_is_reported_and_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotInstalled, match="cargo, which is not on the PATH"):
        cargo.build()
    contest = Contest(SMALL_FILTERS, Limits(), tmp_path, Console(quiet=True), filters)
    done = contest.run(BY_MODULE["filters.mokaccino"])
    assert [(size, m.verdict) for size, m in done.items()] == [(100, "not installed")]


def test_a_build_that_fails_leaves_cargos_own_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "cargo"
    program.write_text("#!/bin/sh\necho 'error: failed to download `mokaccino v0.9.1`' >&2\nexit 101\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotInstalled, match="failed to download `mokaccino"):
        cargo.build()


def test_a_contest_of_filters_is_run_and_judged(tmp_path: Path) -> None:
    scale = Scale(rows=30, publications=40, batch=10, subscriptions=(20, 50))
    contest = Contest(scale, Limits(), tmp_path, Console(quiet=True), filters)
    done = contest.run(BY_MODULE["filters.numpy_each"])
    assert [m.verdict for m in done.values()] == ["equal"] * 2
    assert all(m.cpu_s is not None and m.publications == 40 for m in done.values())


def test_who_is_slow_is_asked_for_more_filters_all_the_same(tmp_path: Path) -> None:
    scale = Scale(rows=30, publications=40, batch=10, subscriptions=(20, 50))
    contest = Contest(scale, Limits(run=0.0), tmp_path, Console(quiet=True), filters, onward=True)
    done = contest.run(BY_MODULE["filters.numpy_each"])
    assert [(m.verdict, m.publications) for m in done.values()] == [("slow", 10)] * 2


def test_missing_hits_are_counted(folder: Path, workload: FilterWorkload) -> None:
    class Forgetful(NumpyEach):
        def answers(self) -> np.ndarray:
            return super().answers()[1:]

    assert run(Forgetful, folder, 60, FilterWorkload.load)["digests"] != expected(workload).digests


def test_a_rate_is_of_what_was_done() -> None:
    assert rate(Measured("equal", 9.0, 20_000, cpu_s=4.0)) == "5,000"
    assert rate(Measured("slow", 61.0, 3_000, cpu_s=60.0)) == "50"
    assert rate(Measured("wrong", 1.0, 20_000, cpu_s=1.0)) == "wrong"
    assert rate(None) == ""


def test_a_run_of_some_peers_keeps_the_figures_of_others() -> None:
    before = {"date": "old", "peers": {"a": 1, "b": 1}, "filters": {"date": "old", "peers": {"filters.a": 1}}}
    of_filters = {"date": "new", "peers": {}, "filters": {"date": "new", "peers": {"filters.b": 2}}}
    assert merged(before, of_filters) == {
        "date": "old",
        "peers": {"a": 1, "b": 1},
        "filters": {"date": "new", "peers": {"filters.a": 1, "filters.b": 2}},
    }
    of_ranges = {"date": "new", "peers": {"b": 2}, "filters": {"date": "new", "peers": {}}}
    assert merged(before, of_ranges) == before | {"date": "new", "peers": {"a": 1, "b": 2}}
    assert merged({}, of_ranges) == of_ranges
