"""Byte strings of many owners end to end in one array, instead of an object each.

    data      p e r s o n - 1 | ....... | p e r s o n - 3 |          entry 1 was dropped: waste, until the array is full
    starts    0                           17                         4 bytes an entry
    lengths   8          0                8                          4 bytes an entry, 0: no string

When the array is full, what is still used goes to a new one, an eighth larger than that: growing and cleaning are one.

Invariants (`check`): 1 strings lie inside the data and apart from each other; 2 used and wasted bytes are all bytes.
Cost: a string's own bytes + 8, and up to an eighth more; a Python object takes 33 more and a place in a list.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from overlay.arena.growable_column import widened, zeros
from overlay.arena.key_kernels import U8, U32, gather
from state.change_batch import I32, I64
from state.errors import TidewireError

_FIRST_BYTES = 256
_MOST_BYTES = 2**32 - 1


class ArenaFull(TidewireError):
    """The texts of one virtual edge take more than 4 GiB."""

    code = "arena_full"


class TextArena:
    """Strings by entry; entries are small numbers that the owner gives."""

    def __init__(self) -> None:
        self.data: U8 = np.zeros(_FIRST_BYTES, np.uint8)
        self.starts: U32 = np.zeros(0, np.uint32)
        self.lengths: I32 = np.zeros(0, np.int32)
        self._end = 0
        self._waste = 0

    def reserve(self, entries: int) -> None:
        """Make room for entries below `entries`."""
        self.starts, self.lengths = widened(self.starts, entries), widened(self.lengths, entries)

    def put(self, entries: I64, flat: bytes, sizes: I64) -> None:
        """Write strings that stand end to end in `flat`; what the entries had before is dropped.

        Raises ArenaFull. Cost: O(bytes), amortised.
        """
        self.drop(entries)
        self._make_room(len(flat))
        ends = np.cumsum(sizes)
        self.data[self._end : self._end + len(flat)] = np.frombuffer(flat, np.uint8)
        self.starts[entries] = self._end + ends - sizes
        self.lengths[entries] = sizes
        self._end += len(flat)

    def put_all(self, entries: I64, texts: Sequence[bytes]) -> None:
        """Write one string each."""
        self.put(entries, b"".join(texts), sizes_of(texts))

    def drop(self, entries: I64) -> None:
        """Forget strings."""
        self._waste += int(self.lengths[entries].sum())
        self.lengths[entries] = 0

    def flat(self, entries: I64) -> tuple[bytes, I64]:
        """Return strings end to end, and the size of each."""
        sizes = self.lengths[entries].astype(np.int64)
        out = np.empty(int(sizes.sum()), np.uint8)
        gather(entries, self.data, self.starts, self.lengths, out)
        return out.tobytes(), sizes

    def text(self, entry: int) -> bytes:
        """Return one string. Cost: 0.5 us."""
        start = int(self.starts[entry])
        return self.data[start : start + int(self.lengths[entry])].tobytes()

    def texts(self, entries: I64) -> list[bytes]:
        """Return strings, one by one. Cost: 0.1 us each."""
        return cut(*self.flat(entries))

    def _make_room(self, size: int) -> None:
        if self._end + size <= len(self.data):
            return
        used = self.lengths.nonzero()[0]
        needed = self._end - self._waste + size
        if needed > _MOST_BYTES:
            raise ArenaFull(
                f"the ids or texts of one virtual edge take {needed:,} bytes, expected at most {_MOST_BYTES:,}; "
                "spread the subscriptions over more virtual edges"
            )
        fresh = zeros(max(min(needed + needed // 8, _MOST_BYTES), _FIRST_BYTES), np.uint8)
        gather(used, self.data, self.starts, self.lengths, fresh)
        ends = np.cumsum(self.lengths[used], dtype=np.int64)
        self.starts[used] = ends - self.lengths[used]
        self.data, self._end, self._waste = fresh, int(ends[-1]) if len(ends) else 0, 0

    def check(self) -> None:
        """Check the invariants of the module's header. Raises AssertionError."""
        used = self.lengths.nonzero()[0]
        used = used[np.argsort(self.starts[used], kind="stable")]
        starts = self.starts[used].astype(np.int64)
        ends = starts + self.lengths[used]
        assert (ends[:-1] <= starts[1:]).all() and (ends <= self._end).all() and self._end <= len(self.data), (1, used)
        assert int((ends - starts).sum()) + self._waste == self._end, (2, self._waste, self._end)


def sizes_of(texts: Sequence[bytes]) -> I64:
    """Return the length of each string."""
    return np.fromiter(map(len, texts), np.int64, len(texts))


def cut(flat: bytes, sizes: I64) -> list[bytes]:
    """Return the strings that stand end to end in `flat`."""
    ends = np.cumsum(sizes)
    return [flat[start:end] for start, end in zip((ends - sizes).tolist(), ends.tolist(), strict=True)]
