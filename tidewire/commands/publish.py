"""`tidewire publish`: rows of a table, or keys to delete, from JSON lines."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from connectors.kafka import KafkaProperties, Producer
from tidewire.connection import open_client
from tidewire.options import BootstrapOption, ConfigOption, JsonOption, PrefixOption
from tidewire.publication import Published, publish_lines
from tidewire.settings import load_settings
from tidewire.terminal import Terminal
from tidewire.text_input import STDIN, open_input

_SAY_EVERY_SECONDS = 2.0


def publish(
    table: Annotated[str, typer.Argument(help="The table whose rows these are.")],
    file: Annotated[Path, typer.Argument(help="JSON lines, one row a line; - for standard input.")] = STDIN,
    delete: Annotated[bool, typer.Option("--delete", help="The lines are keys of rows to delete.")] = False,
    rate: Annotated[float | None, typer.Option(min=0.001, help="At most so many rows a second.")] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave bad lines out instead of stopping.")] = False,
    config: ConfigOption = None,
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    json: JsonOption = False,
) -> None:
    """Publish FILE's rows of TABLE in order; stop at the first bad line, saying which and how many were published."""
    terminal = Terminal(json)
    with open_client(config, bootstrap, prefix) as client:
        relation = client.relation(table)
    settings = load_settings(config, bootstrap=bootstrap, prefix=prefix)
    producer = Producer(KafkaProperties(settings.address, settings.kafka))

    def skip(line: int, why: str) -> None:
        terminal.say(f"line {line} is left out: {why}")

    with open_input(file) as lines:
        done = publish_lines(
            relation, lines, producer, delete=delete, rate=rate, skip=skip if skip_bad else None, tick=_Ticker(terminal)
        )
    record = {"table": table, "rows": done.rows, "skipped": done.skipped, "seconds": round(done.seconds, 3)}
    left_out = f", {done.skipped} bad line(s) left out" if done.skipped else ""
    what = "deleted" if delete else "published"
    terminal.answer(record, f"{done.rows} row(s) {what} in {done.seconds:.1f} s{left_out}")


class _Ticker:
    """Says how far it has come when it takes long."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._next = time.monotonic() + _SAY_EVERY_SECONDS

    def __call__(self, done: Published) -> None:
        if done.rows % 100 == 0 and time.monotonic() > self._next:
            self._next = time.monotonic() + _SAY_EVERY_SECONDS
            self._terminal.say(f"{done.rows:,} rows so far, {done.rows / max(done.seconds, 0.001):,.0f} rows/s")
