"""One batch of one group, from raw records to records to write: a visible list of pure stages.

    group              order
    each table         register -> decode -> resolve -> replay
    or a stream        register -> decode -> judge by event time (stream_batch.py)
    stages of views    register, before that; then changes of what they read become changes of their own (views.py)
    each member        tell -> commit -> encode -> count (member_batch.py)
    or a cell          register -> decode, resolve each copy -> semijoins -> encode -> count, and the same for its views

The same function runs in Spark's stateful operator, in a scenario and in a test. It reads no clock and no
random: the same state and records give the same bytes, which is what makes a replayed batch harmless
(architecture, section 5, promise 1). A member that the batch has no record for says nothing, as a group would that
the batch does not touch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from catalog.schema.cell import Cell
from connectors.record import OutRecord, RawRecords
from operators.counters import ShardCounters
from operators.packed import Header
from operators.record_error import VIEWS_FORMAT, WINDOW_FORMAT
from shard.bounds import held_by_cell
from shard.cell import CellState
from shard.cell_answers import cell_snapshots
from shard.cell_batch import advance, take_streams
from shard.cell_register import joins_asked, take_questions
from shard.encode import Encoder, timeline_chunks
from shard.group import Group
from shard.group_spec import GroupSpec
from shard.member_batch import MemberBatch
from shard.order import Ordered, order
from shard.receiver import read_records
from shard.state import ShardState
from shard.stream_batch import StreamBatch
from shard.view_batch import ViewBatch


@dataclass(frozen=True, slots=True)
class GroupResult:
    """The new state (None: forget the group) and the records to write, in order."""

    state: bytes | None
    out: list[OutRecord]


def process_group(spec: GroupSpec, batch: int, state: bytes | None, records: Sequence[RawRecords]) -> GroupResult:
    """Run batch number `batch` of a group.

    `records` are those of the members' topics and of the registrations topic, in any order and any number of
    pieces; `state` is what the batch before returned.
    Cost: O(bytes of the state + records + messages * virtual edges that listen).
    Raises StateError if `state` is not this group's, or a newer edge wrote a registration.
    """
    if spec.cell is not None:
        return process_cell(spec, spec.cell, batch, state, records)
    tables, stages = spec.tables, spec.stages
    if not tables:
        return GroupResult(None, [])
    group = Group.open(spec.group, tables | {stage.member: stage.relation for stage in stages}, state, spec.seed)
    ordered = order(records, spec.topics.registrations, {relation.topic for relation in tables.values()})
    views = ViewBatch(spec, batch, stages, group)
    views.prepare(ordered)
    batches = {
        shard: begun(spec, batch, group[shard], ordered, bool(stages))
        for shard, relation in tables.items()
        if relation.topic in ordered.rows or shard.encode() in ordered.named
    }
    views.register(ordered)
    taken = ((shard, one.take(ordered)) for shard, one in batches.items())
    moved = {shard: changes for shard, changes in taken if changes is not None}
    views.advance(moved)
    views.take_over(moved)
    for shard, one in batches.items():
        if shard in moved:
            one.member.counters.skipped += views.skipped.get(shard, 0)
            one.tell(moved[shard])
    out = [record for one in batches.values() for record in one.records()]
    return GroupResult(group.dump(), [*out, *views.records(bool(ordered.rows))])


def begun(spec: GroupSpec, batch: int, member: ShardState, ordered: Ordered, staged: bool) -> MemberBatch:
    """Begin the batch of a table or stream, and take its registrations; `staged`: whether it may have views."""
    member.begin()
    if not staged:
        member.table.order_by(())
    one = MemberBatch(spec, batch, member) if member.relation.stream is None else StreamBatch(spec, batch, member)
    one.register(ordered.addressed(member.shard))
    return one


def process_cell(
    spec: GroupSpec, cell: Cell, batch: int, data: bytes | None, records: Sequence[RawRecords]
) -> GroupResult:
    """Run a batch of a cell, as `process_group` does, for its joins and its views.

    It writes no dead letters and counts no rows: its tables' own shards do.
    """
    state = CellState.open(cell, spec.catalog.relations, data, spec.seed, None)
    topics = {copy.relation.topic for copy in state.copies.values()}
    ordered = order(records, spec.topics.registrations, topics)
    registered = [*read_records(ordered.addressed(cell.name))]
    stages = state.place(spec.catalog, joins_asked(registered) if spec.catalog.views else ())
    if not ordered.named and not ordered.rows:
        state.arrange()
        return GroupResult(state.dump(spec.bounds.window), [])
    state.begin()
    bounds, window = spec.bounds, state.window
    window.begin(spec.epoch, batch, spec.partitions)
    held = [view.shard for view in state.views.values()]
    views = ViewBatch(spec, batch, stages, state.group, state.orderings, held)
    views.prepare(ordered)
    asked = take_questions(state, spec.catalog, spec.epoch, registered, spec.partitions, bounds)
    views.register(ordered)
    state.arrange(views.wanted)
    window.tell({name: state.interests.told(name) for name in state.sources})
    window.lose(name for name, view in state.views.items() if view.shard in views.changed)
    snapshots = cell_snapshots(state, spec.catalog, asked, bounds.batch_bytes, spec.digest_key, bounds.whole)
    told = advance(state, ordered, spec.several, spec.partitions, views, take_streams(spec, state, ordered))
    state.counters.skipped += sum(views.skipped.values())
    header = Header("changes", spec.epoch, cell.name, batch, window=window.window)
    header.format = VIEWS_FORMAT if state.views else WINDOW_FORMAT if window.window else header.format
    header.views = list(state.views)
    encoder = Encoder(spec.topics.notifications, header)
    out = list(encoder.encode(snapshots, timeline_chunks(told), state.hurt))
    out.append(report_cell(spec, batch, state))
    return GroupResult(state.dump(bounds.window), [*out, *views.records(bool(ordered.rows))])


def report_cell(spec: GroupSpec, batch: int, state: CellState) -> OutRecord:
    """Return the record that tells a cell's counters."""
    told = ShardCounters(
        epoch=spec.epoch,
        shard=state.cell.name,
        batch=batch,
        rows=state.rows,
        bytes=state.size,
        held=held_by_cell(state, spec.bounds),
        needed=[f"{table}.{column}" for table in state.sources for column in state.interests.told(table)],
        answer_rows=spec.bounds.whole.rows,
        **msgspec.structs.asdict(state.counters),
    )
    return OutRecord(spec.topics.engines, 0, state.cell.name.encode(), msgspec.json.encode(told))
