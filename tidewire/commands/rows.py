"""`tidewire rows`: the rows of a table or view, as the engine holds them or as the log had them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from catalog.schema.catalog import Catalog
from catalog.schema.relation import Relation
from catalog.schema.view import View
from connectors.kafka.reader import Reader
from connectors.log.cut import Cut
from operators.silenced import Silenced
from operators.stored_rows import stored_rows
from shard.log_fold import fold_log, fold_view
from shard.state import ShardState
from state.errors import UserError
from tidewire.client.connection import find_stack, kafka_properties, open_client, topics_of
from tidewire.history.log_moment import cut_through, parse_moment
from tidewire.history.open_log import open_log
from tidewire.history.past_silences import before, read_silences
from tidewire.options import (
    BootstrapOption,
    CheckpointOption,
    ConfigOption,
    DataDirOption,
    JsonOption,
    LogTableOption,
    PrefixOption,
)
from tidewire.settings import Settings
from tidewire.stack.jars import jar_directories, read_jar_sets, require_jars
from tidewire.stack.java import find_java
from tidewire.status.engine_checkpoint import locate_checkpoint
from tidewire.status.overview import EngineState, Observer
from tidewire.terminal import Terminal, table


def rows(
    relation: Annotated[str, typer.Argument(help="The table or view.")],
    at: Annotated[
        str | None, typer.Option("--at", help="A version of the log, or a moment; the engine's state.")
    ] = None,
    checkpoint: CheckpointOption = None,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    log_table: LogTableOption = None,
    json: JsonOption = False,
) -> None:
    """Print the rows of a table or view, as in deliveries: those in the engine's checkpoint, or with --at in the log.

    Those of a view are made of its tables' rows.
    """
    settings = find_stack(config, data_dir, bootstrap, prefix, checkpoint=checkpoint, log_table=log_table)
    terminal = Terminal(json)
    with open_client(settings) as client:
        catalog = client.catalog()
        view = catalog.views.get(relation)
        declared = client.relation(relation) if view is None else view.relation
        refuse_streams(catalog, relation)
    if at is None:
        where = locate_checkpoint(settings, data_dir, _engine(settings))
        states, when = _from_checkpoint(settings, where, catalog, declared, terminal)
    else:
        log = open_log(settings)
        cut = cut_through(log, parse_moment(at))
        topics, when = topics_of(settings), f"at {at}"
        silences = _silences(settings, catalog, view, cut)
        folded = None if view is None else fold_view(log, catalog, view, cut, topics, silences)
        states = folded or [fold_log(log, declared, cut, topics)]
    found = stored_rows(declared, *(state.table.stored for state in states))
    if json:
        for row in found:
            terminal.answer(row)
        return
    names = [column.name for column in declared.declared]
    terminal.answer({}, table(names, ([_shown(row[name]) for name in names] for row in found)))
    terminal.say(f"{sum(state.table.rows for state in states):,} rows of `{declared.name}` {when}")


def refuse_streams(catalog: Catalog, name: str) -> None:
    """Raise UserError where a stream is asked for: nobody has its rows."""
    relation = catalog.relations.get(name)
    if relation is not None and relation.stream is not None:
        raise UserError(
            f"`{name}` is a stream, whose rows nobody keeps; ask for those of a view that groups them, or read "
            f"the topic `{relation.topic}`"
        )


def _silences(settings: Settings, catalog: Catalog, view: View | None, cut: Cut) -> dict[str, tuple[Silenced, ...]]:
    """Return where silences of the stream below a view had counted by a cut."""
    if view is None or not any(catalog.relations[table].stream for table in view.tables):
        return {}
    return before(cut, read_silences(Reader(kafka_properties(settings)), topics_of(settings)), catalog)


def _engine(settings: Settings) -> EngineState:
    reader = Reader(kafka_properties(settings))
    return Observer(reader, settings.address, topics_of(settings), lambda: datetime.now(UTC)).engine()


def _from_checkpoint(
    settings: Settings, where: str, catalog: Catalog, relation: Relation, terminal: Terminal
) -> tuple[list[ShardState], str]:
    """Read the state with a Spark session of our own, which takes 5-10 s."""
    find_java()
    directories = jar_directories(settings.data_dir, settings.jars_dir)
    jars = require_jars(
        read_jar_sets()["spark"], directories, progress=terminal.say, ivy_settings=settings.ivy_settings
    )
    from streaming.engine.stored_state import read_state, read_view
    from streaming.query.session import SessionConfig, close_session, open_session

    spark = open_session(SessionConfig(settings.master, jars, where, spark=settings.spark))
    try:
        view = catalog.views.get(relation.name)
        found = read_state(spark, where, relation) if view is None else read_view(spark, where, catalog, view)
    finally:
        close_session(spark)
    if found is None:
        return [], f"in `{where}`, where no batch has been committed yet"
    return found.states, f"at the end of batch {found.batch}"


def _shown(value: object) -> object:
    return "NULL" if value is None else value
