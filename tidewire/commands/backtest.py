"""`tidewire backtest`: what a question would have told, from the log."""

from __future__ import annotations

from typing import Annotated

import msgspec
import typer

from catalog.relation import Catalog
from connectors.catalog_versions import CatalogFold
from connectors.kafka import KafkaProperties, Reader
from connectors.publication_log import PublicationLog
from connectors.topics import Topics
from operators.control import Progress, decode_control
from tidewire.backtest import Backtest, Told, relation_of
from tidewire.client import subscription_value
from tidewire.commands.subscribe import read_params
from tidewire.log_moment import cut_through, parse_moment
from tidewire.options import BootstrapOption, ConfigOption, DataDirOption, JsonOption, LogTableOption, PrefixOption
from tidewire.records import Answer
from tidewire.settings import load_settings
from tidewire.terminal import Terminal


def backtest(
    sql: Annotated[str | None, typer.Argument(help="The question, e.g. SELECT MIN(price) FROM stock.")] = None,
    as_of: Annotated[str, typer.Option("--as-of", help="A version of the log, or a moment: when it is asked.")] = "0",
    to: Annotated[str | None, typer.Option("--to", help="The last version, or a moment; the newest.")] = None,
    template: Annotated[str | None, typer.Option(help="Instead of SQL: SQL with ? for the constants.")] = None,
    params: Annotated[str, typer.Option(help="The template's constants, a JSON array.")] = "[]",
    notify: Annotated[str | None, typer.Option(help="When to tell, as for `subscribe`.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print the summary only.")] = False,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    log_table: LogTableOption = None,
    json: JsonOption = False,
) -> None:
    """Print what the question would have told since --as-of, and how often. Nothing is registered."""
    settings = load_settings(config, data_dir=data_dir, bootstrap=bootstrap, prefix=prefix, log_table=log_table)
    reader, topics = Reader(KafkaProperties(settings.address, settings.kafka)), Topics(settings.prefix)
    value = subscription_value(sql, template, read_params(params), notify=notify)
    relation = relation_of(read_catalog(reader, topics), value)
    log = PublicationLog(settings.log_location)
    after = cut_through(log, parse_moment(as_of))
    upto = cut_through(log, None if to is None else parse_moment(to))
    test = Backtest(log, relation, value, after, upto, read_batches(reader, topics))
    terminal, told = Terminal(json), 0
    for one in test.run():
        told += 1
        if not quiet:
            terminal.answer({"told": msgspec.to_builtins(one)}, describe(one))
    summary = {"deliveries": told - 1, "publications": test.publications, "answer": test.answer}
    text = f"{told - 1:,} deliveries after the snapshot, from {test.publications:,} publications"
    terminal.answer({"summary": summary}, f"{text}; the answer is now {_shown(test.answer)}")


def read_catalog(reader: Reader, topics: Topics) -> Catalog:
    """Return the newest catalog."""
    return CatalogFold().add_all((record.offset, record.value) for record in reader.read_to_end(topics.catalog)).newest


def read_batches(reader: Reader, topics: Topics) -> list[Progress]:
    """Return what the topic `batches` holds, each batch once, in order."""
    found: dict[tuple[int, int], Progress] = {}
    for record in reader.read_to_end(topics.batches):
        progress = decode_control(record.value or b"")
        if isinstance(progress, Progress) and progress.end:
            found.setdefault((progress.epoch, progress.batch), progress)
    return [found[key] for key in sorted(found)]


def describe(one: Told) -> str:
    """Return one line for a person."""
    said = f"{_shown(one.old)} -> {_shown(one.new)}"
    if one.added is not None:
        said = " ".join(
            [f"+{_shown(value)}" for value in one.added] + [f"-{_shown(value)}" for value in one.removed or ()]
        )
    said += f" ({one.changes} changes)" if one.changes > 1 else ""
    cause = f"  {one.time} {one.topic}/{one.partition}/{one.offset}" if one.topic else ""
    return f"{one.kind} {one.n}: {said}{cause}"


def _shown(value: Answer | object) -> str:
    return msgspec.json.encode(value).decode()
