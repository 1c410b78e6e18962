"""One batch of one shard, from raw records to records to write: a visible tuple of pure stages.

    order -> register -> decode -> resolve -> reformulate -> route -> encode -> count

The same function runs in Spark's stateful operator, in a scenario and in a test. It reads no clock and no
random: the same state and records give the same bytes, which is what makes a replayed batch harmless
(architecture, section 5, promise 1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np

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
from shard.resolve import Resolved, resolve
from shard.route import Route, route
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
class ShardBatch:
    """One batch on its way through the stages; each stage fills in what the next one reads."""

    spec: ShardSpec
    batch: int
    records: Sequence[RawRecords]
    state: ShardState
    registrations: RawRecords | None = None
    rows: RawRecords | None = None
    snapshots: dict[int, Snapshot] = field(default_factory=dict)
    decoded: Decoded | None = None
    resolved: Resolved | None = None
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
    current = ShardBatch(spec, batch, records, ShardState.open(relation, spec.shard, state))
    for stage in STAGES:
        stage(current)
    return ShardResult(current.state.dump(), current.out)


def _order(current: ShardBatch) -> None:
    registrations = [part for part in current.records if part.topic == current.spec.topics.registrations]
    rows = [part for part in current.records if part.topic == current.state.relation.topic]
    current.registrations = order_records(registrations) if registrations else None
    current.rows = order_records(rows) if rows else None


def _register(current: ShardBatch) -> None:
    current.snapshots = take_registrations(
        current.state, current.spec.epoch, current.registrations, current.spec.partitions
    )


def _decode(current: ShardBatch) -> None:
    """A row without a key is taken only from a topic of one partition, and never after records of another one.

    Of a table with buckets each row must say by its key which one it is in.
    """
    if current.rows is None or not len(current.rows):
        return
    state = current.state
    state.highest_partition = max(state.highest_partition, int(current.rows.partition.max()))
    single = state.highest_partition == 0 and state.relation.topic not in current.spec.several
    keyless = single and not state.relation.bucket_by
    current.decoded = format_of(state.relation, keyless=keyless).decode(current.rows)


def _settle(current: ShardBatch) -> None:
    """What cannot be resolved is a dead letter like what cannot be decoded."""
    if current.decoded is not None and current.rows is not None:
        state = current.state
        stored = state.operator.stored
        current.resolved = resolve(current.decoded, current.rows, state.relation, stored, state.graves, state.repeats)


def _reformulate(current: ShardBatch) -> None:
    if current.resolved is not None and len(current.resolved.changes):
        messages = current.state.operator.apply(current.resolved.changes)
        current.outgoing = Outgoing.of(messages, current.resolved.changes, current.state.seq, current.state.relation)
        current.state.seq += len(messages)


def _route(current: ShardBatch) -> None:
    if current.outgoing is not None:
        current.routed = route(current.state.listeners, current.outgoing.messages, current.spec.partitions)


def _encode(current: ShardBatch) -> None:
    sweeps = _sweeps(current.resolved) if current.resolved is not None else []
    header = Header("messages", current.spec.epoch, current.spec.shard, current.batch, sweeps=sweeps)
    encoder = Encoder(current.spec.topics.notifications, header)
    current.out += encoder.encode(current.snapshots, current.outgoing, current.routed, current.state.hurt)
    if current.decoded is not None and current.resolved is not None:
        current.out += [
            letter.record(current.spec.topics) for letter in (*current.decoded.dead, *current.resolved.dead)
        ]


def _sweeps(resolved: Resolved) -> list[tuple[int, int]]:
    """Return partition and offset of the records that became several changes."""
    if not resolved.changes.shared:
        return []
    several = np.flatnonzero(np.bincount(resolved.changes.cause) > 1)
    causes = resolved.causes
    return list(zip(causes.partition[several].tolist(), causes.offset[several].tolist(), strict=True))


def _count(current: ShardBatch) -> None:
    counters = current.state.counters
    if current.decoded is not None and current.resolved is not None:
        repeated = current.resolved.repeated
        counters.decoded += len(current.decoded.changes) - len(current.resolved.dead) - int(repeated.sum())
        counters.dead += len(current.decoded.dead) + len(current.resolved.dead)
        counters.ignored += current.decoded.ignored + int(repeated.sum())
        counters.deletes += int((~current.decoded.changes.live & ~repeated).sum())
        names = set(counters.unknown_members) | set(current.decoded.unknown)
        counters.unknown_members = sorted(names)[:UNKNOWN_NAMES_KEPT]
        for column, rows in current.decoded.seen.items():
            counters.seen[column] = counters.seen.get(column, 0) + rows
    if current.outgoing is not None:
        counters.messages += len(current.outgoing.seq)
        counters.suppressed += current.routed.suppressed
        counters.routed += current.routed.routed
        counters.spared += current.routed.spared
    counters.moved_partitions = current.state.operator.moved_partitions
    report = ShardCounters(
        epoch=current.spec.epoch,
        shard=current.spec.shard,
        batch=current.batch,
        rows=current.state.operator.rows,
        bytes=current.state.operator.bytes,
        **msgspec.structs.asdict(counters),
    )
    current.out.append(
        OutRecord(current.spec.topics.engines, 0, current.spec.shard.encode(), msgspec.json.encode(report))
    )


STAGES: tuple[Callable[[ShardBatch], None], ...] = (
    _order, _register, _decode, _settle, _reformulate, _route, _encode, _count,
)  # fmt: skip
