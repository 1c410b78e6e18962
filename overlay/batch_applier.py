"""One committed batch applied to the subscriptions: snapshots first, then messages, each to whom it meets."""

from __future__ import annotations

import numpy as np

from operators.packed import PackedMessages
from overlay.batch_buffer import CommittedBatch
from overlay.delivery import Position, change_tail, row_start
from overlay.edge_counters import EdgeCounters
from overlay.hearers import Hearings, hearings
from overlay.latest_answers import LatestAnswers
from overlay.outbox import Outbox
from overlay.roster import Roster
from overlay.single_answers import SingleAnswers
from overlay.snapshots import Snapshots
from overlay.transitions import Transitions, transitions
from overlay.ways import EVERY, LATEST, SINGLE, Ways
from state.change_batch import I32, I64, Bool

STEP = 4_096


class BatchApplier:
    """Turns batches into deliveries and new answers."""

    def __init__(self, roster: Roster, outbox: Outbox, counters: EdgeCounters) -> None:
        self._roster = roster
        self._outbox = outbox
        self._counters = counters
        self._ways = Ways(roster)
        self._snapshots = Snapshots(roster, outbox, counters)
        self._singles = SingleAnswers(roster, outbox, counters)
        self._latest = LatestAnswers(roster, outbox, counters)

    def apply(self, batch: CommittedBatch, position: Position) -> list[int]:
        """Apply `batch`, which ends at `position`; return slots over their quota, which the caller must end.

        Cost: O(snapshots * log n + messages * log n + hits), about 1 us a delivery of a plain answer, 4 us of others.
        """
        for snapshot in batch.snapshots:
            self._ways.forget(self._snapshots.take(snapshot, position.before))
        for packed in batch.messages:
            self._messages(packed, position)
        self._singles.end()
        self._latest.end(position)
        return [*self._snapshots.given_up(), *self._singles.given_up()]

    def _messages(self, packed: PackedMessages, position: Position) -> None:
        self._counters.messages += len(packed.messages)
        heard = hearings(packed.messages, self._roster.shapes, self._roster.index)
        for start in range(0, len(heard), STEP):
            self._step(packed, heard, slice(start, start + STEP), position)

    def _step(self, packed: PackedMessages, heard: Hearings, part: slice, position: Position) -> None:
        """Apply a part of the hearings; what a step holds in memory grows with them times the subscriptions."""
        which, slots = self._roster.index.query(heard.group[part], *heard.bounds[:, part])
        if len(which):
            self._hits(packed, heard.message[part][which], slots.astype(np.int64), position)

    def _hits(self, packed: PackedMessages, hit: I64, slots: I64, position: Position) -> None:
        """Apply pairs (message, slot), each in the way of its slot."""
        ways = self._ways.of(slots)
        if (ways == EVERY).all():
            self._every(packed, hit, slots, position)
            return
        for way in np.unique(ways).tolist():
            mine = ways == way
            if way == EVERY:
                self._every(packed, hit[mine], slots[mine], position)
            elif way == LATEST:
                moved = self._move(packed, hit[mine], slots[mine], tells=False)
                self._latest.collect(slots[mine], moved, packed.partition[hit[mine]], packed.offset[hit[mine]])
            elif way == SINGLE:
                self._singles.hits(packed, hit[mine], slots[mine], position)

    def _every(self, packed: PackedMessages, hit: I64, slots: I64, position: Position) -> None:
        """Write what the pairs (message, slot) change, in their order."""
        moved = self._move(packed, hit, slots, tells=True)
        chosen = moved.moves.nonzero()[0]
        self._counters.deliveries += len(chosen)
        self._write(packed, hit[chosen], slots[chosen], moved, chosen, position)

    def _move(self, packed: PackedMessages, hit: I64, slots: I64, tells: bool) -> Transitions:
        """Write the new answers of plain slots; their counters too if every change is told."""
        table = self._roster.slots
        known = packed.messages.has_new[hit]
        new = np.where(known, packed.messages.new[hit], 0)
        moved = transitions(slots, new, known, table.value[slots], table.known[slots], table.n[slots])
        n = moved.last_n if tells else table.n[moved.slots]
        self._roster.move(moved.slots, moved.value, moved.known, n)
        self._counters.suppressed += len(hit) - int(np.count_nonzero(moved.moves))
        return moved

    def _write(
        self, packed: PackedMessages, hit: I64, slots: I64, moved: Transitions, chosen: I64, position: Position
    ) -> None:
        table = self._roster.slots
        shapes = table.shape[slots]
        told, first, told_of = np.unique(hit, return_index=True, return_inverse=True)
        tails = self._told(packed, told, shapes[first], position)
        olds = self._texts(shapes, moved.old[chosen], moved.old_known[chosen])
        columns = (slots.tolist(), told_of.tolist(), moved.n[chosen].tolist(), olds)
        self._outbox.changes(table.ids, table.heads_for(columns[0]), tails, zip(*columns, strict=True))

    def _told(self, packed: PackedMessages, told: I64, shapes: I32, position: Position) -> list[str]:
        """Return what all deliveries of a message share, for each message that somebody hears; `shapes`: a hearer's.

        Shapes that hear one message as plain answers have the same column and relation, hence the same texts.
        """
        messages = packed.messages
        starts = {
            number: row_start(position, self._roster.shapes[number].topic_text) for number in np.unique(shapes).tolist()
        }
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
