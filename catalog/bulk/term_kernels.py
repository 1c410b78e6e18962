"""Terms of many filters read by compiled loops: those whose bounds are order codes, written as MessagePack.

What the loops do not take, sound or not, is left to `query/filter_terms.py`: bounds that are bytes, and whatever that
one refuses. So a filter that they take has the boxes which that one reads.
"""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

from catalog.query.filter_terms import MAX_BOXES, MAX_COLUMNS, MAX_INTERVALS
from state.change_batch import I64, Bool

U8 = npt.NDArray[np.uint8]
_LEAST = np.iinfo(np.int64).min
NULL, COUNT = 16, 17
"""Bits of a condition's first word from which the two stand, as in `state/filter_columns.py`."""
_MOST_PLACES = 2**16


@numba.njit(cache=True)
def _big_endian(data: U8, at: int, size: int, end: int) -> tuple[np.uint64, int]:
    """Return an unsigned number of `size` bytes and where it ends; -1 where the data end before."""
    value = np.uint64(0)
    if at + size > end:
        return value, -1
    for k in range(size):
        value = value << np.uint64(8) | np.uint64(data[at + k])
    return value, at + size


@numba.njit(cache=True)
def _array(data: U8, at: int, end: int) -> tuple[np.int64, int]:
    """Return the length of the array that begins here, and where its items do; -1 where there is none."""
    if at < 0 or at >= end:
        return np.int64(0), -1
    first = data[at]
    if first & 0xF0 == 0x90:
        return np.int64(first & 0x0F), at + 1
    if first == 0xDC or first == 0xDD:
        length, at = _big_endian(data, at + 1, 2 if first == 0xDC else 4, end)
        return np.int64(length), at
    return np.int64(0), -1


@numba.njit(cache=True)
def _integer(data: U8, at: int, end: int) -> tuple[np.int64, int]:
    """Return the integer of 64 bits that begins here and where it ends; -1 where there is none."""
    if at < 0 or at >= end:
        return np.int64(0), -1
    first = int(data[at])
    if first < 0x80:
        return np.int64(first), at + 1
    if first >= 0xE0:
        return np.int64(first - 256), at + 1
    if 0xCC <= first <= 0xCF:
        value, at = _big_endian(data, at + 1, 1 << (first - 0xCC), end)
        number = np.int64(value)
        return number, (at if number >= 0 else -1)
    if 0xD0 <= first <= 0xD3:
        size = 1 << (first - 0xD0)
        value, at = _big_endian(data, at + 1, size, end)
        shift = np.uint64(64 - 8 * size)
        return np.int64(value << shift) >> np.int64(shift), at
    return np.int64(0), -1


@numba.njit(cache=True)
def _intervals(data: U8, at: int, end: int, count: int, bounds: I64, used: int) -> int:
    """Write ascending intervals apart from each other; return where they end, -1 where there are none such."""
    before = _LEAST
    for k in range(count):
        pair, at = _array(data, at, end)
        lo, at = _integer(data, at, end)
        hi, at = _integer(data, at, end)
        if at < 0 or pair != 2 or lo > hi or (k > 0 and (lo <= before or lo - 1 == before)):
            return -1
        bounds[used + k, 0], bounds[used + k, 1] = lo, hi
        before = hi
    return at


@numba.njit(cache=True)
def _condition(
    data: U8, at: int, end: int, least: int, conditions: I64, row: int, bounds: I64, used: int
) -> tuple[int, int]:
    """Write a condition of a place from `least` on; return where it ends, -1 where there is none, and bounds used."""
    three, at = _array(data, at, end)
    place, at = _integer(data, at, end)
    count, at = _array(data, at, end)
    if at < 0 or three != 3 or place < least or place >= _MOST_PLACES or count > MAX_INTERVALS:
        return -1, used
    at = _intervals(data, at, end, count, bounds, used)
    if at < 0 or at >= end or (data[at] != 0xC2 and data[at] != 0xC3):
        return -1, used
    null = int(data[at]) & 1
    if count == 0 and null == 0:
        return -1, used
    conditions[row, 0] = place | null << NULL | count << COUNT
    if count == 1:
        conditions[row, 1], conditions[row, 2] = bounds[used, 0], bounds[used, 1]
        return at + 1, used
    conditions[row, 1], conditions[row, 2] = used, 0
    return at + 1, used + count


@numba.njit(cache=True)
def _filter(
    data: U8, at: int, end: int, starts: I64, conditions: I64, bounds: I64, box: int, row: int, used: int
) -> tuple[int, int, int]:
    """Write a filter's boxes behind those before; return how many boxes, conditions, bounds there are, or -1."""
    many, at = _array(data, at, end)
    if at < 0 or many > MAX_BOXES:
        return -1, row, used
    for _ in range(many):
        columns, at = _array(data, at, end)
        if at < 0 or columns > MAX_COLUMNS:
            return -1, row, used
        least = 0
        for _column in range(columns):
            at, used = _condition(data, at, end, least, conditions, row, bounds, used)
            if at < 0:
                return -1, row, used
            least = (conditions[row, 0] & (_MOST_PLACES - 1)) + 1
            row += 1
        box += 1
        starts[box] = row
    return (box if at == end else -1), row, used


@numba.njit(cache=True)
def read(
    data: U8, ends: I64, taken: Bool, boxes: I64, starts: I64, conditions: I64, bounds: I64
) -> tuple[int, int, int]:
    """Read terms i at data[ends[i]:ends[i + 1]] into arrays as `FilterColumns` has them; return the lengths used.

    Those that are not taken have no boxes. There must be room for a box, a condition and an interval a byte.
    """
    box = row = used = 0
    for i in range(len(ends) - 1):
        found, rows, many = _filter(data, ends[i], ends[i + 1], starts, conditions, bounds, box, row, used)
        taken[i] = found >= 0
        if found >= 0:
            box, row, used = found, rows, many
        boxes[i + 1] = box
    return box, row, used


ENTRIES = (read,)
"""The kernels that are called from Python."""
