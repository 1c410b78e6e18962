"""A row: several values, each of which grows by itself; it is final when all are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from state.lattices.lattice import Lattice


@dataclass(slots=True, eq=False)
class Row(Lattice):
    """The values, as many and of the same types in all rows that are compared. A merge takes effect whole, or not."""

    values: tuple[Any, ...]

    def leq(self, other: Row) -> bool:
        """Whether this may evolve to `other`."""
        return all(one.leq(another) for one, another in zip(self.values, other.values, strict=True))

    def bound(self, other: Row) -> Row | None:
        """Return the upper bounds of all values; None where one has none."""
        bounds = [one.bound(another) for one, another in zip(self.values, other.values, strict=True)]
        return None if None in bounds else Row(tuple(bounds))

    def copy(self) -> Row:
        """Return a value of its own that says the same."""
        return Row(tuple([value.copy() for value in self.values]))

    @property
    def final(self) -> bool:
        """Whether all values are."""
        return all(value.final for value in self.values)

    @property
    def now(self) -> tuple[Any, ...]:
        """What each value shows."""
        return tuple([value.now for value in self.values])
