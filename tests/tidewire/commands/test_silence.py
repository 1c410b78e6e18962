"""`tidewire silence`: which times are read, and what is said of a promise."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pytest

from tests.tidewire.commands.in_memory import InMemory, Refusals, connected, refusals, run
from tidewire.commands import silence as module


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Refusals:
    return refusals(monkeypatch, capfd, tmp_path, module)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Missing argument"),
        (["trades"], "Missing option '--upto'"),
        (["trades", "--upto", "noon"], "'noon' does not match the formats"),
        (["trades", "--upto", "2026-03-01T10:00:00Z"], "does not match the formats"),
        (["trades", "--upto", "2026-02-30"], "does not match the formats"),
        (["trades", "--upto", "2026-03-01", "--timeout", "0"], "--timeout"),
    ],
)
def test_what_cannot_be(refused: Refusals, arguments: list[str], said: str) -> None:
    assert said in refused.of("silence", *arguments)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2026-03-01", dt.datetime(2026, 3, 1)),
        ("2026-03-01 10:00:05", dt.datetime(2026, 3, 1, 10, 0, 5)),
        ("2026-03-01T10:00:05", dt.datetime(2026, 3, 1, 10, 0, 5)),
        ("2026-03-01T10:00:05.25", dt.datetime(2026, 3, 1, 10, 0, 5, 250_000)),
    ],
)
def test_it_is_said_up_to_when_and_behind_what(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str], written: str, meant: dt.datetime
) -> None:
    monkeypatch.chdir(tmp_path)
    cluster = InMemory()
    connected(monkeypatch, module, cluster)
    assert run("silence", "Trades", "--upto", written, "--timeout", "5", "--json") == 0
    assert cluster.asked == [("trades", meant, 5.0)]
    said = json.loads(capfd.readouterr().out)
    assert said == {"stream": "trades", "upto": meant.isoformat(), "after": {"0": 4, "1": 0}}
    assert run("silence", "Trades", "--upto", written) == 0
    assert (
        capfd.readouterr().out
        == f"trades: silent up to {meant.isoformat()} in 2 partitions, behind all that is there now\n"
    )
