"""`tidewire status` where Kafka does not answer: the processes of the stack are shown all the same."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tidewire import cli
from tidewire.client import connection
from tidewire.stack.data_directory import DataDirectory
from tidewire.stack.port import free_port

BROKER = {
    "name": "broker",
    "state": "waiting",
    "restarts": 6,
    "deaths": 7,
    "next_start": "2026-01-01T00:00:30+00:00",
    "last": [{"at": "2026-01-01T00:00:00+00:00", "why": "exit code 1", "said": "no room"}],
}


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """What `up` would have written; nobody listens at its address."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(connection, "REACH_SECONDS", 1.0)
    directory = DataDirectory(tmp_path / "tidewire-data")
    directory.run.mkdir(parents=True)
    status = {"pid": os.getpid(), "bootstrap": f"127.0.0.1:{free_port()}", "prefix": "tw.", "children": [BROKER]}
    directory.write_status(status)
    return status


def test_who_is_waited_for_is_said_while_the_broker_is_away(
    told: dict[str, object], capfd: pytest.CaptureFixture[str]
) -> None:
    arguments = ["status", "--bootstrap", str(told["bootstrap"]), "--prefix", "tw."]
    assert cli.run([*arguments, "--json"]) == 1
    out, err = capfd.readouterr()
    assert json.loads(out)["processes"][0]["last"][0]["said"] == "no room"
    assert "broker ended at 2026-01-01T00:00:00+00:00 (exit code 1; 7 times in a row)" in err
    assert cli.run(arguments) == 1
    assert "no room" in capfd.readouterr().out


@pytest.mark.parametrize("other", [["--prefix", "other."], ["--bootstrap", f"127.0.0.1:{free_port()}"]])
def test_another_stack_s_processes_are_not_taken_for_it(
    told: dict[str, object], other: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["status", "--bootstrap", str(told["bootstrap"]), "--json", *other]) == 1
    assert capfd.readouterr().out == ""
