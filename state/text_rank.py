"""Ranks of texts: a dictionary sorted by value, so that a text's number says where it stands among the others.

Texts have no order codes of 64 bits, but within one batch their places in a sorted list are as good: exact, and in
the order of the values. What is sorted stays so: the new texts of a batch are sorted among themselves and merged in.

    sorted    Aa  Bb  Cc          new  Ca  Ab         order of all:  Aa  Ab  Bb  Ca  Cc
    number     0   1   2                3   4         (as numbers)    0   4   1   3   2

Two orders: `numbers` False, by bytes (of UTF-8 the order of the code points); True, decimals of one scale written
canonically ("-0.50": no sign but "-", no zeros in front): by sign, then by length, then by bytes.

Cost: `order` O(n + m log m) comparisons of 20 ns, n sorted and m new texts; `places` O(log n) each, 0.2 us.
"""

from __future__ import annotations

import numba
import numpy as np

from state.byte_table import U8, Strings
from state.change_batch import I64, Bool

_MINUS = 45


@numba.njit(cache=True)
def _compare(data: U8, one: int, one_stop: int, other: int, other_stop: int, numbers: bool) -> int:
    """Return the sign of the order of two texts."""
    sign = 1
    shorter = (one_stop - one) - (other_stop - other)
    if numbers:
        below = one < one_stop and data[one] == _MINUS
        if below != (other < other_stop and data[other] == _MINUS):
            return -1 if below else 1
        if below:
            sign = -1
        if shorter != 0:
            return -sign if shorter < 0 else sign
    for k in range(min(one_stop - one, other_stop - other)):
        a, b = data[one + k], data[other + k]
        if a != b:
            return -sign if a < b else sign
    if shorter == 0:
        return 0
    return -1 if shorter < 0 else 1


@numba.njit(cache=True)
def _merge(
    data: U8, starts: I64, stops: I64, numbers: bool, order: I64, begin: int, middle: int, end: int, spare: I64
) -> None:
    """Merge the sorted runs [begin, middle) and [middle, end) of `order`."""
    length = middle - begin
    for i in range(length):
        spare[i] = order[begin + i]
    left, right, at = 0, middle, begin
    while left < length and right < end:
        a, b = spare[left], order[right]
        if _compare(data, starts[a], stops[a], starts[b], stops[b], numbers) <= 0:
            order[at] = a
            left += 1
        else:
            order[at] = b
            right += 1
        at += 1
    while left < length:
        order[at] = spare[left]
        left += 1
        at += 1


@numba.njit(cache=True)
def _sort(data: U8, starts: I64, stops: I64, numbers: bool, first: int, order: I64, spare: I64) -> None:
    """Sort the numbers in `order`, of which those before `first` are sorted already."""
    n, width = len(order), 1
    while width < n - first:
        for begin in range(first, n, 2 * width):
            middle, end = min(begin + width, n), min(begin + 2 * width, n)
            _merge(data, starts, stops, numbers, order, begin, middle, end, spare)
        width *= 2
    _merge(data, starts, stops, numbers, order, np.int64(0), first, n, spare)  # for a literal 0 numba compiles again


@numba.njit(cache=True)
def _places(data: U8, starts: I64, stops: I64, numbers: bool, past: Bool, out: I64) -> None:
    """Count the texts below each of the last len(out) ones, among the others; an equal one counts where `past`."""
    count = len(starts) - len(out)
    for i in range(len(out)):
        wanted = count + i
        low, high = 0, count
        while low < high:
            mid = (low + high) // 2
            sign = _compare(data, starts[mid], stops[mid], starts[wanted], stops[wanted], numbers)
            if sign < 0 or (sign == 0 and past[i]):
                low = mid + 1
            else:
                high = mid
        out[i] = low


ENTRIES = (_sort, _places)
"""The kernels that are called from Python."""


def order(strings: Strings, first: int, numbers: bool) -> I64:
    """Return the numbers of `strings` in the order of their values; those before `first` are in order already."""
    found = np.arange(len(strings))
    if len(strings) > 1:
        spare = np.empty(len(strings), np.int64)
        _sort(strings.data, strings.starts, strings.stops, numbers, first, found, spare)
    return found


def places(strings: Strings, wanted: Strings, past: Bool, numbers: bool) -> I64:
    """Return for each of `wanted` how many of the sorted `strings` are below it, or equal to it where `past`."""
    every, out = strings.then(wanted), np.empty(len(wanted), np.int64)
    _places(every.data, every.starts, every.stops, numbers, past, out)
    return out
