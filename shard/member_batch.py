"""One batch of one member: from its registrations and rows to the records to write.

    a table             register -> decode -> resolve -> replay -> tell, commit -> encode -> count -> report
    a stage of a view   register ->        changes that its operator makes (shard/views.py) -> the same

A member that the batch has nothing for says nothing, as a group would that the batch does not touch.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from catalog.schema.stream import WINDOWS, Closing
from connectors.decoded import Decoded
from connectors.record import OutRecord, RawRecords
from operators.counters import ShardCounters
from operators.packed import Header
from operators.record_error import HORIZON_FORMAT
from operators.wire.header import NO_HORIZON
from shard.bounds import held
from shard.decode import decode, settle
from shard.encode import NOTHING, Encoder, add_best, add_images, chunks_of
from shard.group_spec import GroupSpec
from shard.moved import Moved
from shard.order import Ordered
from shard.outgoing import Outgoing
from shard.outgoing_best import OutgoingBest
from shard.outgoing_images import OutgoingImages
from shard.register import take_registrations
from shard.resolve import Resolved
from shard.route import Route, route, viewers_of
from shard.snapshot import Snapshot
from shard.state import UNKNOWN_NAMES_KEPT, ShardState
from shard.written_rows import WrittenRows


@dataclass(frozen=True, slots=True)
class Told:
    """What changes cause: messages, and their ways.

    `images`, where somebody listens to them, go to all of `viewers`; messages about first rows have ways of their own.
    """

    outgoing: Outgoing | None = None
    routed: Route = field(default_factory=Route)
    images: OutgoingImages | None = None
    viewers: list[int] = field(default_factory=list)
    best: OutgoingBest | None = None
    best_routed: Route = field(default_factory=Route)


@dataclass(frozen=True, slots=True)
class Horizons:
    """How far the event time of a view was complete before a batch, and is after it; NO_HORIZON where it is nowhere.

    crossed: whether a window of the view has ended in between.
    """

    before: int
    after: int
    crossed: bool

    @classmethod
    def of(cls, closing: Closing, before: int, after: int) -> Horizons:
        """Return those of a view whose rows are final as `closing` says."""
        unit = WINDOWS[closing.unit]
        return cls(before, after, before // unit < after // unit)


_NOTHING = Told()


class MemberBatch:
    """What a batch does to `member`, whose state is brought up to date: `register` first, in the end `records`.

    inner: of a view, the members that have its inner stages, whose bytes are its own.
    """

    def __init__(self, spec: GroupSpec, batch: int, member: ShardState, inner: Sequence[ShardState] = ()) -> None:
        self.member = member
        self._inner = inner
        self._spec = spec
        self._batch = batch
        self._snapshots: dict[int, Snapshot] = {}
        self._rows: tuple[Decoded, Resolved] | None = None
        self._told = _NOTHING
        self._horizons: Horizons | None = None
        view = spec.catalog.views.get(member.relation.name)
        self._written = WrittenRows(view.topic, spec.epoch, batch, member) if view is not None and view.topic else None

    @property
    def viewers(self) -> list[int]:
        """The virtual edges that listen to anything of the member."""
        edges = {ve for each in self.member.listeners.values() for ve in each}
        return sorted(ve for ve in edges if ve < self._spec.partitions)

    def close(self, horizons: Horizons) -> None:
        """Let the records say how far the event time of a view is complete."""
        self._horizons = horizons

    def register(self, registrations: RawRecords | None, upto: int = NO_HORIZON) -> None:
        """Take registrations, which stand before the rows: a snapshot holds at the end of the batch before.

        `upto` is how far the event time of a view of a stream was complete then.
        """
        spec = self._spec
        self._snapshots = take_registrations(
            self.member, spec.epoch, registrations, spec.partitions, spec.bounds, spec.digest_key, upto
        )

    def write_rows(self) -> None:
        """Write to a view's topic what was asked for by registrations, or because its rows are made anew."""
        if self._written is not None:
            self._written.take_rows()

    def take(self, ordered: Ordered) -> Moved | None:
        """Decode and resolve the rows of a table's topic; return what they change, which `tell` takes over."""
        member = self.member
        rows = ordered.rows.get(member.relation.topic)
        if rows is None:
            return None
        decoded = decode(member, rows, self._spec.several)
        resolved = settle(member, decoded, rows)
        self._rows = decoded, resolved
        changes = resolved.changes
        return Moved(changes, member.table.replay(changes), changes.cause, resolved.causes) if len(changes) else None

    def tell(self, moved: Moved) -> None:
        """Make messages of changes whose causes have no gaps, and let the table take them over."""
        member, partitions = self.member, self._spec.partitions
        if self._written is not None and member.writing:
            self._written.take_changes(moved)
        outgoing, images, best = outgoing_of(member, moved)
        self._told = Told(
            outgoing,
            route(member.listeners, outgoing.messages, partitions),
            images,
            [] if images is None else viewers_of(member.listeners, images.channel, partitions),
            best,
            Route() if best is None else route(member.listeners, best.messages, partitions),
        )

    def records(self) -> Iterator[OutRecord]:
        """Yield what each virtual edge gets, the dead letters, what goes to a view's topic, and the newest counters."""
        spec, member = self._spec, self.member
        viewers = self.viewers if self._horizons is not None and self._horizons.crossed else ()
        yield from encode(spec, self._batch, member, self._snapshots, self._told, self._horizons, viewers)
        if self._rows is not None:
            for letter in (*self._rows[0].dead, *self._rows[1].dead):
                yield letter.record(spec.topics)
            count_rows(member, *self._rows)
        count_messages(member, self._told)
        yield from self._written.records if self._written is not None else ()
        yield self._report()

    def _report(self) -> OutRecord:
        """Return the record that tells the member's counters."""
        topic, shard = self._spec.topics.engines, self.member.shard.encode()
        return OutRecord(topic, 0, shard, msgspec.json.encode(self._counters()))

    def _counters(self) -> ShardCounters:
        spec, member = self._spec, self.member
        member.counters.moved_partitions = member.table.moved_partitions
        return ShardCounters(
            epoch=spec.epoch,
            shard=member.shard,
            batch=self._batch,
            rows=member.table.rows,
            bytes=member.bytes + sum(stage.bytes for stage in self._inner),
            held=held(member, spec.bounds),
            needed=member.needed_columns,
            answer_rows=spec.bounds.whole.rows,
            **msgspec.structs.asdict(member.counters),
        )


def outgoing_of(member: ShardState, moved: Moved) -> tuple[Outgoing, OutgoingImages | None, OutgoingBest | None]:
    """Return what changes cause, None where there is nothing of a kind; then the member's table takes them over.

    Messages have the first numbers, images those behind them, then come messages about first rows.
    """
    viewed, images, best = member.images, None, None
    changes, causes = moved.changes, moved.causes
    outcome = member.table.outcome(moved.view, member.needed_columns, viewed is not None)
    outgoing = Outgoing.of(outcome.messages, changes, causes, member.seq, member.relation)
    member.seq += len(outcome.messages)
    if viewed is not None and outcome.images is not None:
        images = OutgoingImages.of(viewed, outcome.images, changes, causes, member.seq)
        member.seq += len(outcome.images)
    if outcome.best is not None:
        best = OutgoingBest.of(outcome.best, changes, causes, member.seq, member.relation)
        member.seq += len(outcome.best)
    member.table.commit(moved.view)
    return outgoing, images, best


def encode(
    spec: GroupSpec,
    batch: int,
    member: ShardState,
    snapshots: Mapping[int, Snapshot],
    told: Told,
    horizons: Horizons | None = None,
    viewers: Collection[int] = (),
) -> Iterator[OutRecord]:
    """Yield what each virtual edge gets; `viewers` get a record in any case.

    All records are of one format, also where event time begins in this batch: the snapshots say nothing of it then.
    """
    before, after = (NO_HORIZON, NO_HORIZON) if horizons is None else (horizons.before, horizons.after)
    header = said(Header("messages", spec.epoch, member.shard, batch), after)
    chunks = {} if told.outgoing is None else chunks_of(told.outgoing, told.routed)
    if told.images is not None:
        add_images(chunks, told.images, told.viewers)
    if told.best is not None:
        add_best(chunks, told.best, told.best_routed)
    for ve in viewers:
        chunks.setdefault(ve, [NOTHING])
    encoder = Encoder(spec.topics.notifications, header, msgspec.structs.replace(header, horizon=before))
    return encoder.encode(snapshots, chunks, member.hurt)


def said(header: Header, horizon: int) -> Header:
    """Return a header that says how far event time is complete, if it is so far at all."""
    if horizon == NO_HORIZON:
        return header
    return msgspec.structs.replace(header, horizon=horizon, format=HORIZON_FORMAT)


def count_rows(member: ShardState, decoded: Decoded, resolved: Resolved) -> None:
    """Add a batch's rows to the member's counters."""
    counters, repeated = member.counters, int(resolved.repeated.sum())
    counters.decoded += len(decoded.changes) - len(resolved.dead) - repeated
    counters.dead += len(decoded.dead) + len(resolved.dead)
    counters.ignored += decoded.ignored + repeated
    counters.deletes += int((~decoded.changes.live & ~resolved.repeated).sum())
    counters.unknown_members = sorted({*counters.unknown_members, *decoded.unknown})[:UNKNOWN_NAMES_KEPT]
    for column, rows in decoded.seen.items():
        counters.seen[column] = counters.seen.get(column, 0) + rows


def count_messages(member: ShardState, applied: Told) -> None:
    """Add what they made a member tell."""
    counters = member.counters
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
