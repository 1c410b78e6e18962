"""A command that is given a data directory speaks to the stack that runs there, or says that none does."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from tidewire import waiting
from tidewire.cli import run
from tidewire.client import connection
from tidewire.client.connection import NoStack, find_stack
from tidewire.stack.data_directory import DEFAULT_DIRECTORY, DataDirectory

COMMANDS = [
    ["apply", "FILE"],
    ["publish", "stock", "FILE"],
    ["publish", "--raw", "FILE"],
    ["subscribe", "a", "SELECT MIN(price) FROM stock"],
    ["subscribe", "--file", "FILE"],
    ["unsubscribe", "a"],
    ["subscriptions"],
    ["explain", "SELECT MIN(price) FROM stock"],
    ["status"],
    ["tail"],
    ["rows", "stock"],
    ["backtest", "SELECT MIN(price) FROM stock"],
    ["replay"],
    ["verify"],
    ["edge"],
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory where no stack runs, and no setting but the defaults."""
    for name in list(os.environ):
        if name.startswith("TIDEWIRE_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def runs_in(folder: Path, bootstrap: str = "127.0.0.1:4711", pid: int | None = None) -> Path:
    directory = DataDirectory(folder)
    directory.run.mkdir(parents=True)
    status = {"pid": pid or os.getpid(), "state": "ready", "bootstrap": bootstrap, "prefix": "mine."}
    directory.write_status(status)
    return folder


def test_the_stack_is_found_by_its_status(here: Path) -> None:
    found = find_stack(None, runs_in(here / "d"))
    assert (found.address, found.prefix, found.data_dir) == ("127.0.0.1:4711", "mine.", here / "d")
    assert find_stack(None, here / "d", prefix="other.").prefix == "other."
    assert find_stack(None, here / "d", bootstrap="k:9092").address == "k:9092"


def test_the_default_directory_is_looked_at_too(here: Path) -> None:
    assert find_stack(None).address == "127.0.0.1:19092"
    runs_in(DEFAULT_DIRECTORY)
    assert (find_stack(None).address, find_stack(None).prefix) == ("127.0.0.1:4711", "tw.")


@pytest.mark.parametrize(
    ("bootstrap", "pid", "said"), [("", 2**22 + 1, "no stack runs"), ("127.0.0.1:0", None, "still starting")]
)
def test_a_stack_that_does_not_run_is_said(here: Path, bootstrap: str, pid: int | None, said: str) -> None:
    with pytest.raises(NoStack, match=rf"{said} in the data directory `{here / 'd'}`.*tidewire up --data-dir"):
        find_stack(None, runs_in(here / "d", bootstrap, pid))


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_every_command_says_so(here: Path, capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    (here / "f.jsonl").write_text("{}")
    words = ["f.jsonl" if word == "FILE" else word for word in command]
    assert run([*words, "--data-dir", "elsewhere"]) == 2
    assert f"no stack runs in the data directory `{here / 'elsewhere'}`" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command", [["subscribe", "a", "SELECT MIN(price) FROM stock"], ["unsubscribe", "a"], ["tail"], ["status"]]
)
@pytest.mark.parametrize("security", ["", "SASL_PLAINTEXT"])
def test_a_broker_that_is_silent_is_said_to_be_waited_for(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: list[str], security: str
) -> None:
    """Somebody listens, and says nothing: worse than nobody, which a client hears of at once."""
    if security:
        said = {"security.protocol": security, "sasl.mechanism": "PLAIN", "sasl.username": "u", "sasl.password": "p"}
        monkeypatch.setenv("TIDEWIRE_KAFKA", json.dumps(said))
    monkeypatch.setattr(connection, "REACH_SECONDS", 0.5)
    monkeypatch.setattr(waiting, "SILENT_SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        assert run([*command, "--bootstrap", address]) == 1
    told = capsys.readouterr().err.splitlines()
    assert told[0] == f"waiting for a Kafka broker at `{address}` to answer" + (f" ({security})" if security else "")
    assert "no Kafka broker answers" in told[1] and len(told) == 2


@pytest.mark.parametrize(
    "command",
    [
        lambda id: ["subscribe", id, "SELECT COUNT(*) FROM t"],
        lambda id: ["unsubscribe", id],
        lambda id: ["explain", "SELECT COUNT(*) FROM t", "--id", id],
    ],
    ids=["subscribe", "unsubscribe", "explain"],
)
@pytest.mark.parametrize("id", ["", "@a", "x" * 1_025, "\udcff"])
def test_an_id_that_nothing_can_have_is_refused_before_anybody_is_asked(
    here: Path, capsys: pytest.CaptureFixture[str], command: Callable[[str], list[str]], id: str
) -> None:
    assert run([*command(id), "--bootstrap", "127.0.0.1:1"]) == 2
    told = capsys.readouterr().err
    assert ("a subscription's id" in told or "are reserved" in told) and "waiting" not in told
