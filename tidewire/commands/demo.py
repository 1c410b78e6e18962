"""`tidewire demo`: see it at work, and every delivery verified."""

from __future__ import annotations

import datetime as dt
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from tidewire.options import ConfigOption, DataDirOption, JsonOption
from tidewire.settings import load_settings
from tidewire.terminal import Terminal, table

if TYPE_CHECKING:
    from tidewire.demo.pace import AsItHappened
    from tidewire.demo.story import Story

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)
_Days = Annotated[int, typer.Option(min=1, max=365, help="Days of flights to show.")]
_Subscriptions = Annotated[int, typer.Option(min=1, help="How many questions are registered.")]
_Speed = Annotated[float, typer.Option(min=1, help="How many times as fast as it happened.")]
_First = Annotated[str, typer.Option("--from", help="The first day, of 2013.")]
_Transfers = Annotated[int, typer.Option(min=1, help="How many transfers are made.")]
_Kills = Annotated[int, typer.Option(min=0, max=1000, help="How many SIGKILLs fall on engine and edge.")]


@app.callback()
def demo() -> None:
    """See it at work, and every delivery verified."""


def _of_days(name: str, told: str, shown: int, faster: float) -> None:
    """Add a demo of days of flights, of as many and as fast if nothing else is said: `name`_story of its module."""

    @app.command(name, help=told)
    def command(
        days: _Days = shown,
        subscriptions: _Subscriptions = 1000,
        speed: _Speed = faster,
        first: _First = "2013-07-08",
        config: ConfigOption = None,
        data_dir: DataDirOption = None,
        json: JsonOption = False,
    ) -> None:
        story = getattr(import_module(f"tidewire.demo.{name}"), f"{name}_story")
        _run(story(days, subscriptions, _pace(first, speed)), config, data_dir, json)


_of_days(
    "flights",
    "Publish real flights as they leave and land, watch answers change, then verify; exit 0 only if all was right.",
    5,
    7200,
)
_of_days(
    "joins",
    "Join the flights with the weather they left in: both change what people see; exit 0 only if all was right.",
    5,
    7200,
)


@app.command()
def bank(
    transfers: _Transfers = 20_000,
    subscriptions: _Subscriptions = 30,
    kills: _Kills = 8,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    json: JsonOption = False,
) -> None:
    """Transfer money while engine and edge are killed; exit 0 only if no total but 0 was told, and all was right."""
    from tidewire.demo.bank import bank_story

    _run(bank_story(transfers, subscriptions, kills), config, data_dir, json)


_of_days(
    "cheapest",
    "Sell the last seats of flights: who is cheapest, by views of two tables; exit 0 only if all was right.",
    2,
    3600,
)
_of_days(
    "hours",
    "Close the hours of a stream of departures, while an airport is silent: answers that are final stay so; exit 0 "
    "only if all was right.",
    2,
    3600,
)


def _run(story: Story, config: Path | None, data_dir: Path | None, json: bool) -> None:
    from tidewire.commands.verify import as_json, explain_findings
    from tidewire.demo.run import run_demo
    from tidewire.demo.view import View
    from tidewire.demo.watch import as_rows
    from tidewire.verification.compare.report import rows_of

    terminal = Terminal(json)
    view = View(terminal.remarks if json else terminal.console, story)
    settings = load_settings(config, data_dir=data_dir)
    seen, report = run_demo(settings, story, view, terminal.say)
    claimed = story.claim.rows()
    rows = [row for row in as_rows(seen) if "/s" not in row[0] and row[0] != "deliveries"] + claimed
    said = {"seen": msgspec.to_builtins(seen), "claim": dict(claimed), "verification": as_json(report)}
    terminal.answer(said, table(("", ""), rows + rows_of(report)[3:]))
    if not json:
        explain_findings(report, terminal)
    raise typer.Exit(0 if report.clean and story.claim.holds else 1)


def _pace(first: str, speed: float) -> AsItHappened:
    from tidewire.demo.pace import AsItHappened

    try:
        return AsItHappened(dt.date.fromisoformat(first), speed)
    except ValueError:
        raise typer.BadParameter(f"expected a day as 2013-07-08, got {first!r}", param_hint="--from") from None
