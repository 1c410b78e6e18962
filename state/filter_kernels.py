"""The compiled loops that write the boxes of an index of filters and their bits; `filter_index.py` says what they mean.

They stand in one file, because numba's cache does not see changes in another file's functions; those that look boxes
up stand in `filter_match.py`. They take plain arrays, which their owners make (writable, C-contiguous, of the types
below); c columns, s segments, p places:

    rec      int64[p, 8]      a box, one line of the processor's cache: INTEREST, HEAD, lo and width of its two most
                              selective intervals, REST, SLOT
                              HEAD = column | column << 16 | intervals here << 32 | conditions in rest << 40 |
                              whether its slot has other boxes << 48
    rest     int64[r, 3]      conditions that are not in `rec`, those of a box from rec[p, REST] on; as FilterColumns
    bounds   int64[q, 2]      intervals of the conditions that have not just one
    first    int32[slots]     the first box of a slot, -1 where it is not in;  next int32[p] the next of its slot, or -1
    cuts     int64[c, 63]     counts[c] of them ascend, then INT64_MAX; the cell of a value is how many of those are
                              <= it; NULL has cell 63
    block    int32[s, c]      the block of lines of a column in a segment, -1 where none of its boxes asks for it
    known    int32[s, c]      the columns of a segment that have a block, the first many[s] of them
    lines    uint64[b * 512]  line block * 64 + cell, 8 words, a bit a box: cannot hold where the value is in the cell
    alive    uint64[s, 8]     the places that are boxes
    heard    uint64[s, h, 8]  a bit a box: a change of the columns c with c & 63 = h is of interest to it
    zone     uint64[s, c]     the cells that at least one box of the segment lets through
    gate     uint64[g, c, 64] the same by cell, a bit a segment: of 64 segments
    cares    uint64[g, h]     a bit a segment: whether one of its boxes has interest h
    cells    uint8[m, c]      of the rows of a batch

A segment has 1 << shift places, at most 512; lines and `alive` have 512 bits in any case.
"""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt
from numba.cpython.unsafe.numbers import trailing_zeros

from state.change_batch import I32, I64, Bool

U8 = npt.NDArray[np.uint8]
U64 = npt.NDArray[np.uint64]
F64 = npt.NDArray[np.float64]

INTEREST, HEAD, REST, SLOT = 0, 1, 6, 7
NULL_CELL = 63
CUTS = 62
WORDS = 8
"""Of a line."""
BLOCK = 64 * WORDS
"""Words of a block of lines, one line a cell."""
SEVERAL = 1 << 48
"""Bit of HEAD."""

_ENTRY = {"cache": True, "_nrt": False}
_INNER = {"cache": True, "_nrt": False, "forceinline": True}
"""No kernel allocates anything, so none counts references: counting those of every array that an inner function is
given took three quarters of the time. What they need for themselves they are given."""


@numba.njit(**_INNER)
def _lowest(mask: np.uint64) -> int:
    """Return the number of the lowest bit that is set."""
    lowest: int = np.int64(trailing_zeros(mask))  # type: ignore[assignment]
    return lowest


@numba.njit(**_INNER)
def _cell(cuts: I64, counts: I64, column: int, value: int) -> int:
    """Count the cuts that are <= value, without a branch: behind them the greatest number fills the column up."""
    low = 0
    for k in range(6):
        step = 32 >> k
        low += step * (cuts[column, low + step - 1] <= value)
    return min(low, counts[column])


@numba.njit(**_ENTRY)
def cells_of(codes: I64, valid: Bool, cuts: I64, counts: I64, out: U8) -> None:
    """Write the cell of every value of m rows."""
    for i in range(codes.shape[0]):
        for c in range(codes.shape[1]):
            out[i, c] = _cell(cuts, counts, c, codes[i, c]) if valid[i, c] else 63


@numba.njit(**_INNER)
def _span(cuts: I64, counts: I64, column: int, lo: int, hi: int) -> np.uint64:
    """Return the cells that an interval meets."""
    a, b = _cell(cuts, counts, column, lo), _cell(cuts, counts, column, hi)
    ones = ((np.uint64(1) << np.uint64(b - a)) - np.uint64(1)) << np.uint64(1) | np.uint64(1)
    return ones << np.uint64(a)


@numba.njit(**_INNER)
def _mask(head: int, lo: int, hi: int, bounds: I64, cuts: I64, counts: I64) -> np.uint64:
    """Return the cells that a condition lets through."""
    column, many = head & 0xFFFF, head >> 17
    cells = np.uint64((head >> 16) & 1) << np.uint64(63)
    if many == 1:
        cells |= _span(cuts, counts, column, lo, hi)
    else:
        for p in range(lo, lo + many):
            cells |= _span(cuts, counts, column, bounds[p, 0], bounds[p, 1])
    return cells


@numba.njit(**_INNER)
def _unpack(rec: I64, rest: I64, place: int, conditions: I64) -> int:
    """Write the conditions of a box and return how many they are."""
    head = rec[place, 1]
    n = (head >> 32) & 0xFF
    for j in range(n):
        conditions[j, 0] = ((head >> (16 * j)) & 0xFFFF) | 1 << 17
        conditions[j, 1] = rec[place, 2 + 2 * j]
        conditions[j, 2] = rec[place, 2 + 2 * j] + rec[place, 3 + 2 * j]
    for p in range(rec[place, 6], rec[place, 6] + ((head >> 40) & 0xFF)):
        for word in range(3):
            conditions[n, word] = rest[p, word]
        n += 1
    return n


@numba.njit(**_INNER)
def _weight(cells: np.uint64, column: int, share: F64) -> float:
    """Return the share of rows in `cells`."""
    total = 0.0
    while cells != np.uint64(0):
        total += share[column, _lowest(cells)]
        cells &= cells - np.uint64(1)
    return total


@numba.njit(**_INNER)
def _two(conditions: I64, n: int, bounds: I64, cuts: I64, counts: I64, share: F64) -> tuple[int, int]:
    """Return the two conditions of one interval that let the fewest rows through; n where there is none."""
    first, second = n, n
    least, lesser = 0.0, 0.0
    for j in range(n):
        head = conditions[j, 0]
        if head >> 16 == 2:
            cells = _mask(head, conditions[j, 1], conditions[j, 2], bounds, cuts, counts)
            weight = _weight(cells, head & 0xFFFF, share)
            if first == n or weight < least:
                second, lesser = first, least
                first, least = j, weight
            elif second == n or weight < lesser:
                second, lesser = j, weight
    return first, second


@numba.njit(**_INNER)
def _pack(
    rec: I64, rest: I64, used: int, place: int, conditions: I64, n: int, first: int, second: int, several: int
) -> int:
    """Write a box's conditions to `place`, all but two of them to `rest` from `used` on; return what is used then."""
    head, here = several, 0
    for j in (first, second):
        if j < n:
            head |= (conditions[j, 0] & 0xFFFF) << (16 * here)
            rec[place, 2 + 2 * here] = conditions[j, 1]
            rec[place, 3 + 2 * here] = conditions[j, 2] - conditions[j, 1]
            here += 1
    rec[place, 6] = used
    for j in range(n):
        if j != first and j != second:
            for word in range(3):
                rest[used, word] = conditions[j, word]
            used += 1
    rec[place, 1] = head | here << 32 | (n - here) << 40
    return used


@numba.njit(**_ENTRY)
def add(
    places: I64, slots: I64, interest: U64, boxes: I64, starts: I64, given: I64, bounds: I64, shift: int, cuts: I64,
    counts: I64, share: F64, rec: I64, rest: I64, used: int, first: I32, following: I32, conditions: I64,
) -> int:  # fmt: skip
    """Write filters as FilterColumns has them to `places`; return how much of `rest` is used then.

    Their own intervals stand in `bounds` from `shift` on, where there is room for all, as there is in `rest`.
    """
    for f in range(len(slots)):
        several = SEVERAL if boxes[f + 1] - boxes[f] > 1 else 0
        before = -1
        for b in range(boxes[f], boxes[f + 1]):
            n = 0
            for k in range(starts[b], starts[b + 1]):
                for word in range(3):
                    conditions[n, word] = given[k, word]
                if given[k, 0] >> 17 != 1:
                    conditions[n, 1] += shift
                n += 1
            one, two = _two(conditions, n, bounds, cuts, counts, share)
            place = places[b]
            used = _pack(rec, rest, used, place, conditions, n, one, two, several)
            rec[place, 0] = np.int64(interest[f])
            rec[place, 7] = slots[f]
            following[place] = -1
            if before < 0:
                first[slots[f]] = place
            else:
                following[before] = place
            before = place
    return used


@numba.njit(**_ENTRY)
def move(
    order: I64, rec: I64, rest: I64, bounds: I64, cuts: I64, counts: I64, share: F64, new_rec: I64, new_rest: I64,
    new_bounds: I64, conditions: I64,
) -> tuple[int, int]:  # fmt: skip
    """Write the boxes at the places `order` anew, end to end; return how much of both other arrays they use."""
    used, ends = 0, 0
    for place in range(len(order)):
        old = order[place]
        n = _unpack(rec, rest, old, conditions)
        for j in range(n):
            many = conditions[j, 0] >> 17
            if many != 1:
                start = conditions[j, 1]
                conditions[j, 1] = ends
                for p in range(start, start + many):
                    new_bounds[ends, 0], new_bounds[ends, 1] = bounds[p, 0], bounds[p, 1]
                    ends += 1
        one, two = _two(conditions, n, new_bounds, cuts, counts, share)
        used = _pack(new_rec, new_rest, used, place, conditions, n, one, two, rec[old, 1] & SEVERAL)
        new_rec[place, 0], new_rec[place, 7] = rec[old, 0], rec[old, 7]
    return used, ends


@numba.njit(**_ENTRY)
def masks_of(
    places: I64, rec: I64, rest: I64, bounds: I64, cuts: I64, counts: I64, conditions: I64, columns: I64, masks: U64
) -> None:  # fmt: skip
    """Write columns and masks of the conditions of the boxes at `places`, one box after the other."""
    k = 0
    for p in range(len(places)):
        for j in range(_unpack(rec, rest, places[p], conditions)):
            columns[k] = conditions[j, 0] & 0xFFFF
            masks[k] = _mask(conditions[j, 0], conditions[j, 1], conditions[j, 2], bounds, cuts, counts)
            k += 1


@numba.njit(**_INNER)
def _recoded(value: int, before: I64, after: I64) -> int:
    """Return after[i] for before[i], and what is not in `before` as it is."""
    low, high = 0, len(before)
    while low < high:
        mid = (low + high) >> 1
        if before[mid] < value:
            low = mid + 1
        else:
            high = mid
    return after[low] if low < len(before) and before[low] == value else value


@numba.njit(**_ENTRY)
def recode(places: I64, column: int, before: I64, after: I64, rec: I64, rest: I64, bounds: I64) -> None:
    """Replace the ends of a column's intervals in the boxes at `places`: what is before[i] becomes after[i]."""
    for k in range(len(places)):
        place = places[k]
        head = rec[place, 1]
        for j in range((head >> 32) & 0xFF):
            if (head >> (16 * j)) & 0xFFFF == column:
                lo = rec[place, 2 + 2 * j]
                hi = _recoded(lo + rec[place, 3 + 2 * j], before, after)
                lo = _recoded(lo, before, after)
                rec[place, 2 + 2 * j], rec[place, 3 + 2 * j] = lo, hi - lo
        for p in range(rec[place, 6], rec[place, 6] + ((head >> 40) & 0xFF)):
            if rest[p, 0] & 0xFFFF == column:
                if rest[p, 0] >> 17 == 1:
                    rest[p, 1], rest[p, 2] = _recoded(rest[p, 1], before, after), _recoded(rest[p, 2], before, after)
                else:
                    for q in range(rest[p, 1], rest[p, 1] + (rest[p, 0] >> 17)):
                        bounds[q, 0] = _recoded(bounds[q, 0], before, after)
                        bounds[q, 1] = _recoded(bounds[q, 1], before, after)


@numba.njit(**_ENTRY)
def learn(
    places: I64, shift: int, rec: I64, rest: I64, block: I32, known: I32, many: I32, blocks: int,
    conditions: I64,
) -> int:  # fmt: skip
    """Give every column that the boxes at `places` ask for a block in their segment; return how many there are then."""
    for k in range(len(places)):
        s = places[k] >> shift
        for j in range(_unpack(rec, rest, places[k], conditions)):
            c = conditions[j, 0] & 0xFFFF
            if block[s, c] < 0:
                block[s, c] = blocks
                known[s, many[s]] = c
                many[s] += 1
                blocks += 1
    return blocks


@numba.njit(**_INNER)
def _let(zone: U64, gate: U64, s: int, c: int, through: np.uint64) -> None:
    """Let cells through in the zone of a segment."""
    fresh = through & ~zone[s, c]
    zone[s, c] |= through
    while fresh != np.uint64(0):
        gate[s >> 6, c, _lowest(fresh)] |= np.uint64(1) << np.uint64(s & 63)
        fresh &= fresh - np.uint64(1)


@numba.njit(**_INNER)
def _open(zone: U64, gate: U64, s: int, conditions: I64, n: int) -> None:
    """Let a zone let everything through in the columns that a box of it does not ask for."""
    for c in range(zone.shape[1]):
        asked = False
        for j in range(n):
            asked = asked or (conditions[j, 0] & 0xFFFF) == c
        if not asked:
            _let(zone, gate, s, c, ~np.uint64(0))


@numba.njit(**_INNER)
def _hear(heard: U64, cares: U64, s: int, w: int, bit: np.uint64, interest: np.uint64, on: bool) -> None:
    """Set or clear the bits of a box in the lines of what it is interested in."""
    while interest != np.uint64(0):
        h = _lowest(interest)
        interest &= interest - np.uint64(1)
        heard[s, h, w] = heard[s, h, w] | bit if on else heard[s, h, w] & ~bit
        cares[s >> 6, h] |= np.uint64(1) << np.uint64(s & 63)


@numba.njit(**_ENTRY)
def mark(
    places: I64, shift: int, on: bool, rec: I64, rest: I64, bounds: I64, cuts: I64, counts: I64, block: I32,
    lines: U64, alive: U64, heard: U64, zone: U64, gate: U64, cares: U64, conditions: I64,
) -> None:  # fmt: skip
    """Set or clear the bits of the boxes at `places`; zones only ever get wider."""
    for k in range(len(places)):
        place = places[k]
        s, offset = place >> shift, place & ((1 << shift) - 1)
        w, bit = offset >> 6, np.uint64(1) << np.uint64(offset & 63)
        n = _unpack(rec, rest, place, conditions)
        for j in range(n):
            c = conditions[j, 0] & 0xFFFF
            through = _mask(conditions[j, 0], conditions[j, 1], conditions[j, 2], bounds, cuts, counts)
            _let(zone, gate, s, c, through)
            against = ~through
            while against != np.uint64(0):
                line = (block[s, c] * 64 + _lowest(against)) * 8 + w
                against &= against - np.uint64(1)
                lines[line] = lines[line] | bit if on else lines[line] & ~bit
        alive[s, w] = alive[s, w] | bit if on else alive[s, w] & ~bit
        _hear(heard, cares, s, w, bit, np.uint64(rec[place, 0]), on)
        _open(zone, gate, s, conditions, n)


@numba.njit(**_INNER)
def _bits_of(word: np.uint64) -> int:
    """Return how many bits are set."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    bits: int = np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))  # type: ignore[assignment]
    return bits


@numba.njit(**_ENTRY)
def rank(block: I32, known: I32, many: I32, lines: U64, share: F64, weights: F64) -> None:
    """Sort the columns of each segment: first those against whose lines the fewest boxes stand, of rows by `share`."""
    for s in range(len(many)):
        for k in range(many[s]):
            c, weight = known[s, k], 0.0
            for cell in range(64):
                against = 0
                for w in range(8):
                    against += _bits_of(lines[(block[s, c] * 64 + cell) * 8 + w])
                weight += share[c, cell] * against
            at = k
            while at > 0 and weights[at - 1] < weight:
                known[s, at], weights[at] = known[s, at - 1], weights[at - 1]
                at -= 1
            known[s, at], weights[at] = c, weight


ENTRIES = (cells_of, add, move, masks_of, recode, learn, mark, rank)
"""The kernels that are called from Python."""
