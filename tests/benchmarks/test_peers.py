import sys
from datetime import UTC, datetime
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from benchmarks.peers.__main__ import SMALL, Contest, Scale, as_figures, as_table, cell, notes, whole_chain
from benchmarks.peers.contestant import PEERS, NotInstalled
from benchmarks.peers.measured import Expected, Limits, Measured, measure
from benchmarks.peers.numpy_each import NumpyEach
from benchmarks.peers.worker import run
from benchmarks.peers.workload import HIGHEST, LOWEST, NONE, Workload, digest

HERE = {"tidewire_pure": "TidewirePure", "numpy_each": "NumpyEach", "numpy_scan": "NumpyScan"}
HERE |= {"numpy_table": "NumpyTable", "duckdb_set": "DuckdbSet", "duckdb_each": "DuckdbEach"}
BY_MODULE = {peer.module: peer for peer in PEERS}


@pytest.fixture
def workload() -> Workload:
    return Workload.make(rows=60, subscriptions=300, publications=120, batch=20)


@pytest.fixture
def folder(tmp_path: Path, workload: Workload) -> Path:
    workload.save(tmp_path / "workload.npz")
    return tmp_path


def looked_up(workload: Workload) -> list[list[int]]:
    """Answers before the first and after every batch, by plain Python."""
    price, answers = workload.price.tolist(), []
    for changes in [None, *workload.batches()]:
        for row, to in zip(changes.row.tolist(), changes.price.tolist(), strict=True) if changes else ():
            price[row] = to
        rows = list(zip(workload.risk.tolist(), price, strict=True))
        bounds = zip(workload.lo.tolist(), workload.hi.tolist(), strict=True)
        answers.append([min((p for r, p in rows if lo <= r <= hi), default=NONE) for lo, hi in bounds])
    return answers


def test_the_workload_is_the_same_in_a_file_and_from_its_seed(folder: Path, workload: Workload) -> None:
    loaded = Workload.load(folder / "workload.npz")
    for one, other in ((loaded, workload), (Workload.make(60, 300, 120, 20), workload)):
        for name in ("risk", "price", "lo", "hi", "batch"):
            assert np.array_equal(getattr(one, name), getattr(other, name)), name
        assert np.array_equal(one.changes.row, other.changes.row)
        assert np.array_equal(one.changes.price, other.changes.price)


def test_rows_and_changes_do_not_depend_on_the_number_of_subscriptions(workload: Workload) -> None:
    more = Workload.make(60, 4_000, 120, 20)
    assert np.array_equal(more.price, workload.price)
    assert np.array_equal(more.changes.price, workload.changes.price)


def test_every_change_changes_a_price_within_bounds(workload: Workload) -> None:
    price = workload.price.copy()
    for row, to in zip(workload.changes.row.tolist(), workload.changes.price.tolist(), strict=True):
        assert LOWEST <= to <= HIGHEST and to != price[row]
        price[row] = to


def test_the_last_changes_of_a_batch_leave_the_rows_as_all_of_them_do(workload: Workload) -> None:
    price, folded = workload.price.copy(), workload.price.copy()
    for row, to in zip(workload.changes.row.tolist(), workload.changes.price.tolist(), strict=True):
        price[row] = to
    last = workload.changes.last()
    folded[last.row] = last.price
    assert np.array_equal(price, folded) and len(last) < len(workload.changes)


def test_what_is_expected_is_what_plain_python_finds(workload: Workload) -> None:
    answers = [np.array(each, np.int64) for each in looked_up(workload)]
    expected = Expected.of(workload)
    assert expected.digests == [digest(each) for each in answers]
    assert np.array_equal(expected.last, answers[-1])
    assert any(not np.array_equal(one, other) for one, other in pairwise(answers))
    assert NONE in answers[0], "some range should hold no row"


@pytest.mark.parametrize("module", HERE)
def test_a_peer_gives_the_expected_answers_after_every_batch(module: str, folder: Path, workload: Workload) -> None:
    peer = getattr(import_module(f"benchmarks.peers.{module}"), HERE[module])
    result = run(peer, folder, limit=60)
    assert result["digests"] == Expected.of(workload).digests
    assert result["publications"] == 120


def test_peers_that_say_every_change_say_as_many_as_there_are(folder: Path, workload: Workload) -> None:
    single = Workload(workload.risk, workload.price, workload.lo, workload.hi, workload.changes, batch=1)
    changed = sum(a != b for one, other in pairwise(looked_up(single)) for a, b in zip(one, other, strict=True))
    assert run(NumpyEach, folder, limit=60)["told"] == changed > 0


def test_tidewire_says_as_many_changes_as_the_program_by_hand(folder: Path) -> None:
    tidewire = import_module("benchmarks.peers.tidewire_pure").TidewirePure
    assert run(tidewire, folder, limit=60)["told"] == run(NumpyEach, folder, limit=60)["told"]


def test_a_worker_stops_when_its_time_is_up(folder: Path) -> None:
    result = run(NumpyEach, folder, limit=0)
    assert result["publications"] == 20 and len(result["digests"]) == 2


def test_a_worker_is_run_and_judged(folder: Path, workload: Workload) -> None:
    expected, python = Expected.of(workload), Path(sys.executable)
    scan = BY_MODULE["numpy_scan"]
    measured = measure(scan, python, folder, expected, Limits())
    assert measured.verdict == "equal" and measured.publications == 120 and measured.peak_mb > 0
    other = Expected([*expected.digests[:3], "other", *expected.digests[4:]], expected.last)
    wrong = measure(scan, python, folder, other, Limits())
    assert wrong.verdict == "wrong" and wrong.note == "first differs at check 3 of 6; 0 of the last answers differ"


def test_a_worker_that_fails_leaves_its_last_line(folder: Path, workload: Workload) -> None:
    (folder / "workload.npz").write_bytes(b"")
    failed = measure(BY_MODULE["numpy_scan"], Path(sys.executable), folder, Expected.of(workload), Limits())
    assert failed.verdict == "failed" and failed.note.startswith("EOFError")


def test_a_peer_that_does_not_install_is_reported_with_its_error(tmp_path: Path, monkeypatch) -> None:
    def refuse(package: str | None) -> Path:
        raise NotInstalled("ERROR: No matching distribution found for apache-flink==2.3.0")

    monkeypatch.setattr("benchmarks.peers.__main__.python_of", refuse)
    done = Contest(SMALL, Limits(), tmp_path, Console(quiet=True)).run(BY_MODULE["flink_sql"])
    assert done[10].figures() == {
        "verdict": "not installed",
        "publications": 0,
        "peak_mb": 0.0,
        "note": "ERROR: No matching distribution found for apache-flink==2.3.0",
    }


def test_a_contest_ends_with_the_size_that_takes_too_long(tmp_path: Path) -> None:
    scale = Scale(rows=50, publications=40, batch=10, subscriptions=(5, 50, 500))
    contest = Contest(scale, Limits(), tmp_path, Console(quiet=True))
    assert [m.verdict for m in contest.run(BY_MODULE["numpy_table"]).values()] == ["equal"] * 3
    contest.limits = Limits(run=0.0)
    assert [m.verdict for m in contest.run(BY_MODULE["numpy_table"]).values()] == ["slow"]


def test_the_table_says_why_there_is_no_figure() -> None:
    assert cell(Measured("equal", 0.1234)) == "0.123"
    assert cell(Measured("slow", 61.0, 3_000)) == "too long: 3,000 done"
    assert cell(Measured("slow")) == "too long"
    assert cell(Measured("not installed", note="no matching distribution")) == "not installed"
    done = {BY_MODULE["numpy_scan"]: {10: Measured("equal", 0.5, 1_000, 0.1)}}
    assert as_table(SMALL, done).row_count == 1


def test_figures_hold_the_circumstances_and_the_reasons(tmp_path: Path) -> None:
    done = {BY_MODULE["flink_sql"]: {10: Measured("failed", note="no Java")}}
    figures = as_figures(Scale(), Limits(), done, datetime.now(UTC))
    assert figures["peers"]["flink_sql"]["by_subscriptions"]["10"]["note"] == "no Java"
    assert figures["sizes"]["publications"] == 20_000 and figures["cores"] > 0
    assert whole_chain(tmp_path / "none.json") == {}
    figures["whole_chain"] = {"whole_rows_per_s": {"match": 9_000, "whole": 1_000}, "date": "then"}
    assert "1,000 publications/s" in notes(Scale(), figures)[-1]


def test_the_chain_is_quoted_as_its_benchmark_writes_it() -> None:
    figures = as_figures(Scale(), Limits(), {}, datetime.now(UTC))
    assert "publications/s" in notes(Scale(), figures)[-1]
