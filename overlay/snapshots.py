"""Answers to registrations: a waiting subscription starts with its snapshot, one of an earlier era is resynced."""

from __future__ import annotations

import numpy as np

from operators.answer import Tally
from operators.packed import PackedSnapshot
from overlay import ack, quota
from overlay.composite import Whole, states_of
from overlay.current_answer import current_answer, is_single
from overlay.delivery import NULL, Position, delivery, json_text, moved
from overlay.edge_counters import EdgeCounters
from overlay.outbox import Outbox
from overlay.roster import Roster
from overlay.shape_table import ShapeEntry
from state.change_batch import I64


class Snapshots:
    """Takes the answers of shards.

    Slots whose answer is over its quota are neither started nor resynced: `given_up` returns them, to be ended.
    """

    def __init__(self, roster: Roster, outbox: Outbox, counters: EdgeCounters) -> None:
        self._exceeded: list[int] = []
        self._roster = roster
        self._outbox = outbox
        self._counters = counters

    def take(self, packed: PackedSnapshot, at: Position) -> I64:
        """Take the answers of one chunk, which hold at `at`; return the slots. Cost: about 10 us an answer."""
        slots = self._roster.slots
        taken: list[int] = []
        rows = zip(packed.version.tolist(), packed.new.tolist(), packed.has_new.tolist(), strict=True)
        for i, (version, value, known) in enumerate(rows):
            slot = slots.awaiting.get(version)
            if slot is None:
                self._counters.stale_snapshots += 1
                continue
            if is_single(self._roster, slot):
                self._single(slot, _whole(packed, i, value if known else None), at)
            elif self._roster.shape_of(slot).counts:
                self._plain(slot, _count(packed, i), True, at)
            else:
                self._plain(slot, value if known else 0, known, at)
            taken.append(slot)
        self._roster.enlist([slot for slot in taken if slots.synced(slot)])
        return np.array(taken, np.int64)

    def given_up(self) -> list[int]:
        """Return the slots over their quota, once."""
        exceeded, self._exceeded = self._exceeded, []
        return exceeded

    def _plain(self, slot: int, value: int, known: bool, at: Position) -> None:
        """Start or resync an answer that is an order code, or a count."""
        slots, entry = self._roster.slots, self._roster.shape_of(slot)
        new, n = entry.texts.text(value, known), int(slots.n[slot])
        if n:
            held, held_known = int(slots.value[slot]), bool(slots.known[slot])
            n += (held, held_known) != (value, known)
            self._resync(slot, n, moved(entry.texts.text(held, held_known), new), at)
        else:
            n = 1
            self._start(slot, entry, moved(NULL, new), at)
        self._roster.sync(slot, value, known, n)

    def _single(self, slot: int, whole: Whole, at: Position) -> None:
        """Start or resync an answer that is kept one by one."""
        if isinstance(whole, set) and quota.exceeds(len(whole), quota.size_of(whole)):
            self._exceeded.append(slot)
            return
        entry, n = self._roster.shape_of(slot), int(self._roster.slots.n[slot])
        if n:
            told = self._told(slot)
            n += _differ(entry, told, whole)
            self._resync(slot, n, entry.plan.body(told, whole), at)
        else:
            n = 1
            self._start(slot, entry, entry.plan.body(None, whole), at)
        self._roster.sync(slot, 0, False, n)
        self._roster.answers.start(slot, whole)

    def _told(self, slot: int) -> Whole:
        """Return what the subscriber of a live slot was told last: under MIN CHANGE not always its answer."""
        if self._roster.slots.notify(slot).kind == "min_change":
            return (self._roster.answers.of(slot).told,)
        return current_answer(self._roster, slot)

    def _start(self, slot: int, entry: ShapeEntry, body: str, at: Position) -> None:
        """Say that a waiting subscription is live, in place of the one that it replaces."""
        slots = self._roster.slots
        key, version, sql = slots.key(slot), int(slots.version[slot]), slots.sql(slot)
        replaced = slots.live.get(key)
        if replaced is not None:
            self._roster.retire(replaced)
        name = key.decode()
        self._outbox.deliver(key, delivery(json_text(name), "snapshot", version, 1, body, at.text, sql))
        self._outbox.ack(key, ack.live(name, version, at, sql, entry.key, slots.cost(slot)))
        self._counters.deliveries += 1

    def _resync(self, slot: int, n: int, body: str, at: Position) -> None:
        slots = self._roster.slots
        key, version = slots.key(slot), int(slots.version[slot])
        self._outbox.deliver(key, delivery(json_text(key.decode()), "resync", version, n, body, at.text))
        self._counters.deliveries += 1


def _differ(entry: ShapeEntry, old: Whole, new: Whole) -> bool:
    if isinstance(old, tuple) and isinstance(new, tuple):
        return entry.plan.differ(old, new)
    return old != new


def _count(packed: PackedSnapshot, i: int) -> int:
    (tally,) = packed.parts[i]
    assert isinstance(tally, Tally), "a COUNT is answered by a tally"
    return tally.count


def _whole(packed: PackedSnapshot, i: int, value: int | None) -> Whole:
    """Return the answer in row i: its parts, or where there are none the order code."""
    parts = packed.parts.get(i)
    return (value,) if parts is None else states_of(parts)
