"""Columns grow by an eighth."""

from __future__ import annotations

import numpy as np
import pytest

from overlay.arena.growable_column import widened, zeros


def test_rows_stay_and_new_ones_are_filled() -> None:
    column = np.arange(100, dtype=np.int32)
    wider = widened(column, 101, -1)
    assert len(wider) == 112 and wider[:100].tolist() == column.tolist() and set(wider[100:].tolist()) == {-1}
    assert widened(wider, 112) is wider and len(widened(wider, 1_000)) == 1_000
    assert len(widened(np.zeros(0, np.bool_), 1)) == 64


@pytest.mark.parametrize("shape", [10, 100_000, (10, 3), (100_000, 3)])
def test_zeros_small_and_large(shape: int | tuple[int, int]) -> None:
    array = zeros(shape, np.int64)
    assert array.shape == np.zeros(shape).shape and not array.any() and array.flags.c_contiguous
    array[-1] = 7
    assert array.sum() == 7 * (array[-1].size if array.ndim == 2 else 1)


def test_large_columns_with_two_dimensions_grow_too() -> None:
    column = np.ones((100_000, 2), np.int32)
    wider = widened(column, 100_001, -1)
    assert wider.shape == (112_500, 2) and (wider[:100_000] == 1).all() and (wider[100_000:] == -1).all()
