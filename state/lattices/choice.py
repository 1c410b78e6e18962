"""The first k of candidates that may turn out not to be any: the paper's cheapest flights among those available.

    k = 1    a: 480, maybe    b: 620, surely    c: 700, maybe        now a; final as soon as a is known, whatever c is

What is known of a candidate is a `Truth`, so a flight that is full for now may come back. The list can be final while
candidates are not: as soon as k that are sure stand before every one that is not.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from state.lattices.lattice import Lattice
from state.lattices.truth import Truth


@dataclass(slots=True, eq=False)
class Choice(Lattice):
    """Of each candidate its rank, by which the list is ordered and then by candidate, and whether it is one.

    open: candidates that are not heard of yet may still come. *Cost*: O(candidates) each; `now`, `final` a sort.
    """

    k: int
    candidates: Mapping[Any, tuple[Any, Truth]] = field(default_factory=dict)
    open: bool = True

    def leq(self, other: Choice) -> bool:
        """Whether this may evolve to `other`."""
        if not self.open and (other.open or other.candidates.keys() != self.candidates.keys()):
            return False
        return all(
            name in other.candidates and other.candidates[name][0] == rank and truth.leq(other.candidates[name][1])
            for name, (rank, truth) in self.candidates.items()
        )

    def bound(self, other: Choice) -> Choice | None:
        """Return what is known of each; None where a rank or a truth differs, or the closed one does not know one."""
        sides = (self, other)
        names = self.candidates.keys() | other.candidates.keys()
        if any(not side.open and names != side.candidates.keys() for side in sides):
            return None
        together: dict[Hashable, tuple[Any, Truth]] = {}
        for name in sorted(names):
            known = [side.candidates[name] for side in sides if name in side.candidates]
            truth = known[0][1].bound(known[-1][1])
            if truth is None or known[0][0] != known[-1][0]:
                return None
            together[name] = known[0][0], truth
        return Choice(self.k, together, self.open and other.open)

    def copy(self) -> Choice:
        """Return a value of its own that says the same."""
        return Choice(
            self.k, {name: (rank, truth.copy()) for name, (rank, truth) in self.candidates.items()}, self.open
        )

    @property
    def now(self) -> tuple[tuple[Any, Any], ...]:
        """The first k (rank, candidate) of those that are candidates for now."""
        return tuple(sorted((rank, name) for name, (rank, truth) in self.candidates.items() if truth.now)[: self.k])

    @property
    def final(self) -> bool:
        """Whether the list can never change."""
        if self.open:
            return False
        sure = 0
        for _, name in sorted((rank, name) for name, (rank, _) in self.candidates.items()):
            truth = self.candidates[name][1]
            if sure == self.k or not truth.final:
                return sure == self.k
            sure += truth.now
        return True
