"""The first k of members that are only ever added: the list only becomes better.

    k = 2    (3, 7)  →  (3, 5)  →  (1, 3)          final: no other member will come

As a set of rows it is not monotone: 7 left. As a list it is: no list after (3, 5) has a second place beyond 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from state.lattices.lattice import Lattice


@dataclass(slots=True, eq=False)
class BestK(Lattice):
    """The least `k` of the members known, ascending; no two members are equal. `done`: no other will come."""

    k: int
    members: tuple[Any, ...] = ()
    done: bool = False

    def leq(self, other: BestK) -> bool:
        """Whether this may evolve to `other`."""
        if self.done:
            return other.done and other.members == self.members
        return self._with(other.members) == other.members

    def bound(self, other: BestK) -> BestK | None:
        """Return the best of both; None where one that is done lacks a member of them."""
        members = self._with(other.members)
        if any(each.done and each.members != members for each in (self, other)):
            return None
        return BestK(self.k, members, self.done or other.done)

    def _with(self, members: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(sorted({*self.members, *members})[: self.k])

    @property
    def final(self) -> bool:
        """Whether no other member will come."""
        return self.done

    @property
    def now(self) -> tuple[Any, ...]:
        """The best of the members known."""
        return self.members

    def admits(self, outcome: tuple[Any, ...]) -> bool:
        """Whether the list may turn out so."""
        return outcome == self.members if self.done else self._with(outcome) == outcome
