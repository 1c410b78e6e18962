"""`tidewire demo`: what no demo can be, which story is told with which numbers, and its exit code."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest

from tests.tidewire.demo.watched import story
from tidewire import cli
from tidewire.demo import bank as bank_module
from tidewire.demo import cheapest, flights, hours, joins
from tidewire.demo import run as run_module
from tidewire.demo.watch import Seen
from tidewire.verification.compare.report import Report

STORIES = {"flights": flights, "joins": joins, "cheapest": cheapest, "hours": hours, "bank": bank_module}


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Any]:
    """With what stories are made; none is told: the second member of the last says what the verification found."""
    made: list[Any] = []
    monkeypatch.chdir(tmp_path)
    for name, module in STORIES.items():
        monkeypatch.setattr(module, f"{name}_story", lambda *with_, name=name: made.append((name, *with_)) or story())
    return made


def verified(monkeypatch: pytest.MonkeyPatch, seen: Seen, report: Report) -> None:
    monkeypatch.setattr(run_module, "run_demo", lambda *_: (seen, report))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["flights", "--from", "yesterday"], "expected a day as 2013-07-08, got 'yesterday'"),
        (["hours", "--from", "2013-02-29"], "expected a day as 2013-07-08, got '2013-02-29'"),
        (["flights", "--days", "0"], "--days"),
        (["joins", "--days", "366"], "--days"),
        (["cheapest", "--subscriptions", "0"], "--subscriptions"),
        (["flights", "--speed", "0.5"], "--speed"),
        (["bank", "--transfers", "0"], "--transfers"),
        (["bank", "--kills", "-1"], "--kills"),
        (["bank", "--kills", "1001"], "--kills"),
        (["bank", "--days", "3"], "No such option"),
        (["trains"], "No such command 'trains'"),
    ],
)
def test_what_cannot_be(told: list[Any], capfd: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    assert cli.run(["demo", *arguments]) == 2
    err = capfd.readouterr().err
    assert said in " ".join(err.replace("│", " ").split()) and not told


def test_without_a_story_they_are_listed(capfd: pytest.CaptureFixture[str]) -> None:
    cli.run(["demo"])
    out, err = capfd.readouterr()
    assert all(f"  {name} " in out + err for name in STORIES)


@pytest.mark.parametrize("name", ["flights", "joins", "cheapest", "hours"])
def test_numbers_of_a_story(
    monkeypatch: pytest.MonkeyPatch, told: list[Any], capfd: pytest.CaptureFixture[str], name: str
) -> None:
    verified(monkeypatch, Seen(), Report())
    options = ["--days", "3", "--subscriptions", "7", "--speed", "60", "--from", "2013-05-01"]
    assert cli.run(["demo", name, *options, "--json"]) == 0
    [(which, days, subscriptions, pace)] = told
    assert (which, days, subscriptions, pace.first, pace.speed) == (name, 3, 7, dt.date(2013, 5, 1), 60.0)
    said = json.loads(capfd.readouterr().out)
    assert said.keys() == {"seen", "claim", "verification"} and said["verification"]["clean"]


def test_numbers_of_the_bank(monkeypatch: pytest.MonkeyPatch, told: list[Any]) -> None:
    verified(monkeypatch, Seen(), Report())
    assert cli.run(["demo", "bank", "--transfers", "5", "--subscriptions", "3", "--kills", "0"]) == 0
    assert cli.run(["demo", "bank"]) == 0
    assert told == [("bank", 5, 3, 0), ("bank", 20_000, 30, 8)]


def test_what_the_verification_found_is_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, told: list[Any], capfd: pytest.CaptureFixture[str]
) -> None:
    report = Report(wrong=1)
    report.fault("wrong", "`s` version 0", "old or new", {"new": 1}, {"new": 2})
    verified(monkeypatch, Seen(), report)
    assert cli.run(["demo", "flights"]) == 1
    out, err = capfd.readouterr()
    assert "`s` version 0" in out + err


def test_a_claim_that_does_not_hold_is_the_exit_code(monkeypatch: pytest.MonkeyPatch, told: list[Any]) -> None:
    class Broken:
        holds = False

        def told(self, _: object) -> None:
            """Hear nothing."""

        def rows(self) -> list[tuple[str, Any]]:
            return [("totals that were not 0", 1)]

    monkeypatch.setattr(flights, "flights_story", lambda *_: story(claim=Broken()))
    verified(monkeypatch, Seen(), Report())
    assert cli.run(["demo", "flights"]) == 1
