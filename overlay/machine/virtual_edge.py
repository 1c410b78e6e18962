"""A virtual edge: one partition of subscriptions and what follows from it, as a pure state machine.

    subscription records ──► compile ──► ack refused | accepted ──► registration to the shard
    notifications ──► buffer ──► progress: snapshots, then messages ──► deliveries, ack live, edge-state

There is no I/O, clock or random here: a process feeds records in, calls `take`, and writes what it returns together
with the positions it has read in one transaction (`resume_offset`). From the records of `edge-state` another process
`restore`s the same machine; read again from the committed positions, it goes on as if nothing had happened.

Promises, numbered as the tests that crash it:
1. *Atomic batches.* Chunks wait until their batch's progress; repeats of chunks, batches and controls change nothing.
2. *Snapshot, then changes.* A snapshot of batch b holds at the end of b - 1; all messages of b and later follow it.
   A replacement delivers nothing before its snapshot, the replaced one nothing from that batch on.
3. *Epochs.* A higher epoch voids what is buffered; answers stay. On `register` every subscription is registered
   anew, and follows again from its new snapshot: a `resync`, with a new `n` only where it differs.
4. *Once.* A subscription is registered once an epoch; a snapshot that no registration waits for is ignored.
5. *Silence.* A message that brings the value already held delivers nothing (and is counted: shards send none).
6. *Ends.* Dropping a table, or the cell of a join, ends its subscriptions before anything of the batch that announces
   it is applied.
7. *Losses.* A notification that cannot be read, a batch that is not whole, lacks a column that a filter needs or names
   a row that is not here, or a shard that could not read what was registered makes all register again, as under 3; a
   notification that a newer engine wrote raises an error.
8. *Finals.* What was told as final is told no more. Shards are asked for it in each later era, and one that says
   otherwise is named (`contradictions`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from catalog.schema.catalog import Catalog
from catalog.types.value import moment_text
from connectors.record import OutRecord
from connectors.topics import Topics
from operators.control import EpochBegins, Progress, RegisterAll
from operators.packed import Header, PackedError
from operators.record_error import RecordError
from overlay.answers import quota
from overlay.delivery import ack
from overlay.delivery.delivery import PROGRESS_KEY, Position, json_text, progress_delivery
from overlay.delivery.outbox import Outbox
from overlay.index.join_index import EdgeJoins, JoinIndex
from overlay.intake.admission import Admission
from overlay.intake.intake import Intake
from overlay.machine.edge_memory import EdgeMemory
from overlay.machine.notification import Control, read_notification
from overlay.machine.subscription_view import SubscriptionView, SubscriptionViews
from overlay.maintain.batch_applier import BatchApplier
from overlay.maintain.batch_buffer import BatchBuffer, Chunk, MissingChunksError
from overlay.maintain.contradictions import Contradiction, Contradictions
from overlay.maintain.sent_window import MissingRowsError
from overlay.subscriptions.bag_looks import BagLooks, Denied, Outcome
from overlay.subscriptions.edge_counters import EdgeCounters
from overlay.subscriptions.edge_state import Delta, Head, encode_deltas, encode_snapshot
from overlay.subscriptions.endings import Endings
from overlay.subscriptions.expiry import Expiry
from overlay.subscriptions.filter_book import FilterFigures, MissingColumnError
from overlay.subscriptions.subscription_store import SubscriptionStore
from overlay.subscriptions.summaries import PATIENT, Patience
from overlay.table.slot_rows import states_of
from overlay.table.slot_table import NONE
from state.errors import TidewireError
from state.row_digest import KEY_BYTES

_NO_CATALOG = -2


class VirtualEdge:
    """Virtual edge `number` of `partitions`; `catalogs(version)` gives the catalog at an announced version.

    digest_key: 16 bytes that shards and edges share, and nobody else (`state/row_digest.py`).
    joins_on_demand: whether somebody asks for `cells_wanted`; else joins that lack one are refused.
    joins: an index of joins that all virtual edges of a process share; by default it has its own.
    """

    def __init__(
        self,
        number: int,
        partitions: int,
        topics: Topics,
        catalogs: Callable[[int], Catalog],
        patience: Patience = PATIENT,
        digest_key: bytes = bytes(KEY_BYTES),
        joins_on_demand: bool = True,
        joins: JoinIndex | None = None,
    ) -> None:
        self.number = number
        self.counters = EdgeCounters()
        self._topics = topics
        self._catalogs = catalogs
        self._store = SubscriptionStore(patience, EdgeJoins(JoinIndex() if joins is None else joins, number))
        self._admission = Admission(joins_on_demand)
        self._memory = EdgeMemory(self._store, self._admission)
        self._buffer = BatchBuffer()
        self._outbox = Outbox(topics, number)
        self._losses: list[str] = []
        self._looks = BagLooks(self._store)
        self._contradictions = Contradictions(self._store, self.counters)
        self._applier = BatchApplier(
            self._store, self._outbox, self.counters, self._looks, self._contradictions, digest_key
        )
        self._views = SubscriptionViews(self._store, self._admission.held, self._memory)
        self._endings = Endings(self._store, self._outbox, self.counters, self._memory.followed)
        self._expiry = Expiry(self._store)
        self._intake = Intake(
            number, partitions, self._store, self._admission, self._outbox, self.counters, self._expiry,
            self._unsubscribe, lambda: self._head.registered,
        )  # fmt: skip

    # -- what comes in --------------------------------------------------------------------------------------------

    def subscription(self, offset: int, key: bytes | None, value: bytes | None) -> None:
        """Take one record of `subscriptions`: `subscribe_all`. Cost: 0.1 ms."""
        self._intake.take([offset], [key], [value])

    def subscribe_all(
        self, offsets: Sequence[int], keys: Sequence[bytes | None], values: Sequence[bytes | None]
    ) -> None:
        """Take records of `subscriptions`, in order: questions, or with a value of None ends of them.

        Cost: about 5 us each where many come that have a template in common.
        """
        self._intake.take(offsets, keys, values)

    def notification(self, offset: int, key: bytes | None, value: bytes | None) -> bool:
        """Take a record of `notifications`: a chunk of a batch, or a control record; return whether it was the latter.

        One that cannot be read is a loss: nobody knows what it said, so all is registered again.
        Cost: a chunk is only unpacked (0.1 ms); a progress record applies its batch.
        Raises NotificationError for what a newer engine wrote, MissingChunksError where two runs of a batch differ.
        """
        where = f"`{self._topics.notifications}` [{self.number}] offset {offset}"
        try:
            record = read_notification(value or b"", where)
        except RecordError as error:
            self._lose(f"{where} cannot be read: {error}")
            return False
        if isinstance(record, Chunk):
            self._chunk(offset, record)
            return False
        self._control(record)
        return True

    def collect(self, offset: int, value: bytes | None) -> None:
        """Take a record of `notifications` again that stands before the committed position, for the rows in it.

        To be called after `restore`, with all from `window_offset` up to there. What is missing among them is lost only
        if it is needed: then all is registered again, as after any other loss.
        Raises NotificationError for what a newer engine wrote.
        """
        applied = self._head.applied
        try:
            record = read_notification(value or b"", f"`{self._topics.notifications}` [{self.number}] offset {offset}")
        except RecordError:
            return
        if isinstance(record, Chunk) and record.header.epoch == self._head.epoch and applied is not None:
            self._again(offset, record, applied)

    def refuse_held(self, through: int | None = None, most: int | None = None) -> bool:
        """Give the final word on held-back records, or on those with an offset up to `through`.

        Those that wait for a cell are passed over.

        To be called when the edge has read `notifications` up to an end that was asked for after the records
        came. Nothing happens while no catalog is announced at all. Returns whether that was all of them: no more than
        `most` are taken at a time. Cost: 0.2 ms a refusal.
        """
        if not self._admission.announced:
            return True
        held = self._admission.held
        self._intake.admit(held.oldest(through, most), final=True)
        return not held.oldest(through, 1)

    def notifications_lost(self) -> None:
        """Go on after a part of `notifications` was lost (trimmed, or the topic made anew): register all again.

        If `register` of the present epoch was still to come it counts as lost too.
        """
        self._void(unsure=True)
        if self._head.epoch >= 0:
            self._set(registered=True)
            self._store.register_all()

    def look(self, number: int, key: bytes) -> Denied | None:
        """Ask for the rows of the bag `key` under a negative number; None: the answer comes with `looked`.

        Its registration is written with the next step, and the answer is there after one more batch.
        """
        return self._looks.ask(number, key)

    def forget_look(self, number: int) -> None:
        """Nobody waits for the answer of a look any more."""
        self._looks.forget(number)

    def looked(self) -> list[tuple[int, Outcome]]:
        """Return the looks that have ended since the last call, to be told once what was taken is committed."""
        return self._looks.answered()

    def losses(self) -> list[str]:
        """Return what was lost since the last call, each in a sentence that says where: for the log."""
        losses, self._losses = self._losses, []
        return losses

    def contradictions(self) -> list[Contradiction]:
        """Return the final answers that shards say otherwise, as was found since the last call: for the log."""
        return self._contradictions.named()

    # -- what goes out --------------------------------------------------------------------------------------------

    def take(self) -> list[OutRecord]:
        """Return the records of all that was fed in since the last call: acks and deliveries in the order of
        events, then registrations, then what `edge-state` must remember of it.

        The caller writes them in one transaction with the positions it has read.
        """
        if self._head.registered:
            to = Header("register", self._head.epoch, "", ve=self.number, catalog=self._head.catalog)
            records = self._store.registrations.records(self._admission.catalog, to, self._topics.registrations)
            self._outbox.extend(records)
            asked = self._looks.registrations()
            if asked:
                topic = self._topics.registrations
                self._outbox.extend([*self._store.registrations.looks(asked, self._admission.catalog, to, topic)])
            finals = self._contradictions.asked()
            if finals:
                topic = self._topics.registrations
                self._outbox.extend(
                    [*self._store.registrations.comparisons(finals, self._admission.catalog, to, topic)]
                )
        delta = self._memory.changes()
        if delta != Delta():
            self._outbox.extend([self._state_record(value) for value in encode_deltas(delta)])
        return self._outbox.take()

    @property
    def pushed(self) -> list[OutRecord]:
        """Deliveries of what was taken last that are to be told once it is committed, and are not to be written."""
        return self._outbox.pushed

    @property
    def resume_offset(self) -> int | None:
        """The offset of `notifications` to commit: the first chunk that is buffered; None: the next record's."""
        return self._buffer.resume_offset

    @property
    def window_offset(self) -> int | None:
        """From where `notifications` has rows that batches to come may name (`collect`); None: from nowhere."""
        return self._head.kept

    @property
    def refusals_pending(self) -> bool:
        """Whether records name a table or column that no announced catalog has; `refuse_held` ends that."""
        return self._admission.announced and self.held_through is not None

    @property
    def held_through(self) -> int | None:
        """The newest offset among such records: what `refuse_held` may be given once a fence is passed."""
        return self._admission.held.through

    def cells_wanted(self) -> set[tuple[str, ...]]:
        """The tables that held-back records join, of which the catalog has no cell yet: each its names, sorted.

        They are admitted once it has, and refused once it says that there will be none. Known after `restore` too.
        """
        return self._admission.held.cells

    def snapshot_records(self) -> list[OutRecord]:
        """Return the whole state for `edge-state`, after which all its older records are of no use.

        To be called right after `take`. Raises TidewireError otherwise.
        """
        if len(self._outbox) or self._memory.changes() != Delta():
            raise TidewireError(
                "an edge's snapshot was asked for amid a step: call `take` first, and write what it gives"
            )
        self._memory.snapshot += 1
        return [self._state_record(value) for value in encode_snapshot(self._memory.snapshot, self._memory.whole())]

    def restore(self, values: Iterable[bytes | None]) -> None:
        """Become the machine that wrote `values` (all of this partition of `edge-state`); must be new.

        Raises EdgeStateError if they cannot be read. Cost: O(records + subscriptions), about 2 us a subscription.
        """
        self._memory.restore(values)
        self._expiry.restore()
        if self._head.catalog > _NO_CATALOG:
            self._admission.announce(self._catalog(self._head.catalog))
            self._intake.find_cells()

    # -- what it knows --------------------------------------------------------------------------------------------

    @property
    def position(self) -> Position | None:
        """The last batch that was applied, None before the first."""
        return self._memory.position

    @property
    def catalog_version(self) -> int:
        """The catalog that subscriptions are compiled with; -1: none, or an empty one."""
        return max(self._head.catalog, -1)

    @property
    def counts(self) -> dict[str, int]:
        """How many subscriptions are live, accepted and held back now."""
        live, waiting = self._store.slots.count()
        return {"live": live, "accepted": waiting, "held": len(self._admission.held)}

    @property
    def filters(self) -> dict[str, FilterFigures]:
        """What there is to say of the filters of each table."""
        return self._store.filters.figures()

    @property
    def largest_bag(self) -> int:
        """How many rows the largest answer of rows has."""
        return self._store.slots.filters.largest

    @property
    def window(self) -> dict[str, int]:
        """How many rows of cells are kept, since batches to come may name them, and about how many bytes they take."""
        return {"rows": self._buffer.window.rows, "bytes": self._buffer.window.nbytes}

    def find(self, key: bytes) -> SubscriptionView | None:
        """Return the subscription `key` as it is now. Cost: O(1)."""
        return self._views.find(key)

    def check(self) -> None:
        """Check the invariants of all parts. Raises AssertionError. Cost: O(subscriptions)."""
        self._store.check()
        self._admission.held.check()
        self._buffer.check()
        self._looks.check()

    def dump(self) -> dict[str, object]:
        """Return all durable state in a comparable form, for tests and bug reports."""
        whole = self._memory.whole()
        slots = sorted(states_of(whole.slots), key=lambda state: state.version)
        return {
            "head": whole.head,
            "held": whole.held,
            "shapes": whole.shapes,
            "slots": slots,
            "answers": whole.answers,
        }

    # -- subscriptions --------------------------------------------------------------------------------------------

    def _unsubscribe(self, offsets: Sequence[int], keys: Sequence[bytes]) -> None:
        """End what there is of ids, which differ: live, waiting and held back."""
        found = np.array(self._store.slots.find_all(keys)).T
        there = found != NONE
        self._endings.end(found[there], "unsubscribed")
        for offset, key, was_there in zip(offsets, keys, there.any(axis=1).tolist(), strict=True):
            held = self._admission.held.forget(key, offset)
            for record in held:
                self._outbox.ack(key, ack.ended(json_text(key.decode()), record.version, "unsubscribed"))
            self.counters.ignored += not (was_there or held)

    # -- notifications --------------------------------------------------------------------------------------------

    def _lose(self, why: str) -> None:
        """Go on after a loss that was found while reading."""
        self._losses.append(why)
        self.counters.losses += 1
        self.notifications_lost()

    def _control(self, control: Control) -> None:
        if not self._enter(control.epoch, begins=isinstance(control, EpochBegins)):
            return
        self._announce(control.catalog)
        if isinstance(control, RegisterAll) and not self._head.registered:
            self._set(registered=True)
            self._store.register_all()
        elif isinstance(control, Progress):
            self._progress(control)

    def _enter(self, epoch: int, begins: bool = False) -> bool:
        """Begin a higher epoch; return whether records of `epoch` count.

        Where its first record is not the one that begins it, the beginning was trimmed: register at once, and do not
        count on the first batch to be whole.
        """
        if epoch < self._head.epoch:
            self.counters.dropped_old_epoch += 1
            return False
        if epoch > self._head.epoch:
            self._void(unsure=not begins)
            self._set(epoch=epoch, registered=not begins)
            if not begins:
                self._store.register_all()
        return True

    def _void(self, unsure: bool) -> None:
        """Stop following, and forget what is buffered and which batch is to come."""
        self._buffer.clear()
        self._looks.void()
        self._memory.next_era()
        self._set(applied=None, unsure=unsure, kept=None, horizons={})

    def _announce(self, version: int) -> None:
        """Compile with a newer catalog; what it dropped ends, what was held back is tried again."""
        if version <= self._head.catalog:
            return
        catalog = self._catalog(version)
        horizons = {shard: time for shard, time in self._head.horizons.items() if catalog.relation_of(shard)}
        self._set(catalog=version, horizons=horizons)
        self._admission.announce(catalog)
        gone: dict[str, list[int]] = {}
        for entry in self._store.shapes:
            if not entry.stands(catalog):
                gone.setdefault(entry.dropped(catalog), []).append(entry.number)
        for reason, numbers in sorted(gone.items()):
            self._endings.end(self._store.slots.of_shapes(numbers), reason)
        self._intake.admit(self._admission.held)

    def _chunk(self, offset: int, packed: Chunk) -> None:
        if not self._enter(packed.header.epoch):
            return
        applied = self._head.applied
        if applied is not None and packed.header.batch <= applied:
            self._again(offset, packed, applied)
            self.counters.repeats += 1
        elif not self._buffer.add(offset, packed):
            self.counters.repeats += 1

    def _again(self, offset: int, packed: Chunk, applied: int) -> None:
        """Keep rows of a batch that was applied: who takes over reads them once more."""
        if packed.header.batch <= applied:
            self._buffer.collect(offset, packed, applied)

    def _progress(self, progress: Progress) -> None:
        applied = self._head.applied
        if applied is None or progress.batch >= applied:
            self._expiry.start(progress.time)
        if applied is not None and progress.batch <= applied:
            self.counters.repeats += 1
            if progress.batch < applied:
                return
        else:
            self._apply(progress.batch)
        expired = self._expiry.due(progress.time)
        self._endings.end(expired, "expired")
        self.counters.expired += len(expired)
        position = Position(progress.epoch, progress.batch)
        self._outbox.flush()
        self._outbox.deliver(PROGRESS_KEY, progress_delivery(position, progress.time, self._complete_to()))

    def _complete_to(self) -> dict[str, str]:
        """Return by view of streams the event time up to which it is complete, as far as it was heard of here."""
        return {
            shard.rpartition("/")[0]: moment_text(horizon) for shard, horizon in sorted(self._head.horizons.items())
        }

    def _apply(self, batch: int) -> None:
        """Apply a batch that is committed; one that is not whole, or does not follow the last one, is a loss."""
        applied = self._head.applied
        position = Position(self._head.epoch, batch)
        try:
            if applied is not None and batch > applied + 1:
                raise MissingChunksError(f"batch {batch} is committed, expected batch {applied + 1} first")
            committed = self._buffer.take(batch, lenient=self._head.unsure)
            self._applier.check_known(committed)
            self._applier.check_whole(committed)
        except (MissingChunksError, MissingColumnError, MissingRowsError, PackedError) as error:
            self._lose(f"`{self._topics.notifications}` [{self.number}], epoch {position.epoch}: {error}")
            return
        over = self._applier.apply(committed, position)
        kept = self._buffer.window.offset
        self._set(applied=batch, position=(position.epoch, batch), unsure=False, kept=kept)
        for reason, slots in over.items():
            self._endings.end(np.array(slots, np.int64), reason)
        self.counters.over_quota += len(over[quota.REASON])
        self._complete(committed.horizons)
        self._contradictions.turn(self._head.horizons)
        if committed.lost and self._head.registered:
            self._register_again(batch)

    def _complete(self, horizons: Mapping[str, int]) -> None:
        """Remember how far views are complete; none goes back within an epoch."""
        news = {shard: horizon for shard, horizon in horizons.items() if self._head.horizons.get(shard) != horizon}
        if news:
            self._set(horizons=self._head.horizons | news)

    def _register_again(self, batch: int) -> None:
        """Register all, since a shard could not read what was registered; nothing of `notifications` is lost."""
        registrations = f"`{self._topics.registrations}` [{self.number}]"
        self._losses.append(f"a shard could not read a record of {registrations}: it says so with batch {batch}")
        self.counters.losses += 1
        self._looks.void()
        self._memory.next_era()
        self._store.register_all()

    # -- state ----------------------------------------------------------------------------------------------------

    @property
    def _head(self) -> Head:
        return self._memory.head

    def _set(self, **fields: object) -> None:
        self._memory.set(**fields)

    def _catalog(self, version: int) -> Catalog:
        return self._catalogs(version) if version >= 0 else Catalog()

    def _state_record(self, value: bytes) -> OutRecord:
        return OutRecord(self._topics.edge_state, self.number, str(self.number).encode(), value)
