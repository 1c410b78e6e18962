"""The twin of the subscription index: a dict, and every message compared with every subscription."""

from __future__ import annotations

import numpy as np

from state.change_batch import I64

Place = tuple[int, bytes, int]
"""Domain, group, shape."""


class NaiveSubscriptionIndex:
    def __init__(self) -> None:
        self.places: dict[int, tuple[Place, int, int]] = {}

    def insert(self, slot: int, place: Place, lo: int, hi: int) -> None:
        self.places[slot] = (place, lo, hi)

    def remove(self, slot: int) -> bool:
        return self.places.pop(slot, None) is not None

    def query(self, groups: list[Place], bounds: I64) -> list[tuple[int, int]]:
        """Return sorted pairs (message, slot); `bounds` is int64[4, m]."""
        found = []
        for i, wanted in enumerate(groups):
            lo_min, lo_max, hi_min, hi_max = (int(bound) for bound in bounds[:, i])
            for slot, (place, lo, hi) in self.places.items():
                if place == wanted and lo_min <= lo <= lo_max and hi_min <= hi <= hi_max:
                    found.append((i, slot))
        return sorted(found)


def rectangles(rows: list[tuple[int, int, int, int]]) -> I64:
    return np.array(rows, np.int64).reshape(-1, 4).T.copy()
