"""Columns grow by a quarter."""

from __future__ import annotations

import numpy as np

from overlay.column import widened


def test_rows_stay_and_new_ones_are_filled() -> None:
    column = np.arange(100, dtype=np.int32)
    wider = widened(column, 101, -1)
    assert len(wider) == 125 and wider[:100].tolist() == column.tolist() and set(wider[100:].tolist()) == {-1}
    assert widened(wider, 125) is wider and len(widened(wider, 1_000)) == 1_000
    assert len(widened(np.zeros(0, np.bool_), 1)) == 64
