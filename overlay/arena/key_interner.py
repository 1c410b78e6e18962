"""Byte strings that many share, by number: each is there once and counted, and gone when nobody has it any more.

Invariants (`check`): 1 a number has a string if and only if it is counted; 2 strings are distinct.
Cost: 25-30 bytes a string beside its own; 0.2 us an entry, 1 us a new string.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from overlay.arena.growable_column import widened
from overlay.arena.key_table import KeyTable
from overlay.arena.text_arena import TextArena
from state.change_batch import I32, I64
from state.distinct_numbers import distinct_numbers


class NumberedKeys:
    """Strings of at least one byte. Numbers are small and are used again."""

    def __init__(self) -> None:
        self._arena = TextArena()
        self._table = KeyTable(self._arena)
        self._counts: I32 = np.zeros(0, np.int32)
        self._free: list[int] = []
        self._size = 0

    def __len__(self) -> int:
        return len(self._table)

    def enter(self, keys: Sequence[bytes], places: I64) -> I64:
        """Return the number of each of `keys`, which are distinct, where it has a place; count it once for each."""
        if not len(keys):
            return np.empty(0, np.int64)
        numbers = self.find(keys)
        missing = (numbers < 0).nonzero()[0]
        if len(missing):
            numbers[missing] = self._make([keys[i] for i in missing.tolist()])
        self._counts[numbers] += np.bincount(places, minlength=len(keys)).astype(np.int32)
        return numbers[places]

    def find(self, keys: Sequence[bytes]) -> I64:
        """Return the number of each of `keys`, -1 where it is not there; nothing is counted. Cost: 0.1 us each."""
        return self._table.find(keys)[:, 0].astype(np.int64)

    def more(self, numbers: I64) -> None:
        """Count each number, which is in use, once more each time it stands there."""
        distinct, place = distinct_numbers(numbers)
        self._counts[distinct] += np.bincount(place, minlength=len(distinct)).astype(np.int32)

    def leave(self, numbers: I64) -> I64:
        """Count each number down once each time it stands there; return those that are gone."""
        if not len(numbers):
            return numbers
        gone, place = distinct_numbers(numbers)
        self._counts[gone] -= np.bincount(place, minlength=len(gone)).astype(np.int32)
        gone = gone[self._counts[gone] == 0]
        self._table.remove(gone)
        self._arena.drop(gone)
        self._free += gone.tolist()
        return gone

    @property
    def arena(self) -> TextArena:
        """The strings by number, for kernels that read them."""
        return self._arena

    def key(self, number: int) -> bytes:
        """Return the string of a number."""
        return self._arena.text(number)

    def keys(self, numbers: I64) -> list[bytes]:
        """Return the string of each number."""
        return self._arena.texts(numbers)

    def size(self, numbers: I64) -> I64:
        """Return the length of each number's string."""
        return self._arena.lengths[numbers].astype(np.int64)

    def _make(self, keys: list[bytes]) -> I64:
        numbers = [self._free.pop() for _ in range(min(len(keys), len(self._free)))]
        fresh = len(keys) - len(numbers)
        numbers += range(self._size, self._size + fresh)
        self._size += fresh
        self._arena.reserve(self._size)
        self._counts = widened(self._counts, self._size)
        made = np.array(numbers, np.int64)
        self._arena.put_all(made, keys)
        self._table.add(made)
        return made

    def check(self, numbers: I64) -> None:
        """Check the invariants of the module's header, and that each is counted as often as it is in `numbers`."""
        counts = np.bincount(numbers, minlength=len(self._counts))
        assert (counts == self._counts).all(), (1, counts, self._counts)
        used = counts.nonzero()[0]
        self._arena.check()
        self._table.check(used)
        keys = self.keys(used)
        assert all(keys) and len(set(keys)) == len(keys) == len(self._table), (2, keys)
        assert sorted(self._free + used.tolist()) == list(range(self._size)), (1, self._free)
