"""`tidewire explain`: what a subscription is compiled to and what it costs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from catalog.sql.errors import SqlError
from tidewire.client.client import subscription_value
from tidewire.client.connection import find_stack, open_client
from tidewire.client.subscription_record import record_key
from tidewire.commands.subscribe import read_params
from tidewire.explanation import explain as explain_compiled
from tidewire.explanation import lines_of
from tidewire.history.backtest import compile_with_cell
from tidewire.options import BootstrapOption, ConfigOption, DataDirOption, JsonOption, PrefixOption, path_of
from tidewire.settings import Settings, load_settings
from tidewire.terminal import Terminal, table
from tidewire.text_input import read_text


def explain(
    sql: Annotated[str | None, typer.Argument(help="The question, e.g. SELECT MIN(price) FROM stock.")] = None,
    id: Annotated[str | None, typer.Option(help="A subscription's id, to see its virtual edge.")] = None,
    template: Annotated[str | None, typer.Option(help="Instead of SQL: SQL with ? for the constants.")] = None,
    params: Annotated[str, typer.Option(help="The template's constants, a JSON array.")] = "[]",
    catalog: Annotated[
        Path | None,
        typer.Option(
            parser=path_of,
            metavar="PATH",
            help="Compile against this file of CREATE TABLE statements, without a broker.",
        ),
    ] = None,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    json: JsonOption = False,
) -> None:
    """Show the shape, the rectangle, the virtual edge and the cost class of a subscription, without registering it.

    With --json a refusal is an object, too: what its acknowledgement would say, and the line and column.
    """
    asked = subscription_value(sql, template, read_params(params))
    if id is not None:
        record_key(id)
    find = load_settings if catalog is not None else find_stack
    settings = find(config, data_dir=data_dir, bootstrap=bootstrap, prefix=prefix)
    try:
        declared = _catalog(catalog, settings)
        compiled, declared, missing = compile_with_cell(declared, asked)
    except SqlError as error:
        if not json:
            raise
        Terminal(json).answer(refusal_of(error))
        raise typer.Exit(2) from None
    found = explain_compiled(compiled, declared, id, settings.virtual_edges)
    lines = [*lines_of(found), *([("waits for", missing.hint)] if missing is not None else [])]
    Terminal(json).answer(msgspec.to_builtins(found), table(("", ""), lines))


def refusal_of(error: SqlError) -> dict[str, object]:
    """Return what an acknowledgement of `error` says, and its place where one is known."""
    said: dict[str, object] = {"status": "refused", "code": error.code, "message": error.message}
    if error.hint:
        said["hint"] = error.hint
    return said | ({"line": error.line, "column": error.column} if error.line else {})


def _catalog(file: Path | None, settings: Settings) -> Catalog:
    if file is not None:
        return apply_ddl(Catalog(prefix=settings.prefix), read_text(file), 0)
    with open_client(settings) as client:
        return client.catalog()
