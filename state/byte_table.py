"""Byte strings numbered by identity: primary keys and text dictionaries, compared by their exact bytes.

A hash is not an identity: two keys with one hash are two keys. So the table keeps the bytes and compares them;
the hash only says where to look. Strings stand end to end; string i is data[starts[i]:stops[i]].

    data    k e y A | k e y B | t e x t ...
    table   open addressing, int32, of the distinct strings of a batch; load <= 1/4; made for a batch, never stored

A batch of m strings makes the table, and the n stored ones are looked up in it: n reads that stay in the
processor's first cache while m is a thousand, where a table of the stored ones would be made anew and miss it.

Invariants (`check`): 1 every string lies inside the data. 2 No two strings are equal.
Cost: O(n + m) a batch: 4 ns a stored string and 0.2 us one that is looked up in batches of 1,000; 20 to 40 ns one
where all are new.
Why not a dict: one that is made of 50,000 stored keys at every batch, to look up 1,000, costs 10 ms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numba
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from state.arrow_strings import ArrowStrings
from state.change_batch import I32, I64, Bool

U8 = npt.NDArray[np.uint8]
U64 = npt.NDArray[np.uint64]

_EMPTY = -1
_ROOM = 4
"""Places of a table for each string that it may get, rounded up to a power of two."""


@numba.njit(cache=True)
def _word(data: U8, at: np.uint64) -> np.uint64:
    """Return the 8 bytes from `at` on, little endian. Written out, LLVM makes one load of it."""
    word = np.uint64(data[at])
    word |= np.uint64(data[at + np.uint64(1)]) << np.uint64(8)
    word |= np.uint64(data[at + np.uint64(2)]) << np.uint64(16)
    word |= np.uint64(data[at + np.uint64(3)]) << np.uint64(24)
    word |= np.uint64(data[at + np.uint64(4)]) << np.uint64(32)
    word |= np.uint64(data[at + np.uint64(5)]) << np.uint64(40)
    word |= np.uint64(data[at + np.uint64(6)]) << np.uint64(48)
    word |= np.uint64(data[at + np.uint64(7)]) << np.uint64(56)
    return word


@numba.njit(cache=True)
def _hash_bytes(data: U8, start: int, stop: int) -> np.uint64:
    """Hash data[start:stop], 8 bytes a step; the positions are unsigned to spare the test for negative ones.

    The last step of 8 bytes or more is the last 8, some of them for the second time: no loop over single bytes.
    """
    at, end, eight = np.uint64(start), np.uint64(stop), np.uint64(8)
    prime = np.uint64(0xFF51AFD7ED558CCD)
    h = np.uint64(0x9E3779B97F4A7C15) ^ (end - at)
    word = np.uint64(0)
    if at + eight <= end:
        word = _word(data, end - eight)
    else:
        while at < end:
            word = (word << eight) | np.uint64(data[at])
            at += np.uint64(1)
    while at + eight < end:
        h = (h ^ _word(data, at)) * prime
        h ^= h >> np.uint64(32)
        at += eight
    h = (h ^ word) * prime
    return h ^ (h >> np.uint64(32))


@numba.njit(cache=True)
def _same_bytes(data: U8, start: int, stop: int, other: U8, other_start: int, other_stop: int) -> bool:
    if stop - start != other_stop - other_start:
        return False
    for k in range(stop - start):  # noqa: SIM110 - numba compiles a loop in half the time of a generator
        if data[start + k] != other[other_start + k]:
            return False
    return True


@numba.njit(cache=True)
def _distinct(data: U8, starts: I64, stops: I64, table: I32, hashes: U64, ids: I32, firsts: I64) -> int:
    """Number strings by first occurrence and leave them in `table`; return how many are distinct."""
    mask, many = np.uint64(len(table) - 1), 0
    for p in range(len(starts)):
        h = _hash_bytes(data, starts[p], stops[p])
        at = h & mask
        q = table[at]
        while q >= 0:
            f = firsts[q]
            if hashes[q] == h and _same_bytes(data, starts[p], stops[p], data, starts[f], stops[f]):
                break
            at = (at + np.uint64(1)) & mask
            q = table[at]
        if q < 0:
            q = table[at] = many
            hashes[many], firsts[many] = h, p
            many += 1
        ids[p] = q
    return many


@numba.njit(cache=True)
def _seek(
    stored: U8, stored_starts: I64, stored_stops: I64, data: U8, starts: I64, stops: I64, table: I32, hashes: U64,
    firsts: I64, found: I32,
) -> None:  # fmt: skip
    """Give each distinct string the position of its equal among the stored ones; the others keep their -1.

    The search in the table is that of `_distinct`, written out again: as a function it takes four times as long.
    """
    mask = np.uint64(len(table) - 1)
    for p in range(len(stored_starts)):
        h = _hash_bytes(stored, stored_starts[p], stored_stops[p])
        at = h & mask
        q = table[at]
        while q >= 0:
            f = firsts[q]
            if hashes[q] == h and _same_bytes(stored, stored_starts[p], stored_stops[p], data, starts[f], stops[f]):
                found[q] = p
                break
            at = (at + np.uint64(1)) & mask
            q = table[at]


@numba.njit(cache=True)
def _gather(data: U8, starts: I64, stops: I64, out: U8) -> None:
    """Copy strings end to end; neighbours are copied in one stretch."""
    at = p = 0
    while p < len(starts):
        start = starts[p]
        while p + 1 < len(starts) and starts[p + 1] == stops[p]:
            p += 1
        length = stops[p] - start
        for k in range(length):
            out[at + k] = data[start + k]
        at += length
        p += 1


ENTRIES = (_distinct, _seek, _gather)
"""The kernels that are called from Python."""


@dataclass(slots=True)
class Strings:
    """n byte strings: string i is data[starts[i]:stops[i]]. The arrays may be read-only views."""

    data: U8
    starts: I64
    stops: I64

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, i: int) -> bytes:
        return self.data[self.starts[i] : self.stops[i]].tobytes()

    @classmethod
    def of(cls, values: Sequence[bytes] | Sequence[str] | pa.Array) -> Strings:
        """Lay out strings end to end; text as UTF-8. Cost: 30 ns each, nothing for what Arrow has already."""
        if isinstance(values, ArrowStrings):
            values = values.array
        if not isinstance(values, pa.Array):
            text = bool(values) and isinstance(values[0], str)
            values = pa.array(values, pa.large_string() if text else pa.large_binary())
        _, offsets, data = values.buffers()
        edges = np.frombuffer(offsets, np.int64, len(values) + 1) if len(values) else np.zeros(1, np.int64)
        flat = np.frombuffer(data, np.uint8, int(edges[-1])) if data is not None else np.zeros(0, np.uint8)
        return cls(flat, edges[:-1], edges[1:])

    @classmethod
    def of_lengths(cls, data: U8, lengths: npt.NDArray[np.unsignedinteger]) -> Strings:
        """Read strings that stand end to end."""
        stops = np.cumsum(lengths, dtype=np.int64)
        return cls(np.array(data, np.uint8), stops - lengths.astype(np.int64), stops)

    @property
    def lengths(self) -> I64:
        """Length of each in bytes."""
        return self.stops - self.starts

    @property
    def dense(self) -> bool:
        """Whether the strings fill their data, end to end."""
        return int(self.lengths.sum()) == len(self.data)

    @property
    def views(self) -> tuple[U8, I64, I64]:
        """The three arrays, read-only all of them: to numba that is a type of its own, and each would be compiled."""
        views = self.data.view(), self.starts.view(), self.stops.view()
        for view in views:
            view.flags.writeable = False
        return views

    def then(self, more: Strings) -> Strings:
        """Return these and `more` as one, still end to end in memory."""
        shift = len(self.data)
        return Strings(
            np.concatenate([self.data, more.data]),
            np.concatenate([self.starts, more.starts + shift]),
            np.concatenate([self.stops, more.stops + shift]),
        )

    @property
    def texts(self) -> list[str]:
        """The strings, UTF-8 like all of their data, as texts. Cost: 60 ns each where all are ASCII, else 0.2 us."""
        flat, places = self.data.tobytes(), zip(self.starts.tolist(), self.stops.tolist(), strict=True)
        if flat.isascii():
            text = flat.decode()
            return [text[start:stop] for start, stop in places]
        return [flat[start:stop].decode() for start, stop in places]

    def take(self, which: I32 | I64) -> Strings:
        """Return the strings numbered `which`, laid out end to end. Cost: 1 ns a byte."""
        starts, stops = self.starts[which], self.stops[which]
        edges = np.cumsum(stops - starts)
        out = np.empty(int(edges[-1]) if len(edges) else 0, np.uint8)
        _gather(*Strings(self.data, starts, stops).views, out)
        return Strings(out, edges - (stops - starts), edges)


class ByteTable:
    """Distinct byte strings, numbered 0..n-1 in the order in which they came."""

    __slots__ = ("strings",)

    def __init__(self, strings: Strings | None = None) -> None:
        self.strings = Strings.of([]) if strings is None else strings

    def __len__(self) -> int:
        return len(self.strings)

    def intern(self, more: Strings) -> I32:
        """Return the number of each string of `more`; unseen ones get the next numbers and stay.

        Cost: O(n + m), and O(bytes) where one is unseen.
        """
        ids, firsts, found = self._find(more)
        unseen = np.flatnonzero(found < 0)
        found[unseen] = len(self.strings) + np.arange(len(unseen))
        if len(unseen):
            self.strings = self.strings.then(more if len(unseen) == len(more) else more.take(firsts[unseen]))
        return found[ids]

    def look_up(self, more: Strings) -> I32:
        """Return the number of each string of `more`, -1 for those that are not there. Cost: O(n + m)."""
        ids, _, found = self._find(more)
        return found[ids]

    def _find(self, more: Strings) -> tuple[I32, I64, I32]:
        """Return which distinct string each is, where that one comes first in `more`, and its number here or -1."""
        table = np.full(1 << (_ROOM * len(more)).bit_length(), _EMPTY, np.int32)
        ids, firsts, hashes = (
            np.empty(len(more), np.int32),
            np.empty(len(more), np.int64),
            np.empty(len(more), np.uint64),
        )
        many = _distinct(*more.views, table, hashes, ids, firsts)
        found = np.full(many, _EMPTY, np.int32)
        _seek(*self.strings.views, *more.views, table, hashes, firsts, found)
        return ids, firsts[:many], found

    def keep(self, kept: Bool) -> I32:
        """Drop the strings not `kept` and return new number by old, -1 for the dropped. The order stays.

        Cost: O(bytes).
        """
        new = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
        self.strings = self.strings.take(np.flatnonzero(kept))
        return new

    def check(self) -> None:
        """Assert the invariants of the module's header. Cost: O(n)."""
        strings = self.strings
        inside = (strings.starts >= 0) & (strings.starts <= strings.stops) & (strings.stops <= len(strings.data))
        assert inside.all(), f"1: strings outside their data in {strings}"
        values = [strings[i] for i in range(len(strings))]
        assert len(set(values)) == len(values), f"2: equal strings in {values}"
