"""One committed batch applied to the subscriptions: snapshots first, then messages, each to whom it meets."""

from __future__ import annotations

import numpy as np

from operators.packed import PackedMessages, PackedSnapshot
from overlay import ack
from overlay.batch_buffer import CommittedBatch
from overlay.delivery import NULL, Position, change_tail, delivery, json_text, row_start
from overlay.edge_counters import EdgeCounters
from overlay.outbox import Outbox
from overlay.roster import Roster
from overlay.transitions import Transitions, transitions
from state.change_batch import I32, I64, Bool

STEP = 4_096

_NOBODY = -1


class BatchApplier:
    """Turns batches into deliveries and new answers."""

    def __init__(self, roster: Roster, outbox: Outbox, counters: EdgeCounters) -> None:
        self._roster = roster
        self._outbox = outbox
        self._counters = counters

    def apply(self, batch: CommittedBatch, position: Position) -> None:
        """Apply `batch`, which ends at `position`.

        Cost: O(snapshots * log n + messages * log n + hits), about 3 us a delivery.
        """
        for snapshot in batch.snapshots:
            self._snapshot(snapshot, position.before)
        for packed in batch.messages:
            self._messages(packed, position)

    def _snapshot(self, snapshot: PackedSnapshot, at: Position) -> None:
        awaiting = self._roster.slots.awaiting
        synced: list[int] = []
        rows = zip(snapshot.version.tolist(), snapshot.new.tolist(), snapshot.has_new.tolist(), strict=True)
        for version, value, known in rows:
            slot = awaiting.get(version)
            if slot is None:
                self._counters.stale_snapshots += 1
                continue
            self._answer(slot, value if known else 0, known, at)
            synced.append(slot)
        self._roster.enlist([slot for slot in synced if self._roster.slots.synced(slot)])

    def _answer(self, slot: int, value: int, known: bool, at: Position) -> None:
        """Start a waiting subscription, or resync one that was live before this era."""
        slots = self._roster.slots
        if slots.n[slot]:
            self._resync(slot, value, known, at)
            return
        key, version, sql = slots.key(slot), int(slots.version[slot]), slots.sqls[slot]
        replaced = slots.live.get(key)
        if replaced is not None:
            self._roster.retire(replaced)
        entry = self._roster.shape_of(slot)
        self._roster.sync(slot, value, known, 1)
        text = entry.texts.text(value, known)
        name = key.decode()
        self._outbox.deliver(key, delivery(json_text(name), "snapshot", version, 1, NULL, text, at.text, sql))
        self._outbox.ack(key, ack.live(name, version, at, sql, entry.key, slots.costs[slot]))
        self._counters.deliveries += 1

    def _resync(self, slot: int, value: int, known: bool, at: Position) -> None:
        slots = self._roster.slots
        held, held_known, n = int(slots.value[slot]), bool(slots.known[slot]), int(slots.n[slot])
        n += (held, held_known) != (value, known)
        texts = self._roster.shape_of(slot).texts
        self._roster.sync(slot, value, known, n)
        key, version = slots.key(slot), int(slots.version[slot])
        old, new = texts.text(held, held_known), texts.text(value, known)
        self._outbox.deliver(key, delivery(json_text(key.decode()), "resync", version, n, old, new, at.text))
        self._counters.deliveries += 1

    def _messages(self, packed: PackedMessages, position: Position) -> None:
        messages = packed.messages
        self._counters.messages += len(messages)
        groups = self._groups(packed)
        heard = (groups >= 0).nonzero()[0]
        if not len(heard):
            return
        for start in range(0, len(heard), STEP):
            self._step(packed, groups, heard[start : start + STEP], position)

    def _step(self, packed: PackedMessages, groups: I64, chosen: I64, position: Position) -> None:
        """Apply the chosen messages; what a step holds in memory grows with them times the subscriptions."""
        messages = packed.messages
        bounds = (messages.lo_min, messages.lo_max, messages.hi_min, messages.hi_max)
        hit, slots = self._roster.index.query(groups[chosen], *(bound[chosen] for bound in bounds))
        if len(hit):
            self._deliver(packed, chosen[hit], slots.astype(np.int64), position)

    def _groups(self, packed: PackedMessages) -> I64:
        """Return the index's group number of each message, -1 where nobody is subscribed."""
        messages = packed.messages
        width = max(len(messages.groups), 1)
        pairs, place = np.unique(messages.shape.astype(np.int64) * width + messages.group, return_inverse=True)
        numbers = np.full(len(pairs), -1, np.int64)
        shapes = [self._roster.shapes.get(shape) for shape in messages.shapes]
        for i, pair in enumerate(pairs.tolist()):
            entry = shapes[pair // width]
            if entry is not None:
                numbers[i] = self._roster.index.number(entry.number, messages.groups[pair % width])
        return numbers[place]

    def _deliver(self, packed: PackedMessages, hit: I64, slots: I64, position: Position) -> None:
        """Write what the pairs (message, slot) change, in their order."""
        table = self._roster.slots
        known = packed.messages.has_new[hit]
        new = np.where(known, packed.messages.new[hit], 0)
        moved = transitions(slots, new, known, table.value[slots], table.known[slots], table.n[slots])
        self._roster.move(moved.slots, moved.value, moved.known, moved.last_n)
        chosen = moved.moves.nonzero()[0]
        self._counters.suppressed += len(hit) - len(chosen)
        self._counters.deliveries += len(chosen)
        self._write(packed, hit[chosen], slots[chosen], moved, chosen, position)

    def _write(
        self, packed: PackedMessages, hit: I64, slots: I64, moved: Transitions, chosen: I64, position: Position
    ) -> None:
        table = self._roster.slots
        told, told_of = np.unique(hit, return_inverse=True)
        tails = self._told(packed, told, position)
        olds = self._texts(table.shape[slots], moved.old[chosen], moved.old_known[chosen])
        columns = (slots.tolist(), told_of.tolist(), moved.n[chosen].tolist(), olds)
        self._outbox.changes(table.ids, table.heads_for(columns[0]), tails, zip(*columns, strict=True))

    def _told(self, packed: PackedMessages, told: I64, position: Position) -> list[str]:
        """Return what all deliveries of a message share, for each message that somebody hears."""
        messages = packed.messages
        entries = [self._roster.shapes.get(shape) for shape in messages.shapes]
        numbers = np.array([_NOBODY if entry is None else entry.number for entry in entries], np.int32)
        starts = {entry.number: row_start(position, entry.topic_text) for entry in entries if entry is not None}
        shapes = numbers[messages.shape[told]]
        texts = self._texts(shapes, messages.new[told], messages.has_new[told])
        places = zip(shapes.tolist(), packed.partition[told].tolist(), packed.offset[told].tolist(), strict=True)
        return [
            change_tail(new, starts[shape], partition, offset)
            for new, (shape, partition, offset) in zip(texts, places, strict=True)
        ]

    def _texts(self, shapes: I32, codes: I64, known: Bool) -> list[str]:
        """Return the texts of answers, each of the shape with this number."""
        numbers = np.unique(shapes).tolist()
        if len(numbers) == 1:
            return self._roster.shapes[numbers[0]].texts.texts(codes, known)
        texts = np.empty(len(codes), object)
        for number in numbers:
            at = (shapes == number).nonzero()[0]
            texts[at] = self._roster.shapes[number].texts.texts(codes[at], known[at])
        return list(texts)
