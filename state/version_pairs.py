"""What pairs of versions of rows, as changes found and left them, hold in a column, and which of them differ.

    version   0  1  2  3      pairs   old 0 1 -1      old values  10 11  -      differ  yes no no
    column   10 11 12  .              new 2 1  3      new values  12 11  .

Cost: 2 ns a pair and column.
"""

from __future__ import annotations

import numba
import numpy as np

from state.change_batch import I64, Bool
from state.read_only import read_only

Pairs = tuple[I64, Bool, I64, Bool]
"""Old values, whether there is one (a version, and not NULL), else 0; new ones likewise."""


@numba.njit(cache=True)
def _read(codes: I64, valid: Bool, versions: I64, values: I64, known: Bool) -> None:
    """Read one side: more arrays in one loop, and LLVM would no longer read several values at once."""
    for i in range(len(versions)):
        version = versions[i]
        known[i] = version >= 0 and valid[version]
        values[i] = codes[version] if known[i] else 0


ENTRIES = (_read,)
"""The kernels that are called from Python."""


def read_pairs(codes: I64, valid: Bool, old: I64, new: I64, differ: Bool) -> Pairs:
    """Return what the versions old[i] and new[i] hold, -1 being none; where that differs, mark it in `differ`.

    codes, valid: of one column, by version, as a replay has them.
    """
    column = read_only(codes), read_only(valid)
    before, after = np.empty(len(old), np.int64), np.empty(len(new), np.int64)
    had, has = np.empty(len(old), np.bool_), np.empty(len(new), np.bool_)
    _read(*column, read_only(old), before, had)
    _read(*column, read_only(new), after, has)
    differ |= had != has
    differ |= before != after
    return before, had, after, has
