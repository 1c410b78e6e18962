"""Columns that grow by an eighth."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

Item = TypeVar("Item", bound=np.generic)


def grown(column: npt.NDArray[Item], needed: int, fill: int = 0) -> npt.NDArray[Item]:
    """Return `column` if it has `needed` rows, else a longer copy; new rows are `fill`. Cost: O(1) a row, amortised.

    >>> grown(np.array([1, 2]), 3, -1).tolist()[:3]
    [1, 2, -1]
    """
    if needed <= len(column):
        return column
    shape = (max(needed, len(column) * 9 // 8 + 8), *column.shape[1:])
    longer = np.full(shape, fill, column.dtype) if fill else np.zeros(shape, column.dtype)
    longer[: len(column)] = column
    return longer
