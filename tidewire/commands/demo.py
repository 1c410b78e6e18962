"""`tidewire demo`: see it at work on real data."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

import msgspec
import typer

from tidewire.options import ConfigOption, DataDirOption, JsonOption
from tidewire.settings import load_settings
from tidewire.terminal import Terminal, table

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)


@app.callback()
def demo() -> None:
    """See it at work on real data."""


@app.command()
def flights(
    days: Annotated[int, typer.Option(min=1, max=365, help="Days of flights to show.")] = 5,
    subscriptions: Annotated[int, typer.Option(min=1, help="How many questions are registered.")] = 1000,
    speed: Annotated[float, typer.Option(min=1, help="How many times as fast as it happened.")] = 7200,
    first: Annotated[str, typer.Option("--from", help="The first day, of 2013.")] = "2013-07-08",
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    json: JsonOption = False,
) -> None:
    """Publish real flights as they leave and land, watch answers change, then verify; exit 0 only if all was right."""
    from tidewire.commands.verify import as_json, explain_findings
    from tidewire.demo.flights_run import Plan, run_demo
    from tidewire.demo.flights_view import View
    from tidewire.demo.flights_watch import as_rows
    from tidewire.verification.compare.report import rows_of

    terminal = Terminal(json)
    plan = Plan(days, subscriptions, speed, _day(first))
    view = View(terminal.remarks if json else terminal.console)
    seen, report = run_demo(load_settings(config, data_dir=data_dir), plan, view, terminal.say)
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
