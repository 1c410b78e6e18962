"""Byte strings numbered by identity: primary keys and text dictionaries, compared by their exact bytes.

A hash is not an identity: two keys with one hash are two keys. So the table keeps the bytes and compares them;
the hash only says where to look. Strings stand end to end; string i is data[starts[i]:stops[i]].

    data    k e y A | k e y B | t e x t ...
    table   open addressing, int32 positions, load <= 1/2, rebuilt when a batch needs it (never stored)

A batch is numbered in one pass: its strings are put behind the stored ones, all are hashed (8 bytes a step),
the stored ones enter without a comparison (they are distinct), the new ones are looked up.

Invariants (`check`): 1 every string lies inside the data. 2 No two strings are equal.
Cost: O(n + m) a batch, n stored and m new: 12 ns a stored string and 90 ns a new one of 20 bytes, of which
half is the way out of Python. Why not a dict: one that is made of 50,000 stored keys at every batch, to look up
1,000, costs 10 ms, this 0.9 ms.
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
    """Hash data[start:stop], 8 bytes a step; the positions are unsigned to spare the test for negative ones."""
    at, end, eight = np.uint64(start), np.uint64(stop), np.uint64(8)
    prime = np.uint64(0xFF51AFD7ED558CCD)
    h = np.uint64(0x9E3779B97F4A7C15) ^ (end - at)
    while at + eight <= end:
        h = (h ^ _word(data, at)) * prime
        h ^= h >> np.uint64(32)
        at += eight
    word = np.uint64(0)
    while at < end:
        word = (word << eight) | np.uint64(data[at])
        at += np.uint64(1)
    h = (h ^ word) * prime
    return h ^ (h >> np.uint64(32))


@numba.njit(cache=True)
def _same_bytes(data: U8, start: int, stop: int, other: int, other_stop: int) -> bool:
    if stop - start != other_stop - other:
        return False
    for k in range(stop - start):  # noqa: SIM110 - numba compiles a loop in half the time of a generator
        if data[start + k] != data[other + k]:
            return False
    return True


@numba.njit(cache=True)
def _number(data: U8, starts: I64, stops: I64, stored: int, table: I32, hashes: U64, ids: I32, firsts: I64) -> int:
    """Number strings: those before `stored` by position, later ones by first occurrence; return how many are new."""
    mask = np.uint64(len(table) - 1)
    for p in range(len(starts)):
        hashes[p] = _hash_bytes(data, starts[p], stops[p])
    for p in range(stored):
        at = hashes[p] & mask
        while table[at] >= 0:
            at = (at + np.uint64(1)) & mask
        table[at] = p
        ids[p] = p
    fresh = 0
    for p in range(stored, len(starts)):
        h = hashes[p]
        at = h & mask
        q = table[at]
        while q >= 0 and not (hashes[q] == h and _same_bytes(data, starts[p], stops[p], starts[q], stops[q])):
            at = (at + np.uint64(1)) & mask
            q = table[at]
        if q >= 0:
            ids[p] = ids[q]
        else:
            table[at] = p
            ids[p] = stored + fresh
            firsts[fresh] = p
            fresh += 1
    return fresh


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


ENTRIES = (_number, _gather)
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

    def then(self, more: Strings) -> Strings:
        """Return these and `more` as one, still end to end in memory."""
        shift = len(self.data)
        return Strings(
            np.concatenate([self.data, more.data]),
            np.concatenate([self.starts, more.starts + shift]),
            np.concatenate([self.stops, more.stops + shift]),
        )

    def take(self, which: I64) -> Strings:
        """Return the strings numbered `which`, laid out end to end. Cost: 1 ns a byte."""
        starts, stops = self.starts[which], self.stops[which]
        edges = np.cumsum(stops - starts)
        out = np.empty(int(edges[-1]) if len(edges) else 0, np.uint8)
        _gather(self.data, starts, stops, out)
        return Strings(out, edges - (stops - starts), edges)


class ByteTable:
    """Distinct byte strings, numbered 0..n-1 in the order in which they came."""

    __slots__ = ("strings",)

    def __init__(self, strings: Strings | None = None) -> None:
        self.strings = Strings.of([]) if strings is None else strings

    def __len__(self) -> int:
        return len(self.strings)

    def intern(self, more: Strings) -> I32:
        """Return the number of each string of `more`; unseen ones get the next numbers and stay. Cost: O(n + m)."""
        stored = len(self.strings)
        every, ids, firsts = self._number(more)
        if len(firsts):
            starts = np.concatenate([every.starts[:stored], every.starts[firsts]])
            stops = np.concatenate([every.stops[:stored], every.stops[firsts]])
            self.strings = Strings(every.data, starts, stops)
        return ids

    def look_up(self, more: Strings) -> I32:
        """Return the number of each string of `more`, -1 for those that are not there. Cost: O(n + m)."""
        _, ids, _ = self._number(more)
        return np.where(ids < len(self.strings), ids, -1).astype(np.int32)

    def _number(self, more: Strings) -> tuple[Strings, I32, I64]:
        stored = len(self.strings)
        every = self.strings.then(more)
        size = 1 << (2 * len(every)).bit_length()
        ids, firsts = np.empty(len(every), np.int32), np.empty(len(more), np.int64)
        table, hashes = np.full(size, _EMPTY, np.int32), np.empty(len(every), np.uint64)
        fresh = _number(every.data, every.starts, every.stops, stored, table, hashes, ids, firsts)
        return every, ids[stored:], firsts[:fresh]

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
