"""Which subscriptions a message's rectangle meets (first version: plain numpy per group)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from state.change_batch import I64


class SubscriptionIndex:
    """Points (lo, hi) of subscriptions by (shape, group)."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, bytes], int] = {}
        self._groups: list[dict[int, tuple[int, int]]] = []
        self._home: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._home)

    def insert(self, slots: I64, shapes: I64, groups: Sequence[bytes], lo: I64, hi: I64) -> None:
        """Add subscriptions."""
        rows = zip(slots.tolist(), shapes.tolist(), groups, lo.tolist(), hi.tolist(), strict=True)
        for slot, shape, group, low, high in rows:
            number = self._numbers.setdefault((shape, group), len(self._groups))
            if number == len(self._groups):
                self._groups.append({})
            self._groups[number][slot] = (low, high)
            self._home[slot] = number

    def remove(self, slot: int) -> bool:
        """Take a subscription out; return whether it was in."""
        number = self._home.pop(slot, -1)
        if number >= 0:
            del self._groups[number][slot]
        return number >= 0

    def clear(self) -> None:
        """Take all out."""
        self.__init__()  # type: ignore[misc]

    def number(self, shape: int, group: bytes) -> int:
        """Return the number of a group, -1 if nobody is in it."""
        return self._numbers.get((shape, group), -1)

    def query(self, groups: I64, lo_min: I64, lo_max: I64, hi_min: I64, hi_max: I64) -> tuple[I64, I64]:
        """Return (message, slot) pairs in the order of the messages."""
        messages: list[int] = []
        found: list[int] = []
        for i, number in enumerate(groups.tolist()):
            if number < 0:
                continue
            for slot, (lo, hi) in self._groups[number].items():
                if lo_min[i] <= lo <= lo_max[i] and hi_min[i] <= hi <= hi_max[i]:
                    messages.append(i)
                    found.append(slot)
        return np.array(messages, np.int64), np.array(found, np.int64)

    def slots(self) -> list[int]:
        """Return all slots that are in."""
        return list(self._home)

    def check(self) -> None:
        """Check invariants."""
        assert sum(map(len, self._groups)) == len(self._home)
