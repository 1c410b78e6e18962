"""The squares of the plane of r.x and s.x, by which a join with ranges gets an equality to hash by.

A subscription is entered once for each square that its ranges touch, and a pair of rows looks only at its own. It works
for ranges that are known to lie within bounds, by somebody who knows the data.
"""

from __future__ import annotations

from itertools import product

WIDTH = 50_000
"""Of a square: twice what most ranges are wide."""


def squares(lo0: int, hi0: int, lo1: int, hi1: int) -> tuple[tuple[int, int], ...]:
    """Return the squares that ranges touch.

    >>> squares(-5, 10, 40_000, 60_000)
    ((0, 0), (0, 1))
    """
    return tuple(product(_parts(lo0, hi0), _parts(lo1, hi1)))


def _parts(lo: int, hi: int) -> range:
    return range(max(lo, 0) // WIDTH, hi // WIDTH + 1)
