"""The compiled loops behind ids and groups: byte strings are found, placed, taken out, copied, and given a home.

All of them stand in this one file, because numba's cache does not see changes in another file's functions. They take
plain arrays, which their owners make:

    data      uint8[b]     all bytes; the string of entry e is data[starts[e] : starts[e] + lengths[e]]
    starts    uint32[e]
    lengths   int32[e]     0: no string
    table     int32[2**k]  open addressing: entries, -1 where free; entries of one string stand near each other

A hash only says where to look: strings are compared byte by byte. An entry is taken out by moving those behind it
forward, so the table has no tombstones and never needs cleaning (Knuth, volume 3, 6.4, algorithm R).
Cost: 20-50 ns a string of 15 bytes, most of it waiting for memory; 2 us a call from Python.
"""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

from state.change_batch import I32, I64

U8 = npt.NDArray[np.uint8]
U32 = npt.NDArray[np.uint32]


@numba.njit(cache=True)
def _hash(data: U8, start: int, length: int) -> np.uint64:
    prime = np.uint64(0xFF51AFD7ED558CCD)
    h = np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(length)
    at, end = start, start + length
    while at < end:
        word = np.uint64(0)
        for k in range(at, min(at + 8, end)):
            word = (word << np.uint64(8)) | np.uint64(data[k])
        h = (h ^ word) * prime
        h ^= h >> np.uint64(32)
        at += 8
    return h


@numba.njit(cache=True)
def _same(data: U8, start: int, other: U8, other_start: int, length: int) -> bool:
    for k in range(length):  # noqa: SIM110 - numba compiles a loop in half the time of a generator
        if data[start + k] != other[other_start + k]:
            return False
    return True


@numba.njit(cache=True)
def find(
    keys: U8, key_starts: I64, key_lengths: I64, data: U8, starts: U32, lengths: I32, table: I32, found: I32
) -> None:
    """Write the entries (at most two) that have each key into `found` int32[m, 2], -1 beyond them."""
    mask = np.uint64(len(table) - 1)
    for i in range(len(key_starts)):
        start, length = key_starts[i], key_lengths[i]
        at = _hash(keys, start, length) & mask
        count = 0
        found[i, 0] = found[i, 1] = -1
        while table[at] >= 0 and count < 2:
            entry = table[at]
            if lengths[entry] == length and _same(data, np.int64(starts[entry]), keys, start, length):
                found[i, count] = entry
                count += 1
            at = (at + np.uint64(1)) & mask


@numba.njit(cache=True)
def place(entries: I64, data: U8, starts: U32, lengths: I32, table: I32) -> None:
    """Put entries into the table, which must have room."""
    mask = np.uint64(len(table) - 1)
    for i in range(len(entries)):
        entry = entries[i]
        at = _hash(data, np.int64(starts[entry]), lengths[entry]) & mask
        while table[at] >= 0:
            at = (at + np.uint64(1)) & mask
        table[at] = entry


@numba.njit(cache=True)
def take_out(entries: I64, data: U8, starts: U32, lengths: I32, table: I32) -> int:
    """Take entries out of the table; return how many were there."""
    mask = np.uint64(len(table) - 1)
    one, taken = np.uint64(1), 0
    for i in range(len(entries)):
        entry = entries[i]
        hole = _hash(data, np.int64(starts[entry]), lengths[entry]) & mask
        while table[hole] >= 0 and table[hole] != entry:
            hole = (hole + one) & mask
        if table[hole] < 0:
            continue
        taken += 1
        at = hole
        while True:
            at = (at + one) & mask
            other = table[at]
            if other < 0:
                break
            home = _hash(data, np.int64(starts[other]), lengths[other]) & mask
            if ((at - home) & mask) >= ((at - hole) & mask):
                table[hole] = other
                hole = at
        table[hole] = -1
    return taken


@numba.njit(cache=True)
def gather(entries: I64, data: U8, starts: U32, lengths: I32, out: U8) -> None:
    """Copy the strings of entries end to end."""
    at = 0
    for i in range(len(entries)):
        start, length = np.int64(starts[entries[i]]), lengths[entries[i]]
        for k in range(length):
            out[at + k] = data[start + k]
        at += length


@numba.njit(cache=True)
def homes(keys: U8, key_starts: I64, key_lengths: I64, partitions: int, out: I64) -> None:
    """Write the home of each key among `partitions`: `connectors.kafka.partitioner.home_partition`, compiled."""
    m, mask = np.uint64(0x5BD1E995), np.uint64(0xFFFFFFFF)
    for i in range(len(key_starts)):
        start, length = key_starts[i], key_lengths[i]
        h = (np.uint64(0x9747B28C) ^ np.uint64(length)) & mask
        whole = length - length % 4
        for at in range(start, start + whole, 4):
            word = np.uint64(0)
            for k in range(4):
                word |= np.uint64(keys[at + k]) << np.uint64(8 * k)
            word = (word * m) & mask
            word = ((word ^ (word >> np.uint64(24))) * m) & mask
            h = ((h * m) & mask) ^ word
        if whole < length:
            word = np.uint64(0)
            for k in range(length - whole):
                word |= np.uint64(keys[start + whole + k]) << np.uint64(8 * k)
            h = ((h ^ word) * m) & mask
        h = ((h ^ (h >> np.uint64(13))) * m) & mask
        h ^= h >> np.uint64(15)
        out[i] = np.int64(h & np.uint64(0x7FFFFFFF)) % partitions


ENTRIES = (find, place, take_out, gather, homes)
