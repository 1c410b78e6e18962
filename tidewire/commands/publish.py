"""`tidewire publish`: rows of a table, keys to delete, or records as they were captured, from JSON lines."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from connectors.kafka.admin import Admin
from connectors.kafka.failure import TopicUnknown
from connectors.kafka.producer import Producer
from connectors.kafka.properties import KafkaProperties
from tidewire.bulk.publication import (
    Line,
    PublicationStopped,
    Published,
    publish_records,
    raw_records_of,
    records_of,
)
from tidewire.client.connection import find_stack, kafka_properties, open_client
from tidewire.options import BootstrapOption, ConfigOption, DataDirOption, JsonOption, PrefixOption, path_of
from tidewire.terminal import Terminal
from tidewire.text_input import STDIN, lines_of, open_input

_SAY_EVERY_SECONDS = 2.0


def publish(
    table: Annotated[str | None, typer.Argument(help="The table whose rows these are.")] = None,
    file: Annotated[Path, typer.Argument(help="JSON lines, one row a line; - for standard input.")] = STDIN,
    delete: Annotated[bool, typer.Option("--delete", help="The lines are keys of rows to delete.")] = False,
    raw: Annotated[
        Path | None,
        typer.Option(
            "--raw",
            parser=path_of,
            metavar="PATH",
            help='Records as they are: lines of {"topic", "key", "value"}, text or {"base64": ...}.',
        ),
    ] = None,
    rate: Annotated[float | None, typer.Option(min=0.001, help="At most so many rows a second.")] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave bad lines out instead of stopping.")] = False,
    from_line: Annotated[int, typer.Option("--from-line", min=1, help="Begin with this line: to go on.")] = 1,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds to wait for an acknowledgement before it stops.")] = 30,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    json: JsonOption = False,
) -> None:
    """Publish FILE's rows of TABLE in order; stop at the first bad line, or when nobody acknowledges for --timeout.

    What counts is what the broker has acknowledged. If it stops early, it says which lines are surely written, and how
    to go on.
    """
    if (raw is None) == (table is None) or (raw is not None and delete):
        raise typer.BadParameter("name either a TABLE, or --raw FILE without --delete")
    settings = find_stack(config, data_dir, bootstrap, prefix)
    read: Callable[..., Iterator[Line]] = partial(_captured, kafka_properties(settings))
    if table is not None:
        with open_client(settings) as client:
            read = partial(records_of, client.relation(table), delete=delete)
    terminal = Terminal(json)

    def skip(line: int, why: str) -> None:
        terminal.say(f"line {line} is left out: {why}")

    options = {
        "--delete": delete, "--raw": raw, "--rate": rate, "--skip-bad": skip_bad, "--timeout": timeout,
        "--config": config, "--data-dir": data_dir, "--bootstrap": bootstrap, "--prefix": prefix,
    }  # fmt: skip
    with open_input(raw or file) as stream:
        try:
            done = publish_records(
                read(lines_of(stream), from_line=from_line),
                Producer(kafka_properties(settings), timeout),
                from_line=from_line,
                rate=rate,
                skip=skip if skip_bad else None,
                tick=_Ticker(terminal),
                how=partial(_how, table, file, options),
            )
        except PublicationStopped as stopped:
            said = {"rows": stopped.written, "unsure": stopped.unsure, "from_line": stopped.line}
            if json:
                terminal.answer({"table": table, **said})
            raise
    record = {"table": table, "rows": done.rows, "skipped": done.skipped, "seconds": round(done.seconds, 3)}
    left_out = f", {done.skipped} bad line(s) left out" if done.skipped else ""
    what = "row(s) deleted" if delete else "row(s) published" if table else "record(s) published"
    terminal.answer(record, f"{done.rows} {what} in {done.seconds:.1f} s{left_out}")


def _how(table: str | None, file: Path, options: Mapping[str, object], line: int) -> str:
    """Return the sentence that says how to go on from a line."""
    words = ["tidewire", "publish", *([] if table is None else [table, str(file)])]
    for name, value in options.items():
        words += [] if value in (None, False) else [name] if value is True else [name, f"{value}"]
    command = shlex.join([*words, "--from-line", str(line)])
    return f"Go on{' with the same lines' if '-' in words else ''}: {command}"


def _captured(properties: KafkaProperties, lines: Iterable[bytes], from_line: int) -> Iterator[Line]:
    """Yield the records of raw lines; one for a topic or partition that does not exist is a bad line."""
    admin, known = Admin(properties), dict[str, int]()
    for number, record in raw_records_of(lines, from_line):
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
    """Says how far it has come when it takes long, and when nothing is acknowledged."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._next = time.monotonic() + _SAY_EVERY_SECONDS
        self._said = 0

    def __call__(self, done: Published) -> None:
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _SAY_EVERY_SECONDS
        waiting = done.sent - done.rows
        more = f"; {waiting:,} more are sent and not acknowledged yet" if waiting else ""
        slow = "" if done.rows > self._said or not waiting else f", and nothing for {_SAY_EVERY_SECONDS:g} s"
        self._said = done.rows
        speed = done.rows / max(done.seconds, 0.001)
        self._terminal.say(f"{done.rows:,} rows written so far, {speed:,.0f} rows/s{more}{slow}")
