"""`tidewire explain`: what a subscription is compiled to and what it costs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from catalog.ddl import apply_ddl
from catalog.relation import Catalog
from tidewire.backtest import compile_record
from tidewire.client import subscription_value
from tidewire.commands.subscribe import read_params
from tidewire.connection import open_client
from tidewire.explanation import explain as explain_compiled
from tidewire.explanation import lines_of
from tidewire.options import BootstrapOption, ConfigOption, JsonOption, PrefixOption
from tidewire.settings import load_settings
from tidewire.terminal import Terminal, table
from tidewire.text_input import read_text


def explain(
    sql: Annotated[str | None, typer.Argument(help="The question, e.g. SELECT MIN(price) FROM stock.")] = None,
    id: Annotated[str | None, typer.Option(help="A subscription's id, to see its virtual edge.")] = None,
    template: Annotated[str | None, typer.Option(help="Instead of SQL: SQL with ? for the constants.")] = None,
    params: Annotated[str, typer.Option(help="The template's constants, a JSON array.")] = "[]",
    catalog: Annotated[
        Path | None, typer.Option(help="Compile against this file of CREATE TABLE statements, without a broker.")
    ] = None,
    config: ConfigOption = None,
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    json: JsonOption = False,
) -> None:
    """Show the shape, the rectangle, the virtual edge and the cost class of a subscription, without registering it."""
    asked = subscription_value(sql, template, read_params(params))
    declared = _catalog(catalog, config, bootstrap, prefix)
    compiled = compile_record(declared, asked)
    edges = load_settings(config, bootstrap=bootstrap, prefix=prefix).virtual_edges
    found = explain_compiled(compiled, declared, id, edges)
    Terminal(json).answer(msgspec.to_builtins(found), table(("", ""), lines_of(found)))


def _catalog(file: Path | None, config: Path | None, bootstrap: str | None, prefix: str | None) -> Catalog:
    if file is not None:
        return apply_ddl(Catalog(), read_text(file), 0)
    with open_client(config, bootstrap, prefix) as client:
        return client.catalog()
