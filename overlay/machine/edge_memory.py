"""The durable part of a virtual edge: its head, its subscriptions and what it holds back; written as deltas, read back.

What is durable is what `EdgeMemory.whole` returns. The sum of all deltas ever given is the same state, which tests
compare after every step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import msgspec
import numpy as np

from overlay.delivery.delivery import Position
from overlay.intake.admission import Admission
from overlay.subscriptions.edge_state import Delta, EdgeStateError, Head, HeldState, read_back
from overlay.subscriptions.held_records import Held
from overlay.subscriptions.subscription_store import SubscriptionStore


class EdgeMemory:
    """Notes what changed of a store, a queue of held-back records and a head (a value, replaced by `set`)."""

    def __init__(self, store: SubscriptionStore, admission: Admission) -> None:
        self.head = self._kept_head = Head()
        self.snapshot = -1
        self._store = store
        self._admission = admission

    def set(self, **fields: object) -> None:
        """Replace fields of the head."""
        self.head = msgspec.structs.replace(self.head, **fields)

    @property
    def position(self) -> Position | None:
        """The last batch that was applied, None before the first."""
        return Position(*self.head.position) if self.head.position is not None else None

    def followed(self, era: int) -> Position:
        """Return the position up to which the live slots of an era have followed their shards."""
        if era != self._store.slots.era:
            return Position(*self.head.ended_eras[era])
        assert self.position is not None, "a subscription is live, but no batch was ever applied"
        return self.position

    def next_era(self) -> None:
        """Stop following: every answer must be synced again. Remember up to where the ending era has come."""
        slots = self._store.slots
        used = slots.used()
        kept = set(np.unique(slots.eras[used[slots.n[used] > 0]]).tolist())
        ended = {era: at for era, at in self.head.ended_eras.items() if era in kept}
        if self.head.position is not None and self.head.era in kept:
            ended[self.head.era] = self.head.position
        self._store.next_era()
        self.set(era=slots.era, ended_eras=ended)

    def changes(self) -> Delta:
        """Return what changed since the last call. Cost: O(changes)."""
        delta = self._store.changes()
        if self.head is not self._kept_head:
            delta.head = self._kept_head = self.head
        delta.unheld, came = self._admission.held.changes()
        delta.held = _stored(came)
        return delta

    def whole(self) -> Delta:
        """Return all there is. Cost: O(subscriptions)."""
        whole = self._store.whole()
        whole.head = self.head
        whole.held = _stored(self._admission.held)
        return whole

    def restore(self, values: Iterable[bytes | None]) -> None:
        """Become what `values` describe; store and queue must be new.

        Raises EdgeStateError. Cost: O(records + subscriptions), about 2 us a subscription.
        """
        deltas, self.snapshot = read_back(values)
        for number, delta in deltas:
            with _fitting(number):
                self._take(delta)
        self._kept_head = self.head
        self._admission.held.changes()  # all of it is stored
        with _fitting(None):
            self._store.rebuild(self.head.era)

    def _take(self, delta: Delta) -> None:
        self._store.apply(delta)
        self.head = delta.head or self.head
        waiting = self._admission.held
        for version in delta.unheld:
            waiting.drop(version)
        for held in delta.held:
            waiting.put(Held(held.version, held.key, held.value))


@contextmanager
def _fitting(record: int | None) -> Iterator[None]:
    """Say of whatever goes wrong that a stored record, or all of them together, do not make a state."""
    try:
        yield
    except Exception as error:  # damaged bytes that can be decoded lead to errors of any kind; none is passed over
        raise EdgeStateError(f"it does not fit what stands before it: {error!r}", record) from error


def _stored(held: Iterable[Held]) -> list[HeldState]:
    return [HeldState(record.version, record.key, record.value) for record in held]
