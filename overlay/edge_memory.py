"""The durable part of a virtual edge: its head, its subscriptions and what it holds back; written as deltas, read back.

What is durable is what `EdgeMemory.whole` returns. The sum of all deltas ever given is the same state, which tests
compare after every step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import msgspec

from overlay.admission import Admission, Held
from overlay.edge_state import Delta, EdgeStateError, Head, HeldState, read_back
from overlay.roster import Roster


class EdgeMemory:
    """Notes what changed of a roster, a queue of held-back records and a head (a value, replaced by `set`)."""

    def __init__(self, roster: Roster, admission: Admission) -> None:
        self.head = self._kept_head = Head()
        self.snapshot = -1
        self._roster = roster
        self._admission = admission
        self._kept_held: set[int] = set()

    def set(self, **fields: object) -> None:
        """Replace fields of the head."""
        self.head = msgspec.structs.replace(self.head, **fields)

    def changes(self) -> Delta:
        """Return what changed since the last call. Cost: O(changes)."""
        delta = self._roster.changes()
        held = self._admission.held
        if self.head is not self._kept_head:
            delta.head = self._kept_head = self.head
        if held.keys() != self._kept_held:
            delta.unheld = sorted(self._kept_held - held.keys())
            delta.held = _stored(held[version] for version in sorted(held.keys() - self._kept_held))
            self._kept_held = set(held)
        return delta

    def whole(self) -> Delta:
        """Return all there is. Cost: O(subscriptions)."""
        whole = self._roster.whole()
        whole.head = self.head
        whole.held = _stored(held for _, held in sorted(self._admission.held.items()))
        return whole

    def restore(self, values: Iterable[bytes | None]) -> None:
        """Become what `values` describe; roster and queue must be new.

        Raises EdgeStateError. Cost: O(records + subscriptions), about 2 us a subscription.
        """
        deltas, self.snapshot = read_back(values)
        for number, delta in deltas:
            with _fitting(number):
                self._take(delta)
        self._kept_head, self._kept_held = self.head, set(self._admission.held)
        with _fitting(None):
            self._roster.settle(self.head.era)

    def _take(self, delta: Delta) -> None:
        self._roster.apply(delta)
        self.head = delta.head or self.head
        for version in delta.unheld:
            self._admission.held.pop(version, None)
        for held in delta.held:
            self._admission.held[held.version] = Held(held.version, held.key, held.value)


@contextmanager
def _fitting(record: int | None) -> Iterator[None]:
    """Say of whatever goes wrong that a stored record, or all of them together, do not make a state."""
    try:
        yield
    except Exception as error:  # damaged bytes that can be decoded lead to errors of any kind; none is passed over
        raise EdgeStateError(f"it does not fit what stands before it: {error!r}", record) from error


def _stored(held: Iterable[Held]) -> list[HeldState]:
    return [HeldState(record.version, record.key, record.value) for record in held]
