"""A batch's rows in a cell: each copy takes its topic's records, and edges are sent what their joins need of them.

    quote   records at places 0 1 3 of the order over all topics         changes 0 1 3, causes 0 1 3
    filing  a record at 2                                                 change 2, cause 2

The copies decode and resolve as their tables' shards do, and come to the same rows; what cannot be read is told by
those, as is what comes too late to a stream, and where its silences count: of one a copy has nothing but how far it is.
Records of all topics are taken in one order (`shard/order.py`): it numbers changes and causes over all tables.
What a cause does to views that are joined stands behind what it does to tables: edges net whatever one cause does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from catalog.schema.relation import Relation
from connectors.record import RawRecords
from operators.batch_view import BatchView
from operators.cell_view import CellView
from operators.semijoin_closure import send
from operators.timeline import Timeline
from shard.cell import CellState
from shard.decode import decode, settle
from shard.group_spec import GroupSpec
from shard.moved import Moved
from shard.order import Ordered
from shard.register import take_silences
from shard.state import ShardState
from shard.stream_intake import take_in
from shard.tables import Table
from shard.view_batch import ViewBatch
from state.change_batch import I32, I64, ChangeBatch

NOTHING: Mapping[str, ChangeBatch] = {}
"""No rows of streams."""
Told = list[tuple[Timeline, list[int]]]
"""Timelines, each with the virtual edges that get it."""


def advance(
    cell: CellState,
    ordered: Ordered,
    several: frozenset[str],
    partitions: int,
    views: ViewBatch | None = None,
    come: Mapping[str, ChangeBatch] = NOTHING,
) -> Told:
    """Take a batch's rows; return what the virtual edges below `partitions` are sent.

    `come` has by name the rows of streams that count (`take_streams`), of which nothing is stored.
    `views` are told what becomes of the copies that change, by member, before these take it over.
    Cost: as a table's shard to decode and apply; what `send` says.
    """
    places = ordered.places()
    replays, changes, stood = list[BatchView](), list[ChangeBatch](), list[I64]()
    for name, copy in cell.copies.items():
        rows = ordered.rows.get(copy.relation.topic)
        taken = come.get(name) or _none(copy.relation)
        if rows is not None and copy.relation.stream is None:
            taken = settle(copy, decode(copy, rows, several), rows).changes
        made = copy.table.replay if copy.relation.stream is None else Table(copy.relation).pass_by
        replays.append(made(taken) if len(taken) else copy.table.still())
        changes.append(taken)
        stood.append(np.zeros(0, np.int64) if rows is None else _placed(taken, rows, places[copy.relation.topic]))
    if not any(map(len, changes)):
        return []
    view = CellView.of(cell.cell.tables, replays, changes, stood)
    moved = {
        copy.shard: Moved(taken, replay, cause, view.causes)
        for copy, taken, replay, cause in zip(cell.copies.values(), changes, replays, view.cause, strict=True)
        if len(taken)
    }
    if views is not None:
        views.advance(moved)
    told = _tell(
        cell, view.beside({name: _what_it_does(member, moved) for name, member in cell.views.items()}), partitions
    )
    if views is not None:
        views.take_over(moved)
    for copy, replay, taken in zip(cell.copies.values(), replays, changes, strict=True):
        if len(taken) and copy.relation.stream is None:
            copy.table.commit(replay)
    return told


def take_streams(spec: GroupSpec, cell: CellState, ordered: Ordered) -> dict[str, ChangeBatch]:
    """Let the streams of a cell move on, as their shards do; return by name the rows that count.

    Cost: nothing where the cell has no stream, else as a stream's shard.
    """
    come: dict[str, ChangeBatch] = {}
    for name, copy in cell.copies.items():
        relation = copy.relation
        said = None if relation.stream is None else ordered.addressed(relation.shard)
        if relation.stream is None or (said is None and relation.topic not in ordered.rows):
            continue
        take_silences(copy, spec.epoch, said)
        changes = take_in(spec, copy, ordered).changes
        if changes is not None:
            come[name] = changes
    return come


def _what_it_does(view: ShardState, moved: Mapping[str, Moved]) -> tuple[BatchView, I32]:
    """Return what a batch does to a view, and the cause of each of its changes."""
    mine = moved.get(view.shard)
    return (view.table.still(), np.zeros(0, np.int32)) if mine is None else (mine.view, mine.cause)


def _tell(cell: CellState, view: CellView, partitions: int) -> Told:
    """Return what is sent, and count it."""
    told = send(view, cell.interests, partitions, cell.seq + 1, cell.window)
    cell.seq += len(view)
    counters, sent = cell.counters, set[int]()
    for timeline, edges in told:
        counters.routed += len(timeline) * len(edges)
        counters.shipped += sum(map(len, timeline.rows)) * len(edges)
        counters.named += sum(map(len, timeline.named)) * len(edges)
        sent.update(timeline.number.tolist())
    counters.messages += len(view)
    counters.suppressed += len(view) - len(sent)
    return told


def _placed(changes: ChangeBatch, rows: RawRecords, places: I64) -> I64:
    """Return the place of each change's record among those of all topics; `places` has that of each of `rows`."""
    found = np.empty(len(changes), np.int64)
    for partition in np.unique(changes.partition).tolist():
        mine, its = np.flatnonzero(changes.partition == partition), np.flatnonzero(rows.partition == partition)
        found[mine] = places[its[np.searchsorted(rows.offset[its], changes.offset[mine])]]
    return found


def _none(relation: Relation) -> ChangeBatch:
    """Return no changes of a table."""
    texts: dict[int, Sequence[str | None]] = {i: [] for i, each in enumerate(relation.columns) if not each.type.coded}
    nothing, width = np.zeros(0, np.int64), len(relation.columns)
    codes, valid = np.zeros((width, 0), np.int64), np.zeros((width, 0), np.bool_)
    return ChangeBatch([], np.zeros(0, np.bool_), codes, valid, texts, nothing.astype(np.int32), nothing)
