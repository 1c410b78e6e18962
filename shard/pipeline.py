"""One batch of one shard, from raw records to records to write: a visible tuple of pure stages.

    order -> register -> decode -> settle -> reformulate -> route -> encode -> count

The same function runs in Spark's stateful operator, in a scenario and in a test. It reads no clock and no
random: the same state and records give the same bytes, which is what makes a replayed batch harmless
(architecture, section 5, promise 1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec

from catalog.schema.relation import Catalog, Relation
from connectors.formats.record_format import Decoded, format_of
from connectors.record import OutRecord, RawRecords
from connectors.topics import Topics
from operators.counters import ShardCounters
from operators.packed import Header
from shard.encode import Encoder
from shard.order import order_records
from shard.outgoing import Outgoing
from shard.register import Snapshot, take_registrations
from shard.route import Route, route
from shard.settle import Settled, settle
from shard.state import UNKNOWN_NAMES_KEPT, ShardState


@dataclass(frozen=True, slots=True)
class ShardSpec:
    """What a shard must know: the epoch, its name, the catalog of this batch, the topics, the virtual edges.

    `several` are the topics that are known to have several partitions.
    """

    epoch: int
    shard: str
    catalog: Catalog
    topics: Topics
    partitions: int
    several: frozenset[str] = frozenset()

    @property
    def relation(self) -> Relation | None:
        """The relation that the shard holds, or holds a bucket of; None where the catalog has it no more."""
        return self.catalog.relation_of(self.shard)


@dataclass(frozen=True, slots=True)
class ShardResult:
    """The new state (None: forget the shard) and the records to write, in order."""

    state: bytes | None
    out: list[OutRecord]


@dataclass(slots=True)
class Turn:
    """One batch on its way through the stages; each stage fills in what the next one reads."""

    spec: ShardSpec
    batch: int
    records: Sequence[RawRecords]
    state: ShardState
    registrations: RawRecords | None = None
    rows: RawRecords | None = None
    snapshots: dict[int, Snapshot] = field(default_factory=dict)
    decoded: Decoded | None = None
    settled: Settled | None = None
    outgoing: Outgoing | None = None
    routed: Route = field(default_factory=Route)
    out: list[OutRecord] = field(default_factory=list)


def process_shard(spec: ShardSpec, batch: int, state: bytes | None, records: Sequence[RawRecords]) -> ShardResult:
    """Run batch number `batch` of a shard.

    `records` are those of the relation's topic and of the registrations topic, in any order and any number of
    pieces; `state` is what the batch before returned.
    Cost: O(bytes of the state + records + messages * virtual edges that listen).
    Raises StateError if `state` is not this shard's, or a newer edge wrote a registration.
    """
    relation = spec.relation
    if relation is None:
        return ShardResult(None, [])
    turn = Turn(spec, batch, records, ShardState.open(relation, spec.shard, state))
    for stage in STAGES:
        stage(turn)
    return ShardResult(turn.state.dump(), turn.out)


def _order(turn: Turn) -> None:
    registrations = [part for part in turn.records if part.topic == turn.spec.topics.registrations]
    rows = [part for part in turn.records if part.topic == turn.state.relation.topic]
    turn.registrations = order_records(registrations) if registrations else None
    turn.rows = order_records(rows) if rows else None


def _register(turn: Turn) -> None:
    turn.snapshots = take_registrations(turn.state, turn.spec.epoch, turn.registrations, turn.spec.partitions)


def _decode(turn: Turn) -> None:
    """A row without a key is taken only from a topic of one partition, and never after records of another one.

    Of a table with buckets each row must say by its key which one it is in.
    """
    if turn.rows is None or not len(turn.rows):
        return
    state = turn.state
    state.highest_partition = max(state.highest_partition, int(turn.rows.partition.max()))
    single = state.highest_partition == 0 and state.relation.topic not in turn.spec.several
    keyless = single and not state.relation.bucket_by
    turn.decoded = format_of(state.relation, keyless=keyless).decode(turn.rows)


def _settle(turn: Turn) -> None:
    """What cannot be settled is a dead letter like what cannot be decoded."""
    if turn.decoded is not None and turn.rows is not None:
        state = turn.state
        stored = state.operator.stored
        turn.settled = settle(turn.decoded, turn.rows, state.relation, stored, state.graves, state.repeats)


def _reformulate(turn: Turn) -> None:
    if turn.settled is not None and len(turn.settled.changes):
        messages = turn.state.operator.apply(turn.settled.changes)
        turn.outgoing = Outgoing.of(messages, turn.settled.changes, turn.state.seq, turn.state.relation)
        turn.state.seq += len(messages)


def _route(turn: Turn) -> None:
    if turn.outgoing is not None:
        turn.routed = route(turn.state.listeners, turn.outgoing.messages, turn.spec.partitions)


def _encode(turn: Turn) -> None:
    sweeps = turn.settled.sweeps if turn.settled is not None else []
    header = Header("messages", turn.spec.epoch, turn.spec.shard, turn.batch, sweeps=sweeps)
    encoder = Encoder(turn.spec.topics.notifications, header)
    turn.out += encoder.encode(turn.snapshots, turn.outgoing, turn.routed, turn.state.hurt)
    if turn.decoded is not None and turn.settled is not None:
        turn.out += [letter.record(turn.spec.topics) for letter in (*turn.decoded.dead, *turn.settled.dead)]


def _count(turn: Turn) -> None:
    counters = turn.state.counters
    if turn.decoded is not None and turn.settled is not None:
        repeated = turn.settled.repeated
        counters.decoded += len(turn.decoded.changes) - len(turn.settled.dead) - int(repeated.sum())
        counters.dead += len(turn.decoded.dead) + len(turn.settled.dead)
        counters.ignored += turn.decoded.ignored + int(repeated.sum())
        counters.deletes += int((~turn.decoded.changes.live & ~repeated).sum())
        names = set(counters.unknown_members) | set(turn.decoded.unknown)
        counters.unknown_members = sorted(names)[:UNKNOWN_NAMES_KEPT]
        for column, rows in turn.decoded.seen.items():
            counters.seen[column] = counters.seen.get(column, 0) + rows
    if turn.outgoing is not None:
        counters.messages += len(turn.outgoing.seq)
        counters.suppressed += turn.routed.suppressed
        counters.routed += turn.routed.routed
        counters.spared += turn.routed.spared
    counters.moved_partitions = turn.state.operator.moved_partitions
    report = ShardCounters(
        epoch=turn.spec.epoch,
        shard=turn.spec.shard,
        batch=turn.batch,
        rows=turn.state.operator.rows,
        bytes=turn.state.operator.bytes,
        **msgspec.structs.asdict(counters),
    )
    turn.out.append(OutRecord(turn.spec.topics.engines, 0, turn.spec.shard.encode(), msgspec.json.encode(report)))


STAGES: tuple[Callable[[Turn], None], ...] = (
    _order, _register, _decode, _settle, _reformulate, _route, _encode, _count,
)  # fmt: skip
