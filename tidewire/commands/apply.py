"""`tidewire apply`: declare and drop tables, streams and views, and say which are joined, while everything runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from catalog.schema.cell import tables_of_cell
from connectors.kafka.admin import Admin
from tidewire.client.connection import find_stack, kafka_properties, open_client
from tidewire.client.table_topic import uncertain_order
from tidewire.included_text import include
from tidewire.options import BootstrapOption, ConfigOption, DataDirOption, JsonOption, PrefixOption
from tidewire.terminal import Terminal
from tidewire.text_input import read_text


def apply(
    file: Annotated[
        Path,
        typer.Argument(help="A file of CREATE and DROP statements; - for standard input."),
    ],
    timeout: Annotated[float, typer.Option(help="Seconds to wait for the engine to announce it; 0: do not wait.")] = 60,
    partitions: Annotated[
        int | None, typer.Option(min=1, help="Of topics that have to be created: 4, and 1 for Debezium's, by default.")
    ] = None,
    create_topics: Annotated[bool, typer.Option(help="Create missing topics of the tables.")] = True,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    json: JsonOption = False,
) -> None:
    """Check FILE against the catalog in force, write it, and wait until the engine has announced it."""
    ddl = include(read_text(file), file)
    settings = find_stack(config, data_dir, bootstrap, prefix)
    with open_client(settings) as client:
        version = client.apply(ddl, timeout, create_topics=create_topics, partitions=partitions)
        catalog = client.catalog()
    topics = Admin(kafka_properties(settings)).topics()
    found = (uncertain_order(relation, topics.get(relation.topic, 0)) for relation in catalog.relations.values())
    tables = sorted(name for name, relation in catalog.relations.items() if relation.stream is None)
    streams = sorted(catalog.relations.keys() - tables)
    warnings = [warning for warning in found if warning is not None]
    warnings += [f"joins of {_listed(name)} are not served: {why}." for name, why in sorted(catalog.unserved.items())]
    joins = [cell.tables for _, cell in sorted(catalog.cells.items())]
    state = "announced" if timeout > 0 else "written"
    human = f"catalog version {version} is {state}; tables: {', '.join(tables) or 'none'}"
    human += f"; streams: {', '.join(streams)}" if streams else ""
    human += f"; views: {', '.join(catalog.views)}" if catalog.views else ""
    human += f"; joins of {'; of '.join(', '.join(one) for one in joins)}" if joins else ""
    terminal = Terminal(json)
    for warning in warnings:
        terminal.say(f"warning: {warning}")
    record: dict[str, object] = {"version": version, "state": state, "tables": tables, "joins": joins}
    record |= {"streams": streams, "views": list(catalog.views), "warnings": warnings}
    terminal.answer(record, human)


def _listed(cell: str) -> str:
    return ", ".join(f"`{table}`" for table in tables_of_cell(cell) or ())
