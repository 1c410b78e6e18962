"""Hits on answers that are kept one by one: composite ones, and those that are told by MIN CHANGE.

A change of a row may send an answer several messages: a COUNT(*) and a SUM in one SELECT, a DISTINCT value that goes
and one that comes. All messages of one cause (row) that meet a subscription are one change of its answer, told by one
delivery, however they are cut into steps and chunks: the hits of a step's last cause wait for the next step.

    hits (slot, part_change) in causal order      sorted by slot (stably)            told
    7 row 1   9 row 1   7 row 1   7 row 2    ->   7 [row 1, row 1] [row 2]   9 [row 1]

Cost: 0.5 us a hit, and what the maintainers say (`overlay/maintain/maintainers.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from catalog.query.recent import Recent
from catalog.sql.notify import Notify
from operators.packed import PackedMessages
from overlay.answers.conflation import Threshold
from overlay.answers.shape_table import ShapeEntry
from overlay.delivery.causing_rows import CausingRows
from overlay.delivery.delivery import Position
from overlay.delivery.outbox import Outbox
from overlay.maintain.maintainers import Maintainer, maintainer_of
from overlay.maintain.notifier import Notifier
from overlay.maintain.part_change import PartChange, part_change
from overlay.subscriptions.edge_counters import EdgeCounters
from overlay.subscriptions.subscription_store import TOLD_APART, SubscriptionStore
from state.change_batch import I64

_THRESHOLDS = 1_024
"""So many thresholds are remembered: users choose their amounts, and made anew one takes 0.5 us."""


class SingleAnswers:
    """Applies hits to answers that are kept one by one, and writes what must be told.

    A slot over its quota keeps the answer that was told last, and no more hits reach it: `given_up` returns it, to be
    ended.
    """

    def __init__(self, store: SubscriptionStore, outbox: Outbox, counters: EdgeCounters) -> None:
        self._store = store
        self._outbox = outbox
        self._counters = counters
        self._waiting_slots: I64 = np.zeros(0, np.int64)
        self._waiting: list[PartChange] = []
        self._maintainers: dict[int, Maintainer] = {}
        self._exceeded: set[int] = set()
        self._thresholds: Recent[tuple[str, int, Notify], Threshold] = Recent(_THRESHOLDS)

    def hits(self, packed: PackedMessages, hit: I64, slots: I64, position: Position) -> None:
        """Take hits (index of a message, slot) in causal order, and apply all but those of the last cause."""
        made = self._instructions(packed, np.unique(hit).tolist(), position)
        self.take(slots, [made[message] for message in hit.tolist()])

    def take(self, slots: I64, instructions: Sequence[PartChange]) -> None:
        """Take what messages do to slots, at least one, in causal order, and apply all but those of the last cause."""
        last, end = instructions[-1].at, len(instructions)
        while end and instructions[end - 1].at == last:
            end -= 1
        if end or (self._waiting and self._waiting[-1].at != last):
            self._apply(np.concatenate([self._waiting_slots, slots[:end]]), [*self._waiting, *instructions[:end]])
            self._waiting_slots, self._waiting = slots[end:], list(instructions[end:])
        else:
            self._waiting_slots = np.concatenate([self._waiting_slots, slots])
            self._waiting += instructions

    def end(self) -> None:
        """End the batch: apply what waits, tell what LATEST has collected, write the counters."""
        self._apply(self._waiting_slots, self._waiting)
        numbers = {}
        for slot, maintainer in self._maintainers.items():
            maintainer.end()
            notifier = maintainer.notifier
            self._counters.deliveries += notifier.told
            self._counters.conflated += notifier.conflated
            self._counters.suppressed += notifier.suppressed
            if notifier.told:
                numbers[slot] = notifier.n
        if numbers:
            zeros = np.zeros(len(numbers), np.int64)
            slots, n = np.array(list(numbers), np.int64), np.array(list(numbers.values()), np.int64)
            self._store.move(slots, zeros, zeros.astype(np.bool_), n)
        self._waiting_slots, self._waiting, self._maintainers = np.zeros(0, np.int64), [], {}

    def given_up(self) -> list[int]:
        """Return the slots over their quota, once."""
        exceeded, self._exceeded = sorted(self._exceeded), set()
        return exceeded

    def _instructions(self, packed: PackedMessages, chosen: list[int], position: Position) -> dict[int, PartChange]:
        """Return what each of the chosen messages does."""
        messages = packed.messages
        entries = [self._store.shapes.shapes_of(channel)[:1] for channel in messages.channels]
        topics = (entry.topic_text for found in entries for entry in found)
        ats = CausingRows(packed, position, next(topics, "")).of(np.array(chosen, np.int64))
        made = {}
        for i, at in zip(chosen, ats, strict=True):
            number = int(messages.channel[i])
            (entry,) = entries[number]
            made[i] = part_change(messages, i, at, entry.plan.type_of(messages.channels[number]))
        return made

    def _apply(self, slots: I64, instructions: Sequence[PartChange]) -> None:
        """Apply whole causes, subscription by subscription."""
        if not instructions:
            return
        order = np.argsort(slots, kind="stable")
        run = slots[order]
        starts = np.flatnonzero(np.append(True, run[1:] != run[:-1]))
        mine = [instructions[i] for i in order.tolist()]
        answers = self._store.answers
        ends = [*starts[1:].tolist(), len(mine)]
        distinct, followers = run[starts].tolist(), self._maintainers
        self._follow([slot for slot in distinct if slot not in followers])
        for slot, start, end in zip(distinct, starts.tolist(), ends, strict=True):
            if slot not in self._exceeded and not followers[slot].take(mine, start, end, answers):
                self._exceeded.add(slot)

    def _follow(self, slots: list[int]) -> None:
        """Make what follows slots in this batch. Cost: 3 us each."""
        if not slots:
            return
        table, numbers = self._store.slots, np.array(slots, np.int64)
        columns = (table.n[numbers].tolist(), table.shape[numbers].tolist(), table.terms.number[numbers].tolist())
        for slot, key, head, n, shape, number in zip(slots, *table.change_heads(numbers), *columns, strict=True):
            entry, terms = self._store.shapes[shape], table.terms.value(number)
            notify = terms.notify
            notifier = Notifier(self._outbox.deliverer(terms.deliver), key, head, n)
            threshold = self._threshold(entry, notify) if notify.kind in TOLD_APART else None
            stored, latest = self._store.answers.of(slot), notify.kind == "latest"
            self._maintainers[slot] = maintainer_of(slot, stored, entry.plan, notifier, latest, threshold)

    def _threshold(self, entry: ShapeEntry, notify: Notify) -> Threshold:
        key = (entry.key, entry.born, notify)
        threshold = self._thresholds.get(key)
        if threshold is None:
            threshold = Threshold(notify, entry.shape.outputs[0], entry.types[0])
            self._thresholds.put(key, threshold)
        return threshold
