"""A record that changes many rows at once, such as a truncate, told as the one change that it is.

Such a record becomes a change of each row (`PackedMessages.several`), and each of these has messages. What an answer is
between them no subscriber may hear: hits are collected until the record's last one, in columns as for LATEST
(`maintain/conflated_path.py`), and then an answer that differs is told once. Answers that are kept one by one need none
of this: they take all messages of one record together (`overlay/maintain/object_path.py`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from operators.packed import PackedMessages
from overlay.delivery.causing_rows import Starts
from overlay.delivery.delivery import Position
from overlay.delivery.outbox import Outbox
from overlay.maintain.conflated_path import LatestAnswers, Moved
from overlay.maintain.mode import Mode, Modes
from overlay.maintain.transitions import Transitions
from overlay.subscriptions.edge_counters import EdgeCounters
from overlay.subscriptions.subscription_store import SubscriptionStore
from state.change_batch import I64, Bool

Cause = tuple[str, int]
"""A shard, and the number of a record that it took in the batch."""


class Sweep:
    """The hits of at most one cause on plain answers."""

    def __init__(
        self, store: SubscriptionStore, outbox: Outbox, counters: EdgeCounters, modes: Modes, latest: LatestAnswers
    ) -> None:
        self._collected = LatestAnswers(store, outbox, counters)
        self._slots = store.slots
        self._modes = modes
        self._latest = latest
        self._cause: Cause | None = None

    def enter(self, cause: Cause | None, position: Position) -> None:
        """Go on with `cause`: what another one did is told before. None: no sweep."""
        if cause != self._cause:
            self._close(position)
            self._cause = cause

    def collect(self, slots: I64, done: Transitions, start: Starts, partition: I64, offset: I64) -> None:
        """Take what hits did: of each, its slot and its row."""
        self._collected.collect(slots, done, start, partition, offset)

    def _close(self, position: Position) -> None:
        step = self._collected.take()
        if step is None:
            return
        slots = self._slots
        differs = (slots.value[step.slots] != step.old) | (slots.known[step.slots] != step.old_known)
        at_once = self._modes.of(step.slots) & Mode.LATEST == 0
        self._collected.tell(_once(step, differs & at_once), position)
        self._latest.add(_once(step, differs & ~at_once))


def causes(packed: PackedMessages) -> list[Cause | None]:
    """Return the cause of each message that one of several rows has. Cost: 0.2 us a message."""
    if packed.several is None:
        return [None] * len(packed.messages)
    pairs = zip(packed.messages.cause.tolist(), packed.several.tolist(), strict=True)
    return [(packed.header.shard, cause) if several else None for cause, several in pairs]


def runs(found: list[Cause | None]) -> list[tuple[int, int]]:
    """Return where runs of one cause begin and stop."""
    starts = [i for i in range(len(found)) if i == 0 or found[i] != found[i - 1]]
    return list(zip(starts, [*starts[1:], len(found)], strict=False))


def _once(step: Moved, chosen: Bool) -> Moved:
    """Return the chosen slots, each as one change."""
    return replace(
        step,
        slots=step.slots[chosen],
        old=step.old[chosen],
        old_known=step.old_known[chosen],
        moves=np.ones(int(chosen.sum()), np.int64),
        start=step.start[chosen],
        partition=step.partition[chosen],
        offset=step.offset[chosen],
    )
