"""`tidewire backtest`: what a question would have told, from the log."""

from __future__ import annotations

from typing import Annotated

import msgspec
import typer

from connectors.kafka.reader import Reader
from tidewire.client.catalog_log import read_catalog
from tidewire.client.client import subscription_value
from tidewire.client.connection import find_stack, kafka_properties, reach, topics_of
from tidewire.commands.subscribe import describe_told, read_params
from tidewire.history.as_of import read_batches
from tidewire.history.backtest import Backtest, tables_of, views_of
from tidewire.history.log_moment import cut_through, parse_moment
from tidewire.history.open_log import open_log
from tidewire.options import BootstrapOption, ConfigOption, DataDirOption, JsonOption, LogTableOption, PrefixOption
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
    settings = find_stack(config, data_dir, bootstrap, prefix, log_table=log_table)
    reach(settings)
    reader, topics = Reader(kafka_properties(settings)), topics_of(settings)
    value = subscription_value(sql, template, read_params(params), notify=notify)
    catalog = read_catalog(reader, topics)
    tables, views = tables_of(catalog, value), views_of(catalog, value)
    log = open_log(settings)
    after = cut_through(log, parse_moment(as_of))
    upto = cut_through(log, None if to is None else parse_moment(to))
    test = Backtest(log, tables, value, after, upto, read_batches(reader, topics), settings.bounds, views)
    terminal, told = Terminal(json), 0
    for one in test.run():
        told += 1
        if not quiet:
            terminal.answer({"told": msgspec.to_builtins(one)}, describe_told(one))
    summary = {"deliveries": told - 1, "publications": test.publications, "answer": test.answer}
    text = f"{told - 1:,} deliveries after the snapshot, from {test.publications:,} publications"
    terminal.answer({"summary": summary}, f"{text}; the answer is now {_shown(test.answer)}")


def _shown(value: object) -> str:
    return msgspec.json.encode(value).decode()
