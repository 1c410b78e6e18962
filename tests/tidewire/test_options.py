"""Options that many commands share read the same in each, and an empty path is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer
from click import Parameter
from typer.main import get_command

from tidewire import cli
from tidewire.options import path_of

SHARED = {"--config", "--bootstrap", "--prefix", "--data-dir", "--json", "--log-table", "--checkpoint"}
OWN_WORDS = {"--json", "--checkpoint"}
"""Of these one command has words of its own: what prints one object, and where an engine's checkpoint may be."""


def parameters() -> dict[str, dict[str, Parameter]]:
    """The shared options of each command, by command."""
    group: Any = get_command(cli.application)
    context = typer.Context(group)
    commands = {name: group.get_command(context, name) for name in group.list_commands(context)}
    return {
        name: {option: one for one in command.params for option in one.opts if option in SHARED}
        for name, command in commands.items()
    }


@pytest.mark.parametrize("option", sorted(SHARED))
def test_an_option_says_the_same_wherever_it_stands(option: str) -> None:
    found = [one[option] for one in parameters().values() if option in one]
    assert len(found) > 1
    said = {(one.help, one.required, one.metavar) for one in found}  # type: ignore[attr-defined]
    assert len(said) == (2 if option in OWN_WORDS else 1), said


@pytest.mark.parametrize("text", ["", " ", "\t\n"])
def test_an_empty_path_would_be_the_working_directory(text: str) -> None:
    with pytest.raises(typer.BadParameter, match=f"expected a path, got {text!r}".replace("\\", "\\\\")):
        path_of(text)


@pytest.mark.parametrize("text", [".", "a b", " a", "/x/../y"])
def test_any_other_is_as_it_is_written(text: str) -> None:
    assert path_of(text) == Path(text)
