"""A start that cannot be: one message that names what was typed, and nothing left behind. No process is started."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from tidewire.cli import run
from tidewire.commands.up import _ready_line
from tidewire.stack.embedded import EmbeddedStack


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, and no settings but the defaults."""
    for name in list(os.environ):
        if name.startswith("TIDEWIRE_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)

    def start(*_: object) -> None:
        raise AssertionError("it was about to start a process")

    monkeypatch.setattr(EmbeddedStack, "_start", start)
    return tmp_path


@pytest.fixture
def taken() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.listen()
        yield listener.getsockname()[1]


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("port", ["--broker-port", "--http-port"])
def test_a_port_in_use_is_named_as_it_was_typed(
    here: Path, taken: int, capsys: pytest.CaptureFixture[str], port: str
) -> None:
    others = {"--broker-port": "0", "--http-port": "0"} | {port: str(taken)}
    words = [word for pair in others.items() for word in pair]
    assert run(["up", "--data-dir", "d", *words]) == 5
    text = said(capsys)
    assert f"port {taken} on 127.0.0.1" in text
    assert f"set {port} (setting `{port.removeprefix('--').replace('-', '_')}`)" in text
    assert list(here.iterdir()) == []


def test_too_little_disk_and_no_java_leave_nothing(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDEWIRE_DISK_FLOOR_MB", str(10**12))
    assert run(["up", "--data-dir", "a/b"]) == 6
    assert "--data-dir (setting `data_dir`), or lower the setting `disk_floor_mb`" in said(capsys)
    monkeypatch.delenv("TIDEWIRE_DISK_FLOOR_MB")
    monkeypatch.setenv("JAVA_HOME", "/nonexistent")
    assert run(["up", "--data-dir", "a/b"]) == 3
    (here / "kept").mkdir()
    assert run(["up", "--data-dir", "kept"]) == 3
    assert [one.name for one in here.iterdir()] == ["kept"] and list((here / "kept").iterdir()) == []


@pytest.mark.parametrize("option", ["--data-dir", "--config"])
@pytest.mark.parametrize("command", [["up"], ["doctor"], ["status"], ["tail"], ["log"]])
@pytest.mark.parametrize("empty", ["", " "])
def test_an_empty_path_is_refused(
    here: Path, capsys: pytest.CaptureFixture[str], command: list[str], option: str, empty: str
) -> None:
    assert run([*command, option, empty]) == 2
    assert f"Invalid value for '{option}': expected a path, got {empty!r}" in said(capsys)
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("name", ["data_dir", "jars_dir", "ivy_settings"])
def test_an_empty_path_is_refused_wherever_it_is_set(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (here / "my.toml").write_text(f'{name} = ""')
    assert run(["up", "--config", "my.toml"]) == 2
    assert f"setting `{name}`: expected " in said(capsys)
    monkeypatch.setenv(f"TIDEWIRE_{name.upper()}", "")
    assert run(["up"]) == 2
    assert f"(TIDEWIRE_{name.upper()})" in said(capsys)
    assert [one.name for one in here.iterdir()] == ["my.toml"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--edges", "-1"], "--edges (setting `edges`): expected a whole number from 0 to 64, got -1"),
        (["--broker-port", "70000"], "--broker-port (setting `broker_port`): expected a port number"),
        (["--bootstrap", "nowhere"], "--bootstrap (setting `bootstrap`): expected host:port"),
        (["--data-dir", "~nobody-of-this-name/d"], "Write the whole path"),
    ],
)
def test_a_wrong_value_is_named_as_it_was_typed(
    capsys: pytest.CaptureFixture[str], words: list[str], expected: str
) -> None:
    assert run(["up", *words]) == 2
    assert expected in said(capsys)


def test_a_working_directory_that_is_gone_is_said(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "gone").mkdir()
    monkeypatch.chdir(here / "gone")
    (here / "gone").rmdir()
    assert run(["up"]) == 2
    assert "the working directory is no longer there" in said(capsys)
    monkeypatch.chdir(here)


def test_a_stack_without_edges_says_so() -> None:
    status = {"bootstrap": "b:1", "http": [], "data_dir": "/d"}
    assert "no edge: nobody gets answers until `tidewire edge` runs" in _ready_line(status)
    assert "http http://a:1, data" in _ready_line(status | {"http": ["http://a:1"]})
