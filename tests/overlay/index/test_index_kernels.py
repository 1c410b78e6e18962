"""The smallest kernels, as compiled and as plain Python."""

from __future__ import annotations

import random

import numpy as np
import pytest

from overlay.index import index_kernels as kernels


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("dim", [0, 1])
def test_select_puts_one_point_in_its_place(compiled: bool, dim: int) -> None:
    select = kernels._select if compiled else kernels._select.py_func
    source = random.Random(dim)
    for n in (1, 2, 3, 50):
        points = source.sample([(x, y) for x in range(9) for y in range(9)], n)
        tx, ty = np.array([p[0] for p in points]), np.array([p[1] for p in points])
        tp = np.arange(n, dtype=np.int32)
        k = source.randrange(n)
        select(tx, ty, tp, 0, n, k, dim)
        key = (lambda p: p) if dim == 0 else (lambda p: (p[1], p[0]))
        moved = [points[i] for i in tp.tolist()]
        assert moved == list(zip(tx.tolist(), ty.tolist(), strict=True))
        assert moved[k] == sorted(points, key=key)[k]
        assert all(key(p) < key(moved[k]) for p in moved[:k]) and all(key(p) > key(moved[k]) for p in moved[k + 1 :])
