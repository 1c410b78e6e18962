"""The compiled loops behind `bulk/bulk_compiler.py`: statements are cut at their literals, told apart, and placed.

All of them stand in this one file, because numba's cache does not see changes in another file's functions. They take
plain arrays:

    data    uint8[b]      all statements; statement i is data[starts[i] : ends[i]]
    spans   int64[l, 2]   where each literal begins and ends, in the order of the text
    first   int64[m]      the first of a statement's literals
    counts  int64[m]      how many it has; -1: it is not *simple*, and the literals before its end are of no use
    hashes  uint64[m]     of all that is no literal, and of which literals are quoted

A statement is simple if all outside of its quoted literals is ASCII, its quotes are closed, and no quoted literal
holds what begins a comment. Literals are those that `catalog/query/template.py` finds, whose regular
expression takes the longest number or none at all.
A hash only tells apart; what has the same one is compared byte by byte.
Cost: 0.2 us a statement of 80 bytes to cut, 0.1 us to compare, 30 ns a number.
"""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

from state.change_batch import I64, Bool

U8 = npt.NDArray[np.uint8]
U64 = npt.NDArray[np.uint64]

EQUAL, LESS, AT_MOST, MORE, AT_LEAST = range(5)
EXACT, DOUBLE, REAL = range(3)
_MOST_DIGITS = 18
_EXACT_IN_DOUBLE = 2**53
_ROUNDED_BITS = 2**29 - 1
_MIDWAY = 2**28
_FAR = 4 * 10**18
_LEAST, _GREATEST = -(2**63), 2**63 - 1


@numba.njit(cache=True)
def _word(byte: int) -> bool:
    return 48 <= byte <= 57 or 65 <= byte <= 90 or 97 <= byte <= 122 or byte == 95


@numba.njit(cache=True)
def _digit(byte: int) -> bool:
    return 48 <= byte <= 57


@numba.njit(cache=True)
def _string_end(data: U8, at: int, end: int) -> int:
    """Return where the quoted literal that begins at `at` ends, -1 if it does not or is not simple."""
    at += 1
    before = np.uint8(0)
    while at < end:
        byte = data[at]
        if byte == 39:
            if at + 1 < end and data[at + 1] == 39:
                at += 1
            else:
                return at + 1
        if (byte == 45 and before == 45) or (byte == 42 and before == 47):
            return -1
        before = byte
        at += 1
    return -1


@numba.njit(cache=True)
def _digits_end(data: U8, at: int, end: int) -> int:
    while at < end and _digit(data[at]):
        at += 1
    return at


@numba.njit(cache=True)
def _number_end(data: U8, at: int, end: int) -> int:
    """Return where the number that begins at `at` ends, -1 if a word or a dot touches its end."""
    at = _digits_end(data, at, end)
    if at + 1 < end and data[at] == 46 and _digit(data[at + 1]):
        at = _digits_end(data, at + 1, end)
    if at < end and (data[at] == 69 or data[at] == 101):
        past = at + 1
        if past < end and (data[past] == 43 or data[past] == 45):
            past += 1
        if past < end and _digit(data[past]):
            at = _digits_end(data, past, end)
    return -1 if at < end and (_word(data[at]) or data[at] == 46) else at


@numba.njit(cache=True)
def scan(data: U8, starts: I64, ends: I64, spans: I64, first: I64, counts: I64, hashes: U64) -> None:
    """Cut statements at their literals; `spans` has room for half of all bytes."""
    prime = np.uint64(0x100000001B3)
    filled = 0
    for i in range(len(starts)):
        at, end = starts[i], ends[i]
        h = np.uint64(0xCBF29CE484222325)
        first[i] = filled
        simple = True
        touched = False
        while at < end:
            byte = data[at]
            stop, mark = -1, np.uint64(0)
            if byte == 39:
                stop, mark = _string_end(data, at, end), np.uint64(1)
                if stop < 0:
                    simple = False
                    break
            elif _digit(byte) and not touched:
                stop, mark = _number_end(data, at, end), np.uint64(2)
            elif byte > 127:
                simple = False
                break
            if stop >= 0:
                spans[filled, 0], spans[filled, 1] = at, stop
                filled += 1
                h = (h ^ mark) * prime
                at = stop
                touched = False
            else:
                h = (h ^ np.uint64(byte)) * prime
                touched = _word(byte) or byte == 46
                at += 1
        counts[i] = filled - first[i] if simple else -1
        hashes[i] = h


@numba.njit(cache=True)
def _same(data: U8, start: int, other: int, length: int) -> bool:
    for k in range(length):  # noqa: SIM110 - numba compiles a loop in half the time of a generator
        if data[start + k] != data[other + k]:
            return False
    return True


@numba.njit(cache=True)
def alike(
    data: U8, starts: I64, ends: I64, spans: I64, first: I64, counts: I64, rows: I64, model: int, out: Bool
) -> None:
    """Write whether each of `rows` differs from the statement `model` in nothing but what its literals say."""
    for j in range(len(rows)):
        i = rows[j]
        out[j] = counts[i] == counts[model]
        if not out[j]:
            continue
        at, at_model = starts[i], starts[model]
        for k in range(counts[i] + 1):
            if k < counts[i]:
                stop, stop_model = spans[first[i] + k, 0], spans[first[model] + k, 0]
            else:
                stop, stop_model = ends[i], ends[model]
            if stop - at != stop_model - at_model or not _same(data, at, at_model, stop - at):
                out[j] = False
                break
            if k < counts[i]:
                if (data[stop] == 39) != (data[stop_model] == 39):
                    out[j] = False
                    break
                at, at_model = spans[first[i] + k, 1], spans[first[model] + k, 1]


@numba.njit(cache=True)
def literal_hashes(data: U8, spans: I64, first: I64, rows: I64, which: I64, out: U64) -> None:
    """Write a hash of the literals number `which` of each of `rows`."""
    prime = np.uint64(0x100000001B3)
    for j in range(len(rows)):
        h = np.uint64(0xCBF29CE484222325)
        for k in which:
            start, end = spans[first[rows[j]] + k, 0], spans[first[rows[j]] + k, 1]
            for at in range(start, end):
                h = (h ^ np.uint64(data[at])) * prime
            h = (h ^ np.uint64(1)) * prime
        out[j] = h


@numba.njit(cache=True)
def same_literals(data: U8, spans: I64, first: I64, rows: I64, models: I64, which: I64, out: Bool) -> None:
    """Write whether each of `rows` has the same literals number `which` as its model."""
    for j in range(len(rows)):
        out[j] = True
        for k in which:
            start, end = spans[first[rows[j]] + k, 0], spans[first[rows[j]] + k, 1]
            other, other_end = spans[first[models[j]] + k, 0], spans[first[models[j]] + k, 1]
            if end - start != other_end - other or not _same(data, start, other, end - start):
                out[j] = False
                break


@numba.njit(cache=True)
def _floor(mantissa: int, fraction: int, scale: int, powers: I64) -> tuple[int, int]:
    """Return the greatest integer at or below mantissa * 10**(scale - fraction), and 1 if it is below, else 0.

    `_FAR` where it is that far or farther.
    """
    if fraction <= scale:
        if scale - fraction > _MOST_DIGITS or (mantissa and mantissa > _FAR // powers[scale - fraction]):
            return (_FAR, 0) if mantissa else (0, 0)
        return mantissa * powers[scale - fraction], 0
    power = powers[fraction - scale]
    floor = mantissa // power
    return floor, 1 if mantissa - floor * power else 0


@numba.njit(cache=True)
def _double_code(value: float, bits: I64, values: npt.NDArray[np.float64]) -> int:
    """Return the order code of a finite double; `bits` is a view of `values`, of one place."""
    values[0] = value + 0.0
    return bits[0] if bits[0] >= 0 else bits[0] ^ _GREATEST


@numba.njit(cache=True)
def _parsed(data: U8, start: int, end: int) -> tuple[int, int]:
    """Return a number without its dot, and how many digits stand behind that; -1, 0 where `far` says so."""
    mantissa, fraction, digits, behind = 0, 0, 0, 0
    for at in range(start, end):
        if data[at] == 46:
            behind = 1
        elif _digit(data[at]):
            mantissa = mantissa * 10 + data[at] - 48 if digits < _MOST_DIGITS else 0
            digits += 1 if mantissa or digits else 0
            fraction += behind
        else:
            digits = 10 * _MOST_DIGITS
    return (-1, 0) if digits > _MOST_DIGITS or fraction > _MOST_DIGITS else (mantissa, fraction)


@numba.njit(cache=True)
def _exact_codes(mantissa: int, fraction: int, minus: int, scale: int, powers: I64) -> tuple[int, int, bool]:
    """Return the greatest code at or below a number and the least at or above it, and whether it is too far."""
    floor, rest = _floor(mantissa, fraction, scale, powers)
    ceiling = floor + rest
    return (-ceiling, -floor, floor >= _FAR) if minus else (floor, ceiling, floor >= _FAR)


@numba.njit(cache=True)
def _float_code(
    mantissa: int, fraction: int, minus: int, kind: int, powers: I64, bits: I64, values: npt.NDArray[np.float64]
) -> tuple[int, int, bool]:
    """Return the code of the DOUBLE or REAL that a number is, twice, and whether it takes more than a division.

    A REAL whose double lies midway between two of them does (`state/nearest_float.py`); with at most 18 digits none is
    below the normal range, nor beyond the largest.
    """
    value = np.float64(mantissa) / np.float64(powers[fraction])
    if minus:
        value = -value
    far = mantissa > _EXACT_IN_DOUBLE
    if kind == REAL:
        far |= _double_code(abs(value), bits, values) & _ROUNDED_BITS == _MIDWAY
        value = np.float64(np.float32(value))
    code = _double_code(value, bits, values)
    return code, code, far


@numba.njit(cache=True)
def _cut(operator: int, floor: int, ceiling: int, low: int, high: int) -> tuple[int, int]:
    """Return what a comparison leaves of the codes low..high."""
    if operator in (AT_LEAST, EQUAL):
        low = max(low, ceiling)
    if operator in (AT_MOST, EQUAL):
        high = min(high, floor)
    if operator == LESS:
        high = min(high, ceiling - 1)
    elif operator == MORE:
        low = max(low, floor + 1)
    return low, high


@numba.njit(cache=True)
def ranges(
    data: U8, spans: I64, first: I64, rows: I64, tests: I64, kind: int, scale: int, powers: I64, out: I64, far: Bool
) -> None:
    """Write the closed range of order codes that passes all tests into `out` int64[m, 2], for each of `rows`.

    tests    int64[t, 3]: operator, number of the literal, 1 if a minus stands before it
    kind     EXACT: codes are the numbers times 10**scale; DOUBLE, REAL
    far      where a number has an exponent, or too many digits for these loops: nothing is written
    """
    values = np.zeros(1, np.float64)
    bits = values.view(np.int64)
    for j in range(len(rows)):
        low, high = _LEAST, _GREATEST
        far[j] = False
        for t in range(len(tests)):
            span = spans[first[rows[j]] + tests[t, 1]]
            mantissa, fraction = _parsed(data, span[0], span[1])
            if mantissa < 0:
                far[j] = True
            elif kind == EXACT:
                floor, ceiling, far[j] = _exact_codes(mantissa, fraction, tests[t, 2], scale, powers)
            else:
                floor, ceiling, far[j] = _float_code(mantissa, fraction, tests[t, 2], kind, powers, bits, values)
            if far[j]:
                break
            low, high = _cut(tests[t, 0], floor, ceiling, low, high)
        out[j, 0], out[j, 1] = low, high


ENTRIES = (scan, alike, literal_hashes, same_literals, ranges)
