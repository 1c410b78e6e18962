"""`tidewire publish`: rows of a table, keys to delete, or records as they were captured, from JSON lines."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from connectors.kafka import Admin, KafkaProperties, Producer
from connectors.kafka_failure import TopicUnknown
from tidewire.connection import open_client
from tidewire.options import BootstrapOption, ConfigOption, JsonOption, PrefixOption
from tidewire.publication import Line, Published, publish_records, raw_records_of, records_of
from tidewire.settings import load_settings
from tidewire.terminal import Terminal
from tidewire.text_input import STDIN, lines_of, open_input

_SAY_EVERY_SECONDS = 2.0


def publish(
    table: Annotated[str | None, typer.Argument(help="The table whose rows these are.")] = None,
    file: Annotated[Path, typer.Argument(help="JSON lines, one row a line; - for standard input.")] = STDIN,
    delete: Annotated[bool, typer.Option("--delete", help="The lines are keys of rows to delete.")] = False,
    raw: Annotated[
        Path | None,
        typer.Option("--raw", help='Records as they are: lines of {"topic", "key", "value"}, text or {"base64": ...}.'),
    ] = None,
    rate: Annotated[float | None, typer.Option(min=0.001, help="At most so many rows a second.")] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave bad lines out instead of stopping.")] = False,
    config: ConfigOption = None,
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    json: JsonOption = False,
) -> None:
    """Publish FILE's rows of TABLE in order; stop at the first bad line, saying which and how many were published."""
    if (raw is None) == (table is None) or (raw is not None and delete):
        raise typer.BadParameter("name either a TABLE, or --raw FILE without --delete")
    settings = load_settings(config, bootstrap=bootstrap, prefix=prefix)
    properties = KafkaProperties(settings.address, settings.kafka)
    read: Callable[[Iterable[bytes]], Iterator[Line]] = partial(_captured, properties)
    if table is not None:
        with open_client(config, bootstrap, prefix) as client:
            read = partial(records_of, client.relation(table), delete=delete)
    terminal = Terminal(json)

    def skip(line: int, why: str) -> None:
        terminal.say(f"line {line} is left out: {why}")

    with open_input(raw or file) as stream:
        records, told = read(lines_of(stream)), skip if skip_bad else None
        done = publish_records(records, Producer(properties), rate=rate, skip=told, tick=_Ticker(terminal))
    record = {"table": table, "rows": done.rows, "skipped": done.skipped, "seconds": round(done.seconds, 3)}
    left_out = f", {done.skipped} bad line(s) left out" if done.skipped else ""
    what = "row(s) deleted" if delete else "row(s) published" if table else "record(s) published"
    terminal.answer(record, f"{done.rows} {what} in {done.seconds:.1f} s{left_out}")


def _captured(properties: KafkaProperties, lines: Iterable[bytes]) -> Iterator[Line]:
    """Yield the records of raw lines; one for a topic or partition that does not exist is a bad line."""
    admin, known = Admin(properties), dict[str, int]()
    for number, record in raw_records_of(lines):
        if isinstance(record, str):
            yield number, record
            continue
        try:
            partitions = known.get(record.topic) or known.setdefault(record.topic, admin.partitions(record.topic))
        except TopicUnknown as failure:
            yield number, str(failure).rstrip(".")
            continue
        beyond = record.partition is not None and record.partition >= partitions
        yield number, f"topic `{record.topic}` has {partitions} partition(s)" if beyond else record


class _Ticker:
    """Says how far it has come when it takes long."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._next = time.monotonic() + _SAY_EVERY_SECONDS

    def __call__(self, done: Published) -> None:
        if done.rows % 100 == 0 and time.monotonic() > self._next:
            self._next = time.monotonic() + _SAY_EVERY_SECONDS
            self._terminal.say(f"{done.rows:,} rows so far, {done.rows / max(done.seconds, 0.001):,.0f} rows/s")
