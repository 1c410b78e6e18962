"""The command line: lazy commands, and one message and exit code for every error."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest
import typer

from state.errors import TidewireError, UserError
from tidewire import cli
from tidewire.stack.failure import PortInUseError


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module that stands in for the command `status`; tests set its function."""
    module = ModuleType("tidewire.commands.status")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.delenv("TIDEWIRE_DEBUG", raising=False)
    return module


def raising(error: BaseException) -> object:
    def status() -> None:
        """Raise."""
        raise error

    return status


def test_help_lists_every_command_without_importing_one(capsys: pytest.CaptureFixture[str]) -> None:
    before = {name for name in sys.modules if name.startswith("tidewire.commands.")}
    assert cli.run(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(f"  {name} " in out for name in cli.COMMANDS)
    assert {name for name in sys.modules if name.startswith("tidewire.commands.")} == before


def test_version(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda name: "1.2.3")
    assert cli.run(["--version"]) == 0
    assert capsys.readouterr().out == "tidewire 1.2.3\n"


def test_an_unknown_command_or_option_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["nope"]) == 2
    assert "No such command 'nope'" in capsys.readouterr().err
    assert cli.run(["doctor", "--nope"]) == 2


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (TidewireError("it failed"), 1),
        (UserError("it failed"), 2),
        (PortInUseError("it failed"), 5),
        (typer.Exit(7), 7),
        (KeyboardInterrupt(), 130),
        (typer.Abort(), 130),
        (RuntimeError("it failed"), 1),
        (BrokenPipeError(), 141),
    ],
)
def test_every_error_has_its_exit_code_and_no_trace(
    command: ModuleType, error: BaseException, code: int, capfd: pytest.CaptureFixture[str]
) -> None:
    command.status = raising(error)  # type: ignore[attr-defined]
    assert cli.run(["status"]) == code
    captured = capfd.readouterr()
    assert "Traceback" not in captured.err + captured.out
    if "it failed" in str(error):
        assert captured.err.startswith("tidewire: ")
        assert "it failed" in captured.err


def test_debug_shows_where_an_error_comes_from(command: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    command.status = raising(RuntimeError("it failed"))  # type: ignore[attr-defined]
    monkeypatch.setenv("TIDEWIRE_DEBUG", "1")
    with pytest.raises(RuntimeError):
        cli.run(["status"])


def test_a_command_that_cannot_be_imported_disturbs_no_other(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "tidewire.commands.demo", None)
    assert cli.run(["demo"]) == 1
    assert "demo" in capsys.readouterr().err
    assert cli.run(["doctor", "--help"]) == 0


def test_a_command_may_be_an_app_with_commands_of_its_own(
    command: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    app = typer.Typer()
    app.callback()(lambda: None)
    app.command("one")(lambda: typer.echo("one was called"))
    command.app = app  # type: ignore[attr-defined]
    assert cli.run(["status", "one"]) == 0
    assert capsys.readouterr().out == "one was called\n"
