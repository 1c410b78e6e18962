"""What a person should look at in an overview, each with what to do. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from catalog.ddl.cell_ddl import create_join
from catalog.schema.catalog import Catalog
from catalog.schema.relation import Relation
from catalog.sql.names import quoted
from operators.counters import ShardCounters
from tidewire.client.table_topic import uncertain_order
from tidewire.stack.process_state import troubles
from tidewire.status.edge_filters import called, filters_in, largest_bag_in
from tidewire.status.overview import EdgeState, Overview, TableState
from tidewire.status.retention_headroom import in_words
from tidewire.status.streams import stream_warnings

SILENT_SECONDS = 10.0
BIG_SHARD_BYTES = 2_000_000
BIG_CELL_BYTES = 16_000_000
NEAR_A_BOUND = 0.8
SHORT_HEADROOM_SECONDS = 86_400.0


def warnings_of(overview: Overview, catalog: Catalog) -> list[str]:
    """Return one sentence for each thing that is not well, the most urgent first."""
    found = [*troubles(overview.processes), *_engine(overview), *_edges(overview), *_log(overview)]
    found += _headroom(overview)
    for table in overview.tables:
        found += _table(table, catalog.relations[table.name])
    for view in overview.views:
        found += _bounds(f"view `{view.name}`", view.shards, view.counters) if view.counters is not None else ()
    found += _cells(overview)
    found += stream_warnings(overview.streams)
    found += [
        f"table `{name}` is not read: `{relation.topic}` is a topic that no table may be declared on. "
        f"Write DROP TABLE {quoted(name)}."
        for name, relation in sorted(catalog.aside.items())
    ]
    for gap in overview.trimmed:
        found.append(
            f"records {gap.start} to {gap.end - 1} of `{gap.topic}` [{gap.partition}] were trimmed before they were "
            "read: answers lack them. Raise the topic's retention."
        )
    return found


def _engine(overview: Overview) -> Iterator[str]:
    engine = overview.engine
    if engine.age is None:
        yield "no engine has told any progress yet. `tidewire up` or `tidewire engine` starts one."
        return
    if engine.age > SILENT_SECONDS:
        yield f"the engine has told nothing for {engine.age:.0f} s: it is stopped, or Kafka does not answer it."
    elif engine.catalog is not None and engine.catalog < overview.catalog:
        yield f"catalog version {overview.catalog} is not in force yet; the engine works with {engine.catalog}."


def _edges(overview: Overview) -> Iterator[str]:
    owned = {number for edge in overview.edges for number in edge.virtual_edges}
    homeless = sorted(set(range(overview.virtual_edges)) - owned)
    if not overview.edges:
        yield "no edge runs: nobody gets deliveries. `tidewire up` or `tidewire edge` starts one."
    elif homeless:
        yield f"virtual edges {', '.join(map(str, homeless))} are moving between edges, or have no owner."
    for edge in overview.edges:
        if edge.health is None:
            yield f"the edge at `{edge.address}` could not be asked from here."
            continue
        if edge.health.get("state") != "running":
            yield f"the edge at `{edge.address}` is {edge.health.get('state')}."
        losses = _sum_of("losses", edge.health.get("virtual_edges"))
        if losses:
            yield (
                f"the edge at `{edge.address}` could not read what engine or edges had written, {losses} times, and "
                "registered all again: answers came late, and changes in between as one. Its log says where; find out "
                "who else writes to tidewire's topics."
            )
        contradictions = _sum_of("contradictions", edge.health.get("virtual_edges"))
        if contradictions:
            yield (
                f"the edge at `{edge.address}` was told {contradictions} answers otherwise that were told as final "
                "before, and told nobody: its log names each. A topic was made anew or written otherwise, or the log "
                "has not all of it."
            )
        yield from _filters(edge, overview.tables)


def _filters(edge: EdgeState, tables: list[TableState]) -> Iterator[str]:
    """Name tables whose filters take an edge long, and an answer of rows that can hardly be told anew."""
    for relation, figures in filters_in(edge.health).items():
        if figures.crowded:
            yield (
                f"the edge at `{edge.address}` compares a change of `{called(relation)}` with "
                f"{figures.candidates_per_hit:.0f} of its {figures.filters:,} filters for each that it concerns: "
                "batches take longer. Conditions on the same columns, such as an equality in all of them, make it "
                "fewer."
            )
    most = max((table.counters.answer_rows for table in tables if table.counters is not None), default=0)
    largest = largest_bag_in(edge.health)
    if most and largest >= NEAR_A_BOUND * most:
        yield (
            f"the edge at `{edge.address}` has an answer of {largest:,} rows, and {most:,} may be told at once: "
            "with more, its rows cannot be looked up, and it ends where it has to be told anew. Ask for fewer rows, or "
            "raise the setting `answer_rows`."
        )


def _sum_of(counter: str, virtual_edges: object) -> int:
    counts = virtual_edges.values() if isinstance(virtual_edges, dict) else ()
    return sum(int(edge.get(counter, 0)) for edge in counts if isinstance(edge, dict))


def _log(overview: Overview) -> Iterator[str]:
    if overview.log is not None and overview.log.problem:
        yield f"the log of publications does not go on: {overview.log.problem}"


def _headroom(overview: Overview) -> Iterator[str]:
    for room in overview.headroom:
        if room.left < min(SHORT_HEADROOM_SECONDS, room.kept / 4):
            left = f"for {in_words(room.left)} more" if room.left > 0 else "no longer"
            yield (
                f"{room.who}: may stay stopped {left} before records of `{room.topic}` that are not read yet are "
                f"trimmed. Start what is stopped, or raise the topic's `retention.ms` (now {in_words(room.kept)})."
            )


def _table(table: TableState, relation: Relation) -> Iterator[str]:
    if table.lag is None:
        yield f"the topic `{table.topic}` of table `{table.name}` does not exist. Create it, or publish to it."
    uncertain = uncertain_order(relation, table.partitions)
    if uncertain is not None:
        yield uncertain
    counters = table.counters
    if counters is None:
        return
    if counters.dead:
        yield f"table `{table.name}`: {counters.dead} records did not decode. `tidewire tail dead-letters` shows why."
    if counters.unfit_registrations:
        why = f" ({'; '.join(counters.unfit_reasons)})" if counters.unfit_reasons else ""
        yield (
            f"table `{table.name}`: {counters.unfit_registrations} registrations of edges do not fit it{why}: new "
            f"subscriptions are refused or stay `accepted`, others hear nothing new. Run engine and edges of one "
            "version, and subscribe again."
        )
    if counters.unreadable_registrations:
        yield (
            f"table `{table.name}`: {counters.unreadable_registrations} records in `registrations` could not be read; "
            "their virtual edges registered all again. Find out who else writes to tidewire's topics."
        )
    if counters.moved_partitions:
        yield (
            f"table `{table.name}`: {counters.moved_partitions} rows came from another partition than before, so their "
            "order is not certain. Partition by key (murmur2), and do not add partitions to a topic in use."
        )
    if table.largest_bytes > BIG_SHARD_BYTES:
        where = "" if table.shards == 1 else f" of its largest bucket of {table.shards}"
        yield (
            f"table `{table.name}` has {counters.rows} rows, and {table.largest_bytes / 1e6:.1f} MB of state{where}, "
            "above the 2 MB a shard is made for: batches take longer. Keep fewer rows or fewer orderings, or part the "
            "table by 'buckets' (docs/questions.md)."
        )
    yield from _bounds(f"table `{table.name}`", table.shards, counters)
    yield from _columns(table.name, relation, counters)


def _cells(overview: Overview) -> Iterator[str]:
    """Name cells that are larger than one that would be made now, and what waits for one."""
    for cell in overview.cells:
        if cell.counters is not None and cell.counters.bytes > BIG_CELL_BYTES:
            yield (
                f"the copies of {_listed(cell.tables)} for their joins have {cell.counters.bytes / 1e6:.1f} MB of "
                f"state, above the {BIG_CELL_BYTES / 1e6:.0f} MB up to which joins begin: batches take longer. Keep "
                f"fewer rows, or DROP JOIN {', '.join(map(quoted, cell.tables))}."
            )
    for wanted in overview.wanted_cells:
        yield (
            f"subscriptions at {_listed(wanted.edges)} wait until joins of {_listed(wanted.tables)} begin, which takes "
            f"some seconds, or up to a minute after others did. Should it last, write {create_join(wanted.tables)}: "
            "`tidewire apply` says what is wrong with it."
        )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _bounds(what_of: str, shards: int, counters: ShardCounters) -> Iterator[str]:
    """Name the bounds of a shard that are nearly reached: what needs more is refused with the code `quota`."""
    for setting, (held, most) in counters.held.items():
        if held < NEAR_A_BOUND * most:
            continue
        where = "its shard has" if shards == 1 else f"the fullest of its {shards} shards has"
        what, unit = ("MB of state", 1e6) if setting == "shard_state_mb" else (setting.removeprefix("shard_"), 1)
        yield (
            f"{what_of}: {where} {held / unit:,.0f} {what}, and may have {most / unit:,.0f}: new questions "
            f"that need more are refused. End those that nobody needs, or raise the setting `{setting}`."
        )


def _columns(table: str, relation: Relation, counters: ShardCounters) -> Iterator[str]:
    """Name declared columns that never came, and what came under a like name."""
    upserts = counters.decoded - counters.deletes
    if not counters.seen or not upserts:
        return
    for column in relation.declared:
        if counters.seen.get(column.name):
            continue
        folded = {name.casefold(): name for name in counters.unknown_members}
        near = difflib.get_close_matches(column.name.casefold(), folded, n=1)
        hint = f"Did the rows' `{folded[near[0]]}` mean it?" if near else "It is NULL everywhere."
        yield f"table `{table}`: the column `{column.name}` never came in {upserts} rows. {hint}"
