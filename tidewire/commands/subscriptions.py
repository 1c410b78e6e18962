"""`tidewire subscriptions`: which there are, and what became of each."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from connectors.kafka.reader import Reader
from tidewire.client.connection import find_stack, kafka_properties, reach, topics_of
from tidewire.client.registry import Registered, Registry
from tidewire.options import BootstrapOption, ConfigOption, DataDirOption, JsonOption, PrefixOption
from tidewire.terminal import Terminal, table

_SHOWN = 100
_COLUMNS = ("id", "status", "version", "answer", "query")


def subscriptions(
    search: Annotated[str, typer.Option(help="Only those whose id or question contains this text.")] = "",
    answers: Annotated[bool, typer.Option(help="Also read the deliveries, for each one's newest answer.")] = True,
    limit: Annotated[
        int | None, typer.Option(min=1, help="At most so many, by id; without it 100, and with --json all, by edge.")
    ] = None,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    json: JsonOption = False,
) -> None:
    """List the subscriptions that are registered: live, accepted, refused (with the reason) or unanswered yet."""
    terminal = Terminal(json)
    settings = find_stack(config, data_dir, bootstrap, prefix)
    reach(settings)
    registry = Registry(Reader(kafka_properties(settings)), topics_of(settings), search, answers)
    if json and limit is None:
        for one in registry.all():
            terminal.answer(_record(one))
        return
    found, count = registry.first(limit or _SHOWN)
    if json:
        for one in found:
            terminal.answer(_record(one))
        return
    rows = [(one.id, one.status, one.version, _shown(one), one.query) for one in found]
    terminal.console.print(table(_COLUMNS, rows))
    if count > len(found):
        terminal.say(f"… and {count - len(found):,} more; --limit shows more of them, --search fewer")


def _shown(one: Registered) -> object:
    """Return the answer as a cell: of rows how many there are."""
    answer = one.answer
    if isinstance(answer, list) and answer and isinstance(answer[0], tuple):
        return f"{len(answer):,} row{'s' if len(answer) > 1 else ''}"
    return answer


def _record(one: Registered) -> dict[str, Any]:
    return {name: getattr(one, name) for name in Registered.__struct_fields__}
