"""Which entries have this string? An open-addressing table.

The strings are those of a `KeyStore`, usually a `TextArena`.
A string may have one entry or two (a subscription id has a live slot and a waiting one). The table holds entries only;
their strings are in the store, and must be there when an entry is added, found or removed.

Invariant (`check`): the table holds the entries that were added and not removed, each where `find` gets to it.
Cost: 6-12 bytes an entry, 20-50 ns an operation, 2 us a call. A dict takes 100 bytes and the string as an object.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from overlay.arena import key_kernels as kernels
from overlay.arena.growable_column import zeros
from overlay.arena.key_kernels import U8, U32
from overlay.arena.text_arena import sizes_of
from state.change_batch import I32, I64

_FIRST_SIZE = 64
_ZERO = np.zeros(1, np.int64)


class KeyStore(Protocol):
    """Strings by entry, as `overlay/arena/key_kernels.py` reads them; an entry with length 0 has none."""

    @property
    def data(self) -> U8:
        """All bytes."""
        ...

    @property
    def starts(self) -> U32:
        """Where each string begins."""
        ...

    @property
    def lengths(self) -> npt.NDArray[Any]:
        """How long each is."""
        ...

    def texts(self, entries: I64) -> list[bytes]:
        """Return the strings of entries."""
        ...


class KeyTable:
    """Entries by the strings that `store` has of them."""

    def __init__(self, store: KeyStore) -> None:
        self._store = store
        self._table: I32 = np.full(_FIRST_SIZE, -1, np.int32)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def find(self, keys: Sequence[bytes]) -> I32:
        """Return the entries of each key as int32[m, 2], in no order, -1 where there is none."""
        sizes = sizes_of(keys)
        return self._find(b"".join(keys), np.cumsum(sizes) - sizes, sizes)

    def find_one(self, key: bytes) -> tuple[int, int]:
        """Return the entries of one key, -1 where there is none."""
        first, second = self._find(key, _ZERO, np.array([len(key)], np.int64))[0].tolist()
        return first, second

    def add(self, entries: I64) -> None:
        """Put entries in, none of which is in."""
        count = self._count + len(entries)
        if 3 * count > 2 * len(self._table):
            self.rebuild(np.concatenate([self._table[self._table >= 0].astype(np.int64), entries]))
            return
        kernels.place(entries, self._store.data, self._store.starts, self._store.lengths, self._table)
        self._count = count

    def remove(self, entries: I64) -> None:
        """Take entries out; what is not in is passed over."""
        store = self._store
        self._count -= kernels.take_out(entries, store.data, store.starts, store.lengths, self._table)

    def rebuild(self, entries: I64) -> None:
        """Hold exactly `entries`."""
        size = max(_FIRST_SIZE, 1 << (len(entries) + len(entries) // 2).bit_length())
        self._table = zeros(size, np.int32)
        self._table -= 1
        self._count = len(entries)
        kernels.place(entries, self._store.data, self._store.starts, self._store.lengths, self._table)

    def _find(self, keys: bytes, starts: I64, sizes: I64) -> I32:
        store = self._store
        found = np.empty((len(sizes), 2), np.int32)
        flat = np.frombuffer(keys, np.uint8)
        kernels.find(flat, starts, sizes, store.data, store.starts, store.lengths, self._table, found)
        return found

    def check(self, entries: I64) -> None:
        """Check that exactly `entries` are in, and can be found. Raises AssertionError."""
        inside = np.sort(self._table[self._table >= 0])
        assert inside.tolist() == sorted(entries.tolist()) and len(inside) == self._count, (inside, entries)
        found = self.find(self._store.texts(entries))
        assert (found == entries[:, None]).any(axis=1).all(), (entries, found)
