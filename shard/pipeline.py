"""One batch of one group, from raw records to records to write: a visible list of pure stages.

    group            order
    each member      register -> decode -> resolve -> apply -> route -> encode -> count
    or a cell        register -> decode, resolve each copy -> semijoins -> encode -> count

The same function runs in Spark's stateful operator, in a scenario and in a test. It reads no clock and no
random: the same state and records give the same bytes, which is what makes a replayed batch harmless
(architecture, section 5, promise 1). A member that the batch has no record for says nothing, as a group would that
the batch does not touch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from catalog.schema.catalog import Catalog
from catalog.schema.cell import Cell
from catalog.schema.relation import Relation
from connectors.decoded import Decoded
from connectors.record import OutRecord, RawRecords
from connectors.topics import Topics
from operators.counters import ShardCounters
from operators.packed import Header
from operators.record_error import WINDOW_FORMAT
from shard.bounds import Bounds, held, held_by_cell
from shard.cell import CellState
from shard.cell_answers import cell_snapshots
from shard.cell_batch import advance
from shard.cell_register import take_questions
from shard.decode import decode, settle
from shard.encode import Encoder, add_best, add_images, chunks_of, timeline_chunks
from shard.group import Group
from shard.order import order
from shard.outgoing import Outgoing
from shard.outgoing_best import OutgoingBest
from shard.outgoing_images import OutgoingImages
from shard.register import take_registrations
from shard.resolve import Resolved
from shard.route import Route, route, viewers_of
from shard.snapshot import DIGEST_KEY, Snapshot
from shard.state import UNKNOWN_NAMES_KEPT, ShardState


@dataclass(frozen=True, slots=True)
class GroupSpec:
    """What a group must know: the epoch, its name, the catalog of this batch, the topics, the virtual edges.

    `several` are the topics that are known to have several partitions. `members` are the shards that it holds; where
    none is named it is the shard of its name. `seed` has what members begin with that have no state yet
    (shard/group.py). `bounds` are what subscriptions may make each member hold; `digest_key` has the 16 bytes under
    which rows are hashed.
    """

    epoch: int
    group: str
    catalog: Catalog
    topics: Topics
    partitions: int
    several: frozenset[str] = frozenset()
    members: tuple[str, ...] = ()
    seed: bytes | None = None
    bounds: Bounds = field(default_factory=Bounds)
    digest_key: bytes = DIGEST_KEY

    @property
    def cell(self) -> Cell | None:
        """The cell that the group is, None where it is none that the catalog has, with all its tables."""
        cell = self.catalog.cells.get(self.group)
        return cell if cell is not None and all(table in self.catalog.relations for table in cell.tables) else None

    @property
    def tables(self) -> dict[str, Relation]:
        """The members by name, with the relation that each holds, or holds a bucket of, as far as the catalog has it.

        In order of their names.
        """
        named = {shard: self.catalog.relation_of(shard) for shard in sorted(self.members or (self.group,))}
        return {shard: relation for shard, relation in named.items() if relation is not None}


@dataclass(frozen=True, slots=True)
class GroupResult:
    """The new state (None: forget the group) and the records to write, in order."""

    state: bytes | None
    out: list[OutRecord]


@dataclass(frozen=True, slots=True)
class Applied:
    """What a batch's rows did to a member: as they were decoded and resolved, and the messages with their ways.

    `images`, where somebody listens to them, go to all of `viewers`; messages about first rows have ways of their own.
    """

    decoded: Decoded
    resolved: Resolved
    outgoing: Outgoing | None = None
    routed: Route = field(default_factory=Route)
    images: OutgoingImages | None = None
    viewers: Sequence[int] = ()
    best: OutgoingBest | None = None
    best_routed: Route = field(default_factory=Route)


def process_group(spec: GroupSpec, batch: int, state: bytes | None, records: Sequence[RawRecords]) -> GroupResult:
    """Run batch number `batch` of a group.

    `records` are those of the members' topics and of the registrations topic, in any order and any number of
    pieces; `state` is what the batch before returned.
    Cost: O(bytes of the state + records + messages * virtual edges that listen).
    Raises StateError if `state` is not this group's, or a newer edge wrote a registration.
    """
    if spec.cell is not None:
        return process_cell(spec, spec.cell, batch, state, records)
    tables = spec.tables
    if not tables:
        return GroupResult(None, [])
    group = Group.open(spec.group, tables, state, spec.seed)
    ordered = order(records, spec.topics.registrations, {relation.topic for relation in tables.values()})
    out: list[OutRecord] = []
    for shard, relation in tables.items():
        rows, registrations = ordered.rows.get(relation.topic), ordered.addressed(shard)
        if rows is not None or registrations is not None:
            out += process_member(spec, batch, group[shard], rows, registrations)
    return GroupResult(group.dump(), out)


def process_member(
    spec: GroupSpec, batch: int, member: ShardState, rows: RawRecords | None, registrations: RawRecords | None
) -> Iterator[OutRecord]:
    """Run the stages of one member, whose state is brought up to date; yield the records to write.

    When all are taken, `member.delta()` says what the batch did to it.
    Registrations take effect before the rows: a snapshot holds at the end of the batch before (shard/register.py).
    """
    member.begin()
    snapshots = take_registrations(member, spec.epoch, registrations, spec.partitions, spec.bounds, spec.digest_key)
    applied = None
    if rows is not None:
        decoded = decode(member, rows, spec.several)
        resolved = settle(member, decoded, rows)
        outgoing, images, best = apply(member, resolved)
        routed = Route() if outgoing is None else route(member.listeners, outgoing.messages, spec.partitions)
        viewers = [] if images is None else viewers_of(member.listeners, images.channel, spec.partitions)
        best_routed = Route() if best is None else route(member.listeners, best.messages, spec.partitions)
        applied = Applied(decoded, resolved, outgoing, routed, images, viewers, best, best_routed)
    yield from encode(spec, batch, member, snapshots, applied)
    if applied is not None:
        count(member, applied)
    yield report(spec, batch, member)


def process_cell(
    spec: GroupSpec, cell: Cell, batch: int, data: bytes | None, records: Sequence[RawRecords]
) -> GroupResult:
    """Run a batch of a cell, as `process_group` does, for its joins.

    It writes no dead letters and counts no rows: its tables' own shards do.
    """
    state = CellState.open(cell, spec.catalog.relations, data, spec.seed)
    topics = {copy.relation.topic for copy in state.copies.values()}
    ordered = order(records, spec.topics.registrations, topics)
    registrations = ordered.addressed(cell.name)
    bounds = spec.bounds
    if registrations is None and not ordered.rows:
        return GroupResult(state.dump(bounds.window), [])
    state.begin()
    window = state.window
    window.begin(spec.epoch, batch, spec.partitions)
    asked = take_questions(state, spec.catalog, spec.epoch, registrations, spec.partitions, spec.bounds)
    state.arrange()
    window.tell({table: state.interests.told(table) for table in cell.tables})
    snapshots = cell_snapshots(state, spec.catalog, asked, bounds.batch_bytes, spec.digest_key, bounds.whole)
    told = advance(state, ordered, spec.several, spec.partitions)
    header = Header("changes", spec.epoch, cell.name, batch, window=window.window)
    header.format = WINDOW_FORMAT if window.window else header.format
    encoder = Encoder(spec.topics.notifications, header)
    out = list(encoder.encode(snapshots, timeline_chunks(told), state.hurt))
    return GroupResult(state.dump(bounds.window), [*out, report_cell(spec, batch, state)])


def apply(member: ShardState, resolved: Resolved) -> tuple[Outgoing | None, OutgoingImages | None, OutgoingBest | None]:
    """Apply the changes to the member's table; return what they cause, None where there is nothing of a kind.

    Messages have the first numbers, images those behind them, then come messages about first rows.
    """
    changes, causes = resolved.changes, resolved.causes
    if not len(changes):
        return None, None, None
    viewed, images, best = member.images, None, None
    outcome = member.table.apply(changes, member.needed_columns, viewed is not None)
    outgoing = Outgoing.of(outcome.messages, changes, causes, member.seq, member.relation)
    member.seq += len(outcome.messages)
    if viewed is not None and outcome.images is not None:
        images = OutgoingImages.of(viewed, outcome.images, changes, causes, member.seq)
        member.seq += len(outcome.images)
    if outcome.best is not None:
        best = OutgoingBest.of(outcome.best, changes, causes, member.seq, member.relation)
        member.seq += len(outcome.best)
    return outgoing, images, best


def encode(
    spec: GroupSpec, batch: int, member: ShardState, snapshots: Mapping[int, Snapshot], applied: Applied | None
) -> Iterator[OutRecord]:
    """Yield what each virtual edge gets, then the dead letters."""
    encoder = Encoder(spec.topics.notifications, Header("messages", spec.epoch, member.shard, batch))
    chunks = {} if applied is None or applied.outgoing is None else chunks_of(applied.outgoing, applied.routed)
    if applied is not None and applied.images is not None:
        add_images(chunks, applied.images, applied.viewers)
    if applied is not None and applied.best is not None:
        add_best(chunks, applied.best, applied.best_routed)
    yield from encoder.encode(snapshots, chunks, member.hurt)
    for letter in () if applied is None else (*applied.decoded.dead, *applied.resolved.dead):
        yield letter.record(spec.topics)


def count(member: ShardState, applied: Applied) -> None:
    """Add a batch's rows and messages to the member's counters."""
    counters, decoded, resolved = member.counters, applied.decoded, applied.resolved
    repeated = int(resolved.repeated.sum())
    counters.decoded += len(decoded.changes) - len(resolved.dead) - repeated
    counters.dead += len(decoded.dead) + len(resolved.dead)
    counters.ignored += decoded.ignored + repeated
    counters.deletes += int((~decoded.changes.live & ~resolved.repeated).sum())
    counters.unknown_members = sorted({*counters.unknown_members, *decoded.unknown})[:UNKNOWN_NAMES_KEPT]
    for column, rows in decoded.seen.items():
        counters.seen[column] = counters.seen.get(column, 0) + rows
    for told, routed in ((applied.outgoing, applied.routed), (applied.best, applied.best_routed)):
        if told is not None:
            counters.messages += len(told.seq)
            counters.suppressed += routed.suppressed
            counters.routed += routed.routed
            counters.spared += routed.spared
    if applied.images is not None:
        images, viewers = len(applied.images.seq), len(applied.viewers)
        counters.messages += images
        counters.suppressed += 0 if viewers else images
        counters.routed += images * viewers


def report_cell(spec: GroupSpec, batch: int, state: CellState) -> OutRecord:
    """Return the record that tells a cell's counters."""
    told = ShardCounters(
        epoch=spec.epoch,
        shard=state.cell.name,
        batch=batch,
        rows=state.rows,
        bytes=state.size,
        held=held_by_cell(state, spec.bounds),
        needed=[f"{table}.{column}" for table in state.cell.tables for column in state.interests.told(table)],
        answer_rows=spec.bounds.whole.rows,
        **msgspec.structs.asdict(state.counters),
    )
    return OutRecord(spec.topics.engines, 0, state.cell.name.encode(), msgspec.json.encode(told))


def report(spec: GroupSpec, batch: int, member: ShardState) -> OutRecord:
    """Return the record that tells the member's counters."""
    member.counters.moved_partitions = member.table.moved_partitions
    told = ShardCounters(
        epoch=spec.epoch,
        shard=member.shard,
        batch=batch,
        rows=member.table.rows,
        bytes=member.bytes,
        held=held(member, spec.bounds),
        needed=member.needed_columns,
        answer_rows=spec.bounds.whole.rows,
        **msgspec.structs.asdict(member.counters),
    )
    return OutRecord(spec.topics.engines, 0, member.shard.encode(), msgspec.json.encode(told))
