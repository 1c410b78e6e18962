"""The kernels of joined rows as the plain Python they are; `test_join_replay.py` has them against the twin."""

from __future__ import annotations

import numpy as np
import pytest

from overlay.maintain import join_kernels
from overlay.maintain.join_kernels import BOTH, NEW, OLD
from tests.oracle.plain_kernels import plain_kernels

FOREVER = 99
LIVES = [(-1, FOREVER), (-1, 3), (3, FOREVER), (3, 3)]
"""Versions: one there all the time, one that went with change 3, one that came with it, one that never was."""


@pytest.mark.parametrize(
    ("side", "earlier", "alive"),
    [(OLD, 0, [0, 1]), (NEW, 0, [0, 2]), (BOTH, 0, [0]), (OLD, 1, [0]), (NEW, 1, [0])],
)
def test_partners_are_those_of_their_side_of_the_change(side: int, earlier: int, alive: list[int]) -> None:
    roots = np.array([[0], [0], [3], [side]], np.int64)
    steps = np.zeros((6, 2, 1), np.int64)
    steps[join_kernels.PLACE, 0], steps[join_kernels.EARLIER, 0] = 1, earlier
    links, order = np.array([[[0]], [[4]]], np.int64), np.arange(4).reshape(1, 4)
    links = np.repeat(links, 4, axis=2)
    shared = (steps, np.zeros((3, 0), np.int64), links, order, np.zeros((2, 4), np.int64), np.array(LIVES, np.int64).T)
    with plain_kernels(join_kernels):
        counts = np.zeros(1, np.int64)
        join_kernels.count(roots, *shared, counts)
        assert counts.tolist() == [len(alive)]
        for skip in range(len(alive)):
            out = np.full((3, len(alive) - skip), -1, np.int64)
            join_kernels.write(roots, *shared, counts, 0, skip, out)
            assert out.tolist() == [[0] * len(alive[skip:]), alive[skip:], [0] * len(alive[skip:])]
