"""Two trees of a repository with one tiny part are run in turn, and nothing is left of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from benchmarks.compare import Comparison, direction, main

BENCH = "class Sizes: pass\nQUICK = Sizes()\n"
MAIN = """\
import time, subprocess, sys
def run(names, sizes, console):
    assert names == ["million"] or names == ["edge"], names
    if {seconds}:
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", "left-by-a-part"])
        open({mark!r}, "w").close()
        time.sleep({seconds})
    yield {{"edge_us_per_message": {cost}, "rows_per_s": {{"match": {rate}}}, "restart_s": 3}}
"""


def git(root: Path, *arguments: str) -> str:
    own = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", "-C", str(root), *own, *arguments], check=True, capture_output=True, text=True).stdout


def write(root: Path, cost: float = 2.0, rate: int = 1_000, seconds: int = 0) -> None:
    folder = root / "benchmarks"
    folder.mkdir(exist_ok=True)
    (folder / "__init__.py").write_text("")
    (folder / "bench.py").write_text(BENCH)
    values = {"cost": cost, "rate": rate, "seconds": seconds, "mark": str(root / "under-way")}
    (folder / "__main__.py").write_text(MAIN.format(**values))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "--quiet")
    write(root)
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "before")
    return root


def compared(root: Path, *arguments: str) -> int:
    code = main(["HEAD", "--quick", "--rounds", "1", *arguments], root)
    assert git(root, "worktree", "list").count("\n") == 1
    return code


def test_nothing_is_worse_if_nothing_changed(root: Path) -> None:
    assert compared(root, "--only", "edge") == 0


def test_what_costs_more_is_named_and_exits_with_1(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(root, cost=2.2, rate=990)
    assert compared(root, "--only", "edge") == 1
    told = {line.split("│")[1].strip(): line for line in capsys.readouterr().out.splitlines() if line.startswith("│")}
    assert "worse" in told["edge_us_per_message"] and "1.100" in told["edge_us_per_message"]
    assert "worse" not in told["rows_per_s.match"]


def test_bytecode_is_kept_as_where_tidewire_is_installed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    assert compared(root, "--only", "edge") == 0
    assert list((root / "benchmarks").rglob("*.pyc"))


def test_a_figure_of_the_million_is_told_alone(root: Path) -> None:
    write(root, cost=9)
    assert compared(root, "--only", "restart") == 0
    assert compared(root, "--only", "restart,million") == 1


def test_a_commit_or_part_that_is_not_there_exits_with_2(root: Path) -> None:
    assert compared(root, "--only", "nothing") == 2
    assert main(["no-such-commit", "--only", "edge"], root) == 2


@pytest.mark.parametrize(
    ("name", "before", "after", "worse"),
    [
        ("edge_us_per_message", [2.0, 2.0, 2.0], [2.09, 2.09, 2.09], False),
        ("edge_us_per_message", [2.0, 2.0, 2.3], [2.2, 2.2, 2.2], False),
        ("edge_us_per_message", [2.0, 2.0, 2.1], [2.2, 2.2, 1.0], True),
        ("match_over_floor", [1.0, 1.0, 0.98], [0.9, 0.9, 2.0], True),
        ("match_over_floor", [1.0, 1.0, 0.98], [2.0, 2.0, 2.0], False),
        ("affected_per_publication", [2.0], [9.0], False),
        ("restart_s", [0.0], [1.0], True),
    ],
)
def test_worse_is_beyond_five_percent_and_beyond_the_spread(
    name: str, before: list[float], after: list[float], worse: bool
) -> None:
    assert Comparison(name, before, after).worse is worse


def test_rates_are_better_high_and_costs_low() -> None:
    assert [direction(n) for n in ("rows_per_s.match", "subs_1m_over_1k", "latency_ms.p50")] == [1, 1, -1]
    assert direction("edge_us_per_subscription.10000") == direction("deliveries_100k.ms") == -1
    assert direction("latency_1m_over_1k.p50") == -1 and direction("latency_ms.publications_per_s") == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_no_worktree_and_no_process(root: Path, number: signal.Signals) -> None:
    write(root, seconds=600)
    git(root, "commit", "--quiet", "-am", "slow")
    code = "import sys, pathlib, benchmarks.compare as c; sys.exit(c.main(sys.argv[2:], pathlib.Path(sys.argv[1])))"
    command = [sys.executable, "-c", code, str(root), "HEAD", "--only", "edge"]
    process = subprocess.Popen(command, cwd=Path(__file__).parents[2], start_new_session=True)
    while not (root / "under-way").exists():
        assert process.poll() is None
        time.sleep(0.05)
    below = psutil.Process(process.pid).children(recursive=True)
    assert any("left-by-a-part" in part for other in below for part in other.cmdline())
    os.kill(process.pid, number)
    assert process.wait(30) == 130
    assert not any(other.is_running() and other.status() != psutil.STATUS_ZOMBIE for other in below)
    assert git(root, "worktree", "list").count("\n") == 1
