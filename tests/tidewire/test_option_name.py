"""A message names the option that a person can type, and only where a command has it."""

from __future__ import annotations

import pytest
import typer
from typer.main import get_command

from tidewire import cli
from tidewire.option_name import OPTIONS, option_of
from tidewire.settings import Settings


def test_every_option_that_is_named_exists_and_every_one_that_exists_is_named() -> None:
    group = get_command(cli.application)
    typed: set[str] = set()
    for name in ("up", "engine", "edge", "rows", "log", "doctor"):
        command = group.get_command(typer.Context(group), name)  # type: ignore[attr-defined]
        typed |= {option.removeprefix("--").replace("-", "_") for one in command.params for option in one.opts}
    assert typed & set(Settings.model_fields) == OPTIONS


@pytest.mark.parametrize("setting", sorted(Settings.model_fields))
def test_a_setting_is_always_named_as_well(setting: str) -> None:
    assert f"`{setting}`" in option_of(setting)
    assert (f"--{setting.replace('_', '-')}" in option_of(setting)) == (setting in OPTIONS)
