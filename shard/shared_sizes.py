"""How many bytes stretches of messages take with what they share: a thing that several of them name is packed once.

message   0 0 1 2 2 3        of(0, 3) = a + b        of(1, 4) = b + a: each where it first comes in the stretch
names     a b b a b b
"""

from __future__ import annotations

import numpy as np

from state.change_batch import I32, I64


class SharedSizes:
    """What messages share: `by[i]`, ascending, names the thing `thing[i]`, which takes sizes[thing[i]] bytes."""

    def __init__(self, by: I64, thing: I64 | I32, sizes: I64) -> None:
        """Find where each thing is named before. Cost: O(n log n), of numbers, not of places: a third."""
        count = len(by)
        order = np.sort(thing.astype(np.int64) * count + np.arange(count)) % max(count, 1)
        same = thing[order[1:]] == thing[order[:-1]]
        before = np.full(len(by), -1, np.int64)
        before[order[1:][same]] = by[order[:-1][same]]
        self._by, self._before, self._sizes = by, before, sizes[thing]

    def of(self, start: int, end: int) -> int:
        """Return the bytes of all that messages from `start` to `end` name, each thing once: where it comes first."""
        mine = slice(*np.searchsorted(self._by, (start, end)).tolist())
        return int(self._sizes[mine][self._before[mine] < start].sum())
