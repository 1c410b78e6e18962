"""Keys of a view's rows: canonical bytes, which are different where the rows are, and say nothing else.

    of a group                 each value: 0 for NULL, or 1 and 8 bytes of order code, or 1, 4 bytes of length, the text
    of a row of a union        place of the input in 2 bytes, the row's key
    of a pair                  4 bytes of length, the left row's key; then 1 and the right one's, or 0

Cost: 10 ns and 1 ns a byte each.
"""

from __future__ import annotations

from collections.abc import Sequence

import numba
import numpy as np

from state.byte_table import U8, Strings
from state.change_batch import I64, Bool


@numba.njit(cache=True)
def _put(data: U8, starts: I64, stops: I64, at: I64, out: U8) -> None:
    """Copy string i to out[at[i]:], and move at[i] behind it."""
    for i in range(len(starts)):
        for k in range(starts[i], stops[i]):
            out[at[i]] = data[k]
            at[i] += 1


ENTRIES = (_put,)
"""The kernels that are called from Python."""


def group_keys(columns: Sequence[tuple[I64, Bool, Strings | None]], count: int) -> Strings:
    """Return the keys of groups. columns: of each the codes, where there is a value, and the texts if it has some."""
    parts: list[Strings] = []
    for codes, valid, texts in columns:
        parts.append(_flags(valid))
        if texts is None:
            parts.append(_numbers(codes, valid, 8))
        else:
            parts.extend((_numbers(texts.lengths, valid, 4), texts))
    return _joined(parts, count)


def union_keys(place: int, keys: Strings) -> Strings:
    """Return the keys of rows of the input at `place` of a union."""
    every = np.ones(len(keys), np.bool_)
    return _joined([_numbers(np.full(len(keys), place), every, 2), keys], len(keys))


def pair_keys(left: Strings, right: Strings, paired: Bool) -> Strings:
    """Return the keys of pairs; `right` is empty where not `paired`."""
    every = np.ones(len(left), np.bool_)
    return _joined([_numbers(left.lengths, every, 4), left, _flags(paired), right], len(left))


def _flags(valid: Bool) -> Strings:
    at = np.arange(len(valid))
    return Strings(valid.astype(np.uint8), at, at + 1)


def _numbers(numbers: I64, there: Bool, width: int) -> Strings:
    """Return numbers as big-endian bytes, nothing where none is there."""
    data = numbers.astype(">i8").view(np.uint8).reshape(len(numbers), 8)[:, 8 - width :].copy().reshape(-1)
    starts = np.arange(len(numbers)) * width
    return Strings(data, starts, starts + np.where(there, width, 0))


def _joined(parts: Sequence[Strings], count: int) -> Strings:
    """Return strings of which each is made of one of every part."""
    lengths = np.zeros(count, np.int64)
    for part in parts:
        lengths += part.lengths
    stops = np.cumsum(lengths)
    out, at = np.empty(int(lengths.sum()), np.uint8), stops - lengths
    for part in parts:
        _put(*part.views, at, out)
    return Strings(out, stops - lengths, stops)
