"""Runs of rows with given keys in a permutation sorted by them, as `state/ordering.py` keeps it: without a layout.

    columns (k)      rows    4 1 | 0 3 5 | 2          wanted   7        -> [2, 5)
                     k       3 3   7 7 7   9                   8, 9     -> [5, 5), [5, 6)

Cost: O(log n) a key, 0.1 to 0.4 us with 50,000 rows, and log of the run for its end. Nothing is as long as the table.
"""

from __future__ import annotations

import numba
import numpy as np

from state.change_batch import I32, I64


@numba.njit(cache=True)
def _compare(codes: I64, columns: I64, row: int, wanted: I64, i: int) -> int:
    """Return the sign of the order of a row's key and the i-th wanted one."""
    for k in range(len(columns)):
        code = codes[columns[k], row]
        if code != wanted[i, k]:
            return -1 if code < wanted[i, k] else 1
    return 0


@numba.njit(cache=True)
def _runs(codes: I64, columns: I64, rows: I32, wanted: I64, first: I64, stop: I64) -> None:
    """Write where the rows of each wanted key begin and end."""
    for i in range(len(wanted)):
        low, high = 0, len(rows)
        while low < high:
            mid = (low + high) // 2
            if _compare(codes, columns, rows[mid], wanted, i) < 0:
                low = mid + 1
            else:
                high = mid
        first[i] = low
        step = 1  # the run is short beside the table: its end is sought in steps that double
        while low + step <= len(rows) and _compare(codes, columns, rows[low + step - 1], wanted, i) == 0:
            low += step
            step *= 2
        high = min(low + step, len(rows) + 1) - 1
        while low < high:
            mid = (low + high) // 2
            if _compare(codes, columns, rows[mid], wanted, i) == 0:
                low = mid + 1
            else:
                high = mid
        stop[i] = low


ENTRIES = (_runs,)
"""The kernels that are called from Python."""


def key_runs(codes: I64, columns: tuple[int, ...], rows: I32, wanted: I64) -> tuple[I64, I64]:
    """Return where in `rows`, sorted by `columns` of `codes`, the rows of each key stand: [first, stop).

    codes: int64[columns, versions].  wanted: int64[keys, len(columns)].
    """
    first, stop = np.empty(len(wanted), np.int64), np.empty(len(wanted), np.int64)
    _runs(codes, np.array(columns, np.int64), rows, np.ascontiguousarray(wanted), first, stop)
    return first, stop
