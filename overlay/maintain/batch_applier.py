"""One committed batch applied to the subscriptions: snapshots first, then messages of each kind, then what is final."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from operators.packed import PackedMessages, PackedSnapshot
from operators.wire.best_pieces import whole
from overlay.answers import quota
from overlay.delivery.causing_rows import CausingRows, Starts
from overlay.delivery.delivery import Position, change_tail
from overlay.delivery.outbox import Outbox
from overlay.delivery.packed_deliveries import Changes, Shared
from overlay.maintain.bag_path import BagPath
from overlay.maintain.bag_snapshots import BagSnapshots
from overlay.maintain.bag_teller import BagTeller
from overlay.maintain.batch_buffer import CommittedBatch
from overlay.maintain.best_path import BestPath
from overlay.maintain.conflated_path import LatestAnswers
from overlay.maintain.contradictions import Contradictions
from overlay.maintain.finals import REASON, Finals
from overlay.maintain.image_path import ImagePath
from overlay.maintain.join_fast_path import JoinFastPath
from overlay.maintain.join_path import JoinPath
from overlay.maintain.list_changes import ListChanges
from overlay.maintain.mode import Mode, Modes
from overlay.maintain.multi_row_causes import Cause, Sweep, causes, runs
from overlay.maintain.object_path import SingleAnswers
from overlay.maintain.probes import Probes, probes
from overlay.maintain.projections import Projector
from overlay.maintain.shared_best import joined_runs
from overlay.maintain.snapshots import Snapshots
from overlay.maintain.transitions import Transitions, counted, transitions
from overlay.maintain.whole_snapshots import whole_snapshots
from overlay.subscriptions.bag_looks import BagLooks
from overlay.subscriptions.edge_counters import EdgeCounters
from overlay.subscriptions.subscription_store import SubscriptionStore
from state.change_batch import I32, I64, Bool
from state.distinct_numbers import distinct_numbers

STEP = 4_096
"""Probes applied at a time: what they hold in memory grows with them times the subscriptions."""


class BatchApplier:
    """Turns batches into deliveries and new answers."""

    def __init__(
        self, store: SubscriptionStore, outbox: Outbox, counters: EdgeCounters, looks: BagLooks,
        contradictions: Contradictions, digest_key: bytes,
    ) -> None:  # fmt: skip
        self._store = store
        self._outbox = outbox
        self._counters = counters
        self._modes = Modes(store)
        projector = Projector(store.shapes, digest_key)
        self._looks = looks
        self._contradictions = contradictions
        self._bag_snapshots = BagSnapshots(store, projector)
        self._snapshots = Snapshots(store, outbox, counters, self._modes, self._bag_snapshots)
        self._singles = SingleAnswers(store, outbox, counters)
        self._latest = LatestAnswers(store, outbox, counters)
        self._swept: list[Cause | None] = []
        self._sweep = Sweep(store, outbox, counters, self._modes, self._latest)
        teller = BagTeller(store, outbox, counters)
        self._bags = BagPath(store, outbox, counters, self._modes, projector, teller)
        self._images = ImagePath(store, counters, self._modes, self._bags, self._singles, self._counted)
        fast = JoinFastPath(store, counters, self._modes, self._bags, teller, projector)
        self._joins = JoinPath(store.filters, self._images, fast)
        self._lists = ListChanges(store, outbox, counters, self._modes)
        self._best = BestPath(store, counters, self._lists)
        self._finals = Finals(store, outbox, counters)

    def apply(self, batch: CommittedBatch, position: Position) -> dict[str, list[int]]:
        """Apply `batch`, which ends at `position`; return by reason the slots that the caller must end.

        Cost: O(snapshots * log n + messages * log n + hits), about 2 us a hit on a plain answer, 13 to 17 us on others.
        """
        snapshots = whole_snapshots(batch.snapshots)
        for snapshot in snapshots:
            self._snapshots.take(snapshot, position.before)
            self._contradictions.take(snapshot)
        if len(self._looks):
            self._answer_looks(snapshots, position.before)
        for packed in batch.messages:
            self._messages(packed, position)
        for images in batch.images:
            self._images.apply(images, position)
        for sent in batch.timelines:
            self._joins.apply(sent, position)
        for best in joined_runs(whole(batch.best)):
            self._best.apply(best, position)
        self._sweep.enter(None, position)
        self._singles.end()
        self._latest.end(position)
        self._bags.end()
        self._lists.end()
        given_up = self._snapshots.given_up()
        over = {quota.REASON: [*given_up.pop(quota.REASON, ()), *self._singles.given_up()], **given_up}
        over[REASON] = self._finals.tell(batch.horizons, position, set(chain.from_iterable(over.values())))
        return over

    def check_whole(self, batch: CommittedBatch) -> None:
        """Raise MissingColumnError if `batch` does not tell what filters and lists need that are followed."""
        for images in batch.images:
            self._store.filters.check_told(images)
        for sent in batch.timelines:
            self._joins.check_told(sent)
        for best in batch.best:
            self._best.check_told(best)

    def check_known(self, batch: CommittedBatch) -> None:
        """Raise MissingRowsError if `batch` names rows that are not here, and somebody hears of them.

        Nobody does between a loss and the answer to what was registered after it: until then rows may be named that
        were lost.
        """
        begin = {snapshot.header.shard for snapshot in batch.snapshots}
        for cell, error in batch.unknown.items():
            if cell in begin or self._joins.follows(cell):
                raise error

    def _answer_looks(self, snapshots: Sequence[PackedSnapshot], at: Position) -> None:
        """End the looks that are answered: their rows hold before any change of the batch."""
        for snapshot in snapshots:
            for row in (snapshot.version < 0).nonzero()[0].tolist():
                number = int(snapshot.version[row])
                slot, reply = self._looks.slot(number), snapshot.replies.get(row)
                outcome = None
                if slot is not None and reply is not None:
                    outcome = self._bag_snapshots.looked(slot, reply, at)
                self._looks.settle(number, outcome)

    def _messages(self, packed: PackedMessages, position: Position) -> None:
        self._counters.messages += len(packed.messages)
        self._swept = causes(packed) if packed.several is not None else []
        wanted = np.zeros(len(packed.messages), np.bool_)
        for heard in probes(packed.messages, self._store.shapes, self._store.index, STEP):
            wanted[self._step(packed, heard, position)] = True
        self._counters.unwanted += len(wanted) - int(np.count_nonzero(wanted))

    def _step(self, packed: PackedMessages, heard: Probes, position: Position) -> I64:
        """Apply some probes, and return which messages somebody wanted."""
        which, slots = self._store.index.query(heard.group, *heard.bounds)
        hit = heard.message[which]
        if len(which):
            self._causes(packed, hit, slots.astype(np.int64), position)
        return hit

    def _counted(self, packed: PackedMessages, hit: I64, slots: I64, position: Position) -> None:
        """Apply hits on counts of filters, whose messages were made here (`maintain/image_path.py`)."""
        self._swept = causes(packed) if packed.several is not None else []
        self._causes(packed, hit, slots, position)

    def _causes(self, packed: PackedMessages, hit: I64, slots: I64, position: Position) -> None:
        """Apply hits; those of a record that changes many rows are one change."""
        if packed.several is None:
            self._sweep.enter(None, position)
            self._hits(packed, hit, slots, position)
            return
        found = [self._swept[message] for message in hit.tolist()]
        for start, stop in runs(found):
            self._sweep.enter(found[start], position)
            apply = self._hits if found[start] is None else self._swept_hits
            apply(packed, hit[start:stop], slots[start:stop], position)

    def _swept_hits(self, packed: PackedMessages, hit: I64, slots: I64, position: Position) -> None:
        modes = self._modes.of(slots)
        for mode in map(Mode, np.unique(modes).tolist()):
            mine = modes == mode
            if mode == Mode.SINGLE:
                self._singles.hits(packed, hit[mine], slots[mine], position)
                continue
            new, known = self._new(packed, hit[mine], slots[mine], Mode.COUNT in mode)
            moved = self._move(slots[mine], new, known, tells=False)
            self._sweep.collect(slots[mine], moved, *self._places(packed, hit[mine], slots[mine], position))

    def _hits(self, packed: PackedMessages, hit: I64, slots: I64, position: Position) -> None:
        """Apply pairs (message, slot), each in the mode of its slot."""
        modes = self._modes.of(slots)
        if (modes == Mode.PLAIN).all():
            self._every(packed, hit, slots, position)
            return
        for mode in map(Mode, np.unique(modes).tolist()):
            mine = modes == mode
            self._by_mode(mode, packed, hit[mine], slots[mine], position)

    def _by_mode(self, mode: Mode, packed: PackedMessages, hit: I64, slots: I64, position: Position) -> None:
        if mode == Mode.SINGLE:
            self._singles.hits(packed, hit, slots, position)
        elif Mode.LATEST in mode:
            new, known = self._new(packed, hit, slots, Mode.COUNT in mode)
            moved = self._move(slots, new, known, tells=False)
            self._latest.collect(slots, moved, *self._places(packed, hit, slots, position))
        elif Mode.PACKED in mode:
            self._every_packed(packed, hit, slots, position, counts=Mode.COUNT in mode)
        elif Mode.COUNT in mode:
            self._every_count(packed, hit, slots, position, pushed=Mode.PUSHED in mode)
        else:
            self._every(packed, hit, slots, position, pushed=Mode.PUSHED in mode)

    def _every(self, packed: PackedMessages, hit: I64, slots: I64, position: Position, pushed: bool = False) -> None:
        """Write what the pairs (message, slot) change, in their order."""
        moved = self._move(slots, *self._new(packed, hit, slots, counts=False), tells=True)
        chosen = moved.moves.nonzero()[0]
        slots, shapes = slots[chosen], self._store.slots.shape[slots[chosen]]
        told, first, told_of = _firsts(hit[chosen])
        texts = self._store.shapes.texts(shapes[first], packed.messages.new[told], packed.messages.has_new[told])
        ends = [
            change_tail(new, at)
            for new, at in zip(texts, self._rows(packed, told, shapes[first], position), strict=True)
        ]
        olds = self._store.shapes.texts(shapes, moved.old[chosen], moved.old_known[chosen])
        self._write(slots, told_of, moved.n[chosen], olds, ends, pushed)

    def _every_count(self, packed: PackedMessages, hit: I64, slots: I64, position: Position, pushed: bool) -> None:
        """As `_every`, for counts: each subscription has a new one of its own."""
        new, known = self._new(packed, hit, slots, counts=True)
        moved = self._move(slots, new, known, tells=True)
        chosen = moved.moves.nonzero()[0]
        slots, shapes = slots[chosen], self._store.slots.shape[slots[chosen]]
        told, first, told_of = _firsts(hit[chosen])
        ends = [f',"at":{at}}}' for at in self._rows(packed, told, shapes[first], position)]
        olds, news = map(str, moved.old[chosen].tolist()), map(str, new[chosen].tolist())
        both = [f'{old},"new":{new}' for old, new in zip(olds, news, strict=True)]
        self._write(slots, told_of, moved.n[chosen], both, ends, pushed)

    def _every_packed(self, packed: PackedMessages, hit: I64, slots: I64, position: Position, counts: bool) -> None:
        """As `_every` and `_every_count`, for those whose deliveries are packed: in columns all the way."""
        new, known = self._new(packed, hit, slots, counts)
        moved = self._move(slots, new, known, tells=True)
        chosen = moved.moves.nonzero()[0]
        table, slots = self._store.slots, slots[chosen]
        shapes = table.shape[slots]
        told, first, told_of = _firsts(hit[chosen])
        texts = self._store.shapes.shared_texts
        self._outbox.pack_changes(
            Changes(
                *table.flat_ids(slots),
                table.version[slots],
                moved.n[chosen],
                Shared(*texts(shapes, moved.old[chosen], moved.old_known[chosen])),
                Shared(*texts(shapes, new[chosen], known[chosen])),
                Shared(told_of, self._rows(packed, told, shapes[first], position)),
            )
        )

    def _places(self, packed: PackedMessages, hit: I64, slots: I64, position: Position) -> tuple[Starts, I64, I64]:
        """Return of the causing row of each hit what its `at` begins with, and partition and offset."""
        causing = self._causing(packed, self._store.slots.shape[slots[:1]], position)
        return causing.starts(hit), packed.partition[hit], packed.offset[hit]

    def _new(self, packed: PackedMessages, hit: I64, slots: I64, counts: bool) -> tuple[I64, Bool]:
        """Return the answer after each hit."""
        if counts:
            held = self._store.slots.value[slots]
            return counted(slots, packed.messages.rows[hit], held), np.ones(len(hit), np.bool_)
        known = packed.messages.has_new[hit]
        return np.where(known, packed.messages.new[hit], 0), known

    def _move(self, slots: I64, new: I64, known: Bool, tells: bool) -> Transitions:
        """Write new answers of slots into the columns; their counters too if every change is told."""
        table = self._store.slots
        moved = transitions(slots, new, known, table.value[slots], table.known[slots], table.n[slots])
        n = moved.last_n if tells else table.n[moved.slots]
        self._store.move(moved.slots, moved.value, moved.known, n)
        changes = int(np.count_nonzero(moved.moves))
        self._counters.suppressed += len(slots) - changes
        self._counters.deliveries += changes if tells else 0
        return moved

    def _write(self, slots: I64, told_of: I64, n: I64, olds: list[str], ends: list[str], pushed: bool) -> None:
        distinct, who = distinct_numbers(slots)
        rows = zip(who.tolist(), told_of.tolist(), n.tolist(), olds, strict=True)
        self._outbox.changes(*self._store.slots.change_heads(distinct), ends, rows, pushed)

    def _rows(self, packed: PackedMessages, told: I64, shapes: I32, position: Position) -> list[str]:
        """Return the causing rows of messages as JSON; `shapes` are those of somebody who hears each."""
        return self._causing(packed, shapes, position).of(told) if len(told) else []

    def _causing(self, packed: PackedMessages, shapes: I32, position: Position) -> CausingRows:
        """Return the causing rows of a record, of which at least one of `shapes` hears."""
        return CausingRows(packed, position, self._store.shapes[int(shapes[0])].topic_text)


def _firsts(hit: I64) -> tuple[I64, I64, I64]:
    """Return the different messages, where each stands first, and the place of each hit's among them."""
    told, told_of = distinct_numbers(hit)
    first = np.empty(len(told), np.int64)
    first[told_of[::-1]] = np.arange(len(hit))[::-1]
    return told, first, told_of
