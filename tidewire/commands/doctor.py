"""`tidewire doctor`: check beforehand what `up` needs."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from tidewire.options import BootstrapOption, ConfigOption, DataDirOption, JsonOption
from tidewire.settings import load_settings
from tidewire.status.doctor import Finding, Verdict, examine
from tidewire.terminal import Terminal, table

_COLOURS = {Verdict.OK: "green", Verdict.WARN: "yellow", Verdict.FAIL: "bold red"}


def doctor(
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    bootstrap: BootstrapOption = None,
    setup: Annotated[bool, typer.Option("--setup", help="Fetch the jars, and check what that needs.")] = False,
    json: JsonOption = False,
) -> None:
    """Check Java, Python, jars, disk, memory, ports and environment; exit 1 if something keeps `up` from running."""
    settings = load_settings(config, data_dir=data_dir, bootstrap=bootstrap)
    terminal = Terminal(json)
    findings = examine(settings, setup, terminal.say)
    failed = [finding for finding in findings if finding.verdict is Verdict.FAIL]
    record = {"ok": not failed, "findings": [finding.record() for finding in findings]}
    terminal.answer(record, table(["", "check", "found", "remedy"], [_row(finding) for finding in findings]))
    raise typer.Exit(1 if failed else 0)


def _row(finding: Finding) -> tuple[object, ...]:
    return Text(finding.verdict, style=_COLOURS[finding.verdict]), finding.check, finding.found, finding.remedy
