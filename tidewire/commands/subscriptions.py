"""`tidewire subscriptions`: which there are, and what became of each."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tidewire.connection import open_client
from tidewire.options import BootstrapOption, ConfigOption, JsonOption, PrefixOption
from tidewire.registry import Registered, list_subscriptions
from tidewire.terminal import Terminal, table

_COLUMNS = ("id", "status", "version", "answer", "query")


def subscriptions(
    answers: Annotated[bool, typer.Option(help="Also read the deliveries, for each one's newest answer.")] = True,
    limit: Annotated[int, typer.Option(min=1, help="Show at most so many; --json shows all.")] = 100,
    config: ConfigOption = None,
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    json: JsonOption = False,
) -> None:
    """List the subscriptions that are registered: live, accepted, refused (with the reason) or unanswered yet."""
    terminal = Terminal(json)
    with open_client(config, bootstrap, prefix) as client:
        found = list_subscriptions(client, answers)
    if json:
        for one in found:
            terminal.answer(_record(one))
        return
    rows = [(one.id, one.status, one.version, one.answer, one.query) for one in found[:limit]]
    terminal.console.print(table(_COLUMNS, rows))
    if len(found) > limit:
        terminal.say(f"… and {len(found) - limit} more; --limit shows more of them")


def _record(one: Registered) -> dict[str, Any]:
    return {name: getattr(one, name) for name in Registered.__struct_fields__}
