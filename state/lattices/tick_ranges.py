"""Which ticks of a history are known: what makes repeats harmless, gaps visible, and tells the doubt horizon.

    ticks    0 1 2 3 4 5 6 7 8
    known    x x x . . x x . .        ranges 0..3, 5..7     horizon 3     gaps 3..5

Everything before the horizon is known (Relational 3.1); a gap behind it is asked for again. Ranges are half open,
disjoint, do not touch, and ascend. Gaps are rare and few, so these are a plain tuple.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from math import inf

from state.lattices.lattice import Lattice

Range = tuple[int, int]
"""The ticks from the first on, up to before the second."""


@dataclass(slots=True, eq=False)
class TickRanges(Lattice):
    """The known ticks; `end`: how many the history has. *Cost*: O(ranges) each.

    >>> known = TickRanges(((0, 3),))
    >>> known.add(2, 7), known.horizon
    (((3, 7),), 7)
    """

    ranges: tuple[Range, ...] = ()
    end: float = inf

    def add(self, low: int, high: int) -> tuple[Range, ...]:
        """Note that the ticks of `low`..`high` are known; return those of them that were not."""
        fresh = _without((low, high), self.ranges)
        if fresh:
            self.ranges = _joined((*self.ranges, (low, high)))
        return fresh

    def leq(self, other: TickRanges) -> bool:
        """Whether this may evolve to `other`: what is known stays known."""
        return all(any(low <= first and last <= high for low, high in other.ranges) for first, last in self.ranges)

    def bound(self, other: TickRanges) -> TickRanges:
        """Return all that is known to either: there always is such."""
        return TickRanges(_joined((*self.ranges, *other.ranges)), self.end)

    @property
    def horizon(self) -> int:
        """The doubt horizon: the first tick that is not known."""
        return self.ranges[0][1] if self.ranges and self.ranges[0][0] <= 0 else 0

    @property
    def gaps(self) -> tuple[Range, ...]:
        """What is not known before the last known tick."""
        return tuple([(one[1], other[0]) for one, other in pairwise(((0, 0), *self.ranges)) if one[1] < other[0]])

    @property
    def final(self) -> bool:
        """Whether all ticks are known."""
        return self.horizon >= self.end

    @property
    def now(self) -> int:
        """The horizon."""
        return self.horizon


def _joined(ranges: Iterable[Range]) -> tuple[Range, ...]:
    out: list[Range] = []
    for low, high in sorted(ranges):
        if out and low <= out[-1][1]:
            out[-1] = out[-1][0], max(out[-1][1], high)
        elif low < high:
            out.append((low, high))
    return tuple(out)


def _without(whole: Range, known: Iterable[Range]) -> tuple[Range, ...]:
    """Return the parts of one range that lie in none of `known`, which ascend."""
    at, end = whole
    out: list[Range] = []
    for low, high in known:
        if at < min(low, end):
            out.append((at, min(low, end)))
        at = max(at, high)
    return tuple([*out, (at, end)] if at < end else out)
