"""The compiled loops over the stamps of a table's rows, each of which passes over them once.

They take plain arrays, C-contiguous, of the types that `row_window.py` says; a stamp is batch << 32 | number, or -1.
"""

from __future__ import annotations

import numba
import numpy as np

from state.change_batch import I32, I64, Bool

BITS = 32
NUMBER = (1 << BITS) - 1
MOST_BATCHES = 1 << 63 - BITS
"""Numbers of batches below this have room in a stamp; rows of a table, which are numbered as int32, have it always."""


@numba.njit(cache=True)
def split(stamp: I64, edges: I32, oldest: int, batch: int, used: Bool) -> tuple[I32, I32, I32]:
    """Return age, number, set of each stamp from batch `oldest` on, of others (-1, -1, 0); mark the sets in `used`."""
    age, number, of = np.full(len(stamp), -1, np.int32), np.full(len(stamp), -1, np.int32), np.zeros_like(edges)
    for i in range(len(stamp)):
        at = stamp[i] >> BITS
        if stamp[i] >= 0 and at >= oldest:
            age[i], number[i], of[i] = batch - at, stamp[i] & NUMBER, edges[i]
            used[edges[i]] = True
    return age, number, of


@numba.njit(cache=True)
def followed(stamp: I64, edges: I32, current: I64, other: I64, other_stamp: I64, other_edges: I32) -> tuple[I64, I32]:
    """Return the columns of the rows that a batch left.

    current: the version of each row, -1 for one that went; rows beyond the old ones are new.
    other: the rows, ascending, whose stamps are those in `other_stamp` and `other_edges`, and not those they had.
    """
    left = 0
    for version in current:
        left += version >= 0
    out, out_edges = np.empty(left, np.int64), np.empty(left, np.int32)
    at, next_other = 0, 0
    for row in range(len(current)):
        is_other = next_other < len(other) and other[next_other] == row
        if current[row] >= 0:
            if is_other:
                out[at], out_edges[at] = other_stamp[next_other], other_edges[next_other]
            elif row < len(stamp):
                out[at], out_edges[at] = stamp[row], edges[row]
            else:
                out[at], out_edges[at] = -1, 0
            at += 1
        next_other += is_other
    return out, out_edges


ENTRIES = (split, followed)
"""The kernels that are called from Python."""
