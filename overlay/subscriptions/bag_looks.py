"""Looks: the rows of a bag, asked of the shard at once for somebody who wants to see them, and kept nowhere.

    ask ──► registration under a negative version, the look's number ──► answer in the next batch ──► `answered`

An edge has no rows of a bag (`overlay/table/slot_filters.py`), but the shard does. It answers a registration under a
negative version like any other and listens to nothing for it. The rows hold at the end of the batch before the answer,
which is behind the delivery that the subscription's counter says: snapshots of a batch are taken, its changes not yet.

A look is memory only: with an epoch, a loss or the process it is over, and whoever asked may ask again. It is also over
where its slot is not followed any more when the answer comes.

Invariants (`check`): 1 there is one look a slot at most; 2 there are at most `MOST`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

import numpy as np

from overlay.delivery.delivery import Position
from overlay.subscriptions.subscription_store import SubscriptionStore

MOST = 16


class Denied(Enum):
    """Why a look cannot be taken: nobody is subscribed under the id, its answer is no bag, or it may be tried later."""

    UNKNOWN = auto()
    NO_BAG = auto()
    NOT_NOW = auto()


@dataclass(frozen=True, slots=True)
class LookedRows:
    """The rows of a bag behind delivery `n` of `version`, as JSON texts, sorted; they hold at `at`.

    keys: where the primary key stands in a row, if the subscriber is told of rows by it, else ().
    """

    version: int
    n: int
    at: Position
    sql: str
    rows: list[str]
    keys: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LookRefused:
    """The shard does not tell the rows: `quota`, where they are too many, or another code."""

    code: str
    message: str


Outcome = LookedRows | LookRefused | None
"""None: it is over without an answer."""


class BagLooks:
    """The looks of one virtual edge, by number; each is negative, and its caller's choice."""

    def __init__(self, store: SubscriptionStore) -> None:
        self._store = store
        self._slots: dict[int, tuple[int, int]] = {}
        self._new: list[int] = []
        self._answered: list[tuple[int, Outcome]] = []

    def __len__(self) -> int:
        return len(self._slots)

    def ask(self, number: int, key: bytes) -> Denied | None:
        """Take a look at the rows of an id, if that may be."""
        slots = self._store.slots
        live, waiting = slots.find(key)
        slot = waiting if live is None else live
        if slot is None:
            return Denied.UNKNOWN
        if not self._store.shape_of(slot).bag:
            return Denied.NO_BAG
        looked_at = {one for one, _ in self._slots.values()}
        if live is None or not slots.synced(live) or live in looked_at or len(self._slots) >= MOST:
            return Denied.NOT_NOW
        self._slots[number] = live, int(slots.version[live])
        self._new.append(number)
        return None

    def registrations(self) -> dict[int, int]:
        """Return the slots of looks that are to be written now, with the number of each."""
        new, self._new = self._new, []
        return {self._slots[number][0]: number for number in new if number in self._slots and self._slot(number) >= 0}

    def slot(self, number: int) -> int | None:
        """Return the slot of a look that waits, None if it is over or its slot is not followed any more."""
        slot = self._slot(number) if number in self._slots else -1
        return slot if slot >= 0 else None

    def settle(self, number: int, outcome: Outcome) -> None:
        """End a look."""
        if self._slots.pop(number, None) is not None:
            self._answered.append((number, outcome))

    def void(self) -> None:
        """End all of them without an answer."""
        for number in list(self._slots):
            self.settle(number, None)

    def forget(self, number: int) -> None:
        """End a look that nobody waits for any more."""
        self._slots.pop(number, None)

    def answered(self) -> list[tuple[int, Outcome]]:
        """Return the looks that have ended since the last call."""
        answered, self._answered = self._answered, []
        return answered

    def _slot(self, number: int) -> int:
        """Return the slot of a look, -1 where another subscription has it by now, or it is not followed."""
        slot, version = self._slots[number]
        slots = self._store.slots
        there = bool(slots.is_used(np.array([slot]))[0]) and int(slots.version[slot]) == version
        return slot if there and slots.synced(slot) else -1

    def check(self) -> None:
        """Check the invariants of the module's header. Raises AssertionError."""
        slots = [slot for slot, _ in self._slots.values()]
        assert len(set(slots)) == len(slots) <= MOST, slots
