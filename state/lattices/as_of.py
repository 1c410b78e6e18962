"""What is not monotone, as of a position: a current price, a row of a table, a difference that goes up and down.

    x as of 7  →  y as of 9  →  y, closed

Only the newest statement is kept. Positions are of *one* total order, (epoch, batch) say. Of positions that are vectors
two may be incomparable, x as of (1, 0) and y as of (0, 1), and what holds at (1, 1) is neither: there is no least upper
bound without computing it anew.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from state.lattices.lattice import Lattice


@dataclass(slots=True, eq=False)
class AsOf(Lattice):
    """`value` at `position`; -1 and None before anything is known. `closed`: it is so from there on.

    The position of a closed one is where it was closed as far as is known, by which errors are found: no part of it.
    """

    position: int = -1
    value: Hashable | None = None
    closed: bool = False

    def leq(self, other: AsOf) -> bool:
        """Whether this may evolve to `other`."""
        if self.closed:
            return other.closed and other.value == self.value
        if other.closed:
            return self.position <= other.position or self.value == other.value
        return self.position < other.position or (self.position, self.value) == (other.position, other.value)

    def bound(self, other: AsOf) -> AsOf | None:
        """Return the newer one; None where one position has two values, or a closed one another later."""
        first, last = (self, other) if self.position <= other.position else (other, self)
        if first.value != last.value and (first.closed or first.position == last.position):
            return None
        if first.closed:
            return AsOf(first.position, first.value, True)
        return AsOf(last.position, last.value, last.closed)

    @property
    def final(self) -> bool:
        """Whether it is closed."""
        return self.closed

    @property
    def now(self) -> Any:
        """The value as of the newest position."""
        return self.value
