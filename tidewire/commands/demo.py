"""`tidewire demo`: see it at work on real data."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from tidewire.options import ConfigOption, DataDirOption, JsonOption
from tidewire.settings import load_settings
from tidewire.terminal import Terminal, table

if TYPE_CHECKING:
    from tidewire.demo.story import Story

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)
_Days = Annotated[int, typer.Option(min=1, max=365, help="Days of flights to show.")]
_Subscriptions = Annotated[int, typer.Option(min=1, help="How many questions are registered.")]
_Speed = Annotated[float, typer.Option(min=1, help="How many times as fast as it happened.")]
_First = Annotated[str, typer.Option("--from", help="The first day, of 2013.")]


@app.callback()
def demo() -> None:
    """See it at work on real data."""


@app.command()
def flights(
    days: _Days = 5,
    subscriptions: _Subscriptions = 1000,
    speed: _Speed = 7200,
    first: _First = "2013-07-08",
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    json: JsonOption = False,
) -> None:
    """Publish real flights as they leave and land, watch answers change, then verify; exit 0 only if all was right."""
    from tidewire.demo.flights import flights_story

    day = _day(first)
    _run(flights_story(days, subscriptions, day), day, speed, config, data_dir, json)


@app.command()
def joins(
    days: _Days = 5,
    subscriptions: _Subscriptions = 1000,
    speed: _Speed = 7200,
    first: _First = "2013-07-08",
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    json: JsonOption = False,
) -> None:
    """Join the flights with the weather they left in: both change what people see; exit 0 only if all was right."""
    from tidewire.demo.joins import joins_story

    day = _day(first)
    _run(joins_story(days, subscriptions, day), day, speed, config, data_dir, json)


def _run(story: Story, first: dt.date, speed: float, config: Path | None, data_dir: Path | None, json: bool) -> None:
    from tidewire.commands.verify import as_json, explain_findings
    from tidewire.demo.run import Pace, run_demo
    from tidewire.demo.view import View
    from tidewire.demo.watch import as_rows
    from tidewire.verification.compare.report import rows_of

    terminal = Terminal(json)
    view = View(terminal.remarks if json else terminal.console, story.title)
    settings = load_settings(config, data_dir=data_dir)
    seen, report = run_demo(settings, story, Pace(first, speed), view, terminal.say)
    rows = [row for row in as_rows(seen) if "/s" not in row[0] and row[0] != "deliveries"] + rows_of(report)[3:]
    terminal.answer({"seen": msgspec.to_builtins(seen), "verification": as_json(report)}, table(("", ""), rows))
    if not json:
        explain_findings(report, terminal)
    raise typer.Exit(0 if report.clean else 1)


def _day(text: str) -> dt.date:
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"expected a day as 2013-07-08, got {text!r}", param_hint="--from") from None
