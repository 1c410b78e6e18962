"""`tidewire status`: how engine, tables and edges are."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import msgspec
from rich.console import Group, RenderableType
from rich.text import Text

from connectors.kafka.failure import KafkaFailure
from connectors.kafka.reader import Reader
from connectors.topics import Topics
from tidewire.client.connection import find_stack, kafka_properties, reach
from tidewire.options import BootstrapOption, ConfigOption, DataDirOption, JsonOption, PrefixOption
from tidewire.settings import Settings
from tidewire.stack.data_directory import DataDirectory
from tidewire.stack.process_state import ProcessState, processes_in, troubles
from tidewire.status.edge_filters import called, filters_in
from tidewire.status.overview import CellState, EdgeState, Observer, Overview, TableState, ViewState
from tidewire.status.overview_warnings import warnings_of
from tidewire.status.retention_headroom import in_words
from tidewire.status.streams import sentence
from tidewire.terminal import Terminal, table

_TABLE = ("table", "topic", "rows", "decoded", "deletes", "dead", "ignored", "lag", "messages", "to edges", "state kB")
_CELL = ("joins of", "since", "rows", "state kB", "lag", "changes", "rows sent a change")
_VIEW = ("view", "reads", "computed in", "written to", "rows", "state kB", "messages", "to edges")
_FILTERS = ("edge", "table", "filters", "MB", "candidates a hit")
_PROCESS = ("process", "state", "restarts", "last restart", "why", "down", "ready after", "it said")
_EDGE = ("edge", "state", "virtual edges", "live", "filters", "waiting", "deliveries", "messages", "unwanted")


def status(
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    json: JsonOption = False,
) -> None:
    """Show the engine's progress, counts and lag of tables and joins, edges, processes and restarts, what is wrong.

    Where the stack of the data directory runs, its processes are shown even while Kafka does not answer.
    """
    settings = find_stack(config, data_dir, bootstrap, prefix)
    processes, terminal = _local_processes(settings), Terminal(json)
    try:
        reach(settings)
        overview = _look(settings, processes)
    except KafkaFailure:
        if processes:
            terminal.answer({"processes": msgspec.to_builtins(processes)}, Group(*_process_parts(processes)))
            for trouble in troubles(processes):
                terminal.say(f"warning: {trouble}")
        raise
    terminal.answer(msgspec.to_builtins(overview), Group(*_parts(overview)))


def _look(settings: Settings, processes: list[ProcessState]) -> Overview:
    reader = Reader(kafka_properties(settings))
    observer = Observer(reader, settings.address, Topics(settings.prefix), lambda: datetime.now(UTC))
    overview = observer.look()
    overview.processes = processes or overview.processes
    overview.warnings = warnings_of(overview, observer.catalog())
    return overview


def _local_processes(settings: Settings) -> list[ProcessState]:
    """Return the processes of the stack that runs on the data directory, if it is the one that is asked for."""
    status = DataDirectory(settings.data_dir).read_status()
    asked = settings.address, settings.prefix
    return processes_in(status) if status and (status.get("bootstrap"), status.get("prefix")) == asked else []


def _parts(overview: Overview) -> Iterator[RenderableType]:
    yield Text(_engine_line(overview))
    yield table(_TABLE, [_table_row(one) for one in overview.tables])
    if overview.views:
        yield table(_VIEW, [_view_row(one) for one in overview.views])
    for stream in overview.streams:
        yield Text(sentence(stream))
    if overview.cells:
        yield table(_CELL, [_cell_row(one) for one in overview.cells])
    yield table(_EDGE, [_edge_row(one) for one in overview.edges])
    filters = [row for one in overview.edges for row in _filter_rows(one)]
    if filters:
        yield table(_FILTERS, filters)
    yield from _process_parts(overview.processes)
    yield Text(f"dead letters kept: {overview.dead_letters}")
    for what, said in (("lost", overview.curiosity.lost), ("not asked", overview.curiosity.not_asked)):
        if said:
            yield Text(f"{what}: {said}")
    if overview.log is not None:
        yield Text(f"log: {overview.log.table}, commit {overview.log.number} of {overview.log.time}")
    for room in overview.headroom:
        size = ", and is limited by size" if room.by_size else ""
        yield Text(
            f"{room.who} may stay stopped for {in_words(room.left)}: `{room.topic}` keeps {in_words(room.kept)}{size}"
        )
    for warning in overview.warnings:
        yield Text(f"warning: {warning}", style="yellow")


def _process_parts(processes: list[ProcessState]) -> Iterator[RenderableType]:
    if processes:
        yield table(_PROCESS, [_process_row(one) for one in processes])


def _process_row(one: ProcessState) -> tuple[object, ...]:
    if not one.last:
        return one.name, one.state, one.restarts, "", "", "", "", ""
    last = one.last[-1]
    seconds = ["" if took is None else f"{took:g} s" for took in (last.down_s, last.ready_after_s)]
    return one.name, one.state, one.restarts, last.at, last.why, *seconds, last.said


def _engine_line(overview: Overview) -> str:
    engine = overview.engine
    if engine.age is None:
        return f"{overview.bootstrap}, prefix {overview.prefix}: no progress yet"
    return (
        f"{overview.bootstrap}, prefix {overview.prefix}: epoch {engine.epoch}, batch {engine.batch}, catalog "
        f"{engine.catalog}, last progress {engine.age:.1f} s ago, checkpoint {engine.checkpoint}"
    )


def _table_row(one: TableState) -> tuple[object, ...]:
    counters = one.counters
    lag = "no topic" if one.lag is None else one.lag
    if counters is None:
        return one.name, one.topic, 0, 0, 0, 0, 0, lag, 0, "", 0
    kilobytes = round(counters.bytes / 1000)
    taken = (counters.rows, counters.decoded, counters.deletes, counters.dead, counters.ignored)
    return one.name, one.topic, *taken, lag, counters.messages, ", ".join(counters.needed), kilobytes


def _cell_row(one: CellState) -> tuple[object, ...]:
    tables, counters = ", ".join(one.tables), one.counters
    if counters is None:
        return tables, one.since, "", "", one.lag, "", ""
    sent = f"{counters.shipped / counters.messages:.1f}" if counters.messages else ""
    return tables, one.since, counters.rows, round(counters.bytes / 1000), one.lag, counters.messages, sent


def _view_row(one: ViewState) -> tuple[object, ...]:
    home = one.home if one.shards == 1 else f"{one.home} and the other {one.shards - 1} buckets"
    counters = one.counters
    if counters is None:
        return one.name, ", ".join(one.reads), home, one.topic, "not asked", "", "", ""
    taken = counters.rows, round(counters.bytes / 1000), counters.messages, ", ".join(counters.needed)
    return one.name, ", ".join(one.reads), home, one.topic, *taken


def _edge_row(one: EdgeState) -> tuple[object, ...]:
    health = one.health or {"state": "not reached"}
    owned = health.get("virtual_edges")
    counts = [edge for edge in owned.values() if isinstance(edge, dict)] if isinstance(owned, dict) else []
    names = ("live", "accepted", "deliveries", "messages", "unwanted")
    live, *sums, messages, unwanted = [sum(int(edge.get(name, 0)) for edge in counts) for name in names]
    share = f"{unwanted / messages:.0%}" if messages else ""
    filters = sum(figures.filters for figures in filters_in(one.health).values())
    owned = ",".join(map(str, one.virtual_edges))
    return one.address, str(health["state"]), owned, live, filters, *sums, messages, share


def _filter_rows(one: EdgeState) -> Iterator[tuple[object, ...]]:
    for name, figures in filters_in(one.health).items():
        yield one.address, called(name), figures.filters, round(figures.bytes / 1e6, 1), figures.candidates_per_hit
