"""One tick of a history: unknown, then silence or an event (Relational 1.2.1, Figure 2a).

    ?  →  S | =x

Silence is knowledge: nothing happened there, and nothing ever will have.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from state.lattices.lattice import Lattice


@dataclass(slots=True, eq=False)
class Tick(Lattice):
    """`known`: whether anything is. `value`: the event, None for silence.

    >>> tick = Tick()
    >>> tick.merge(Tick.of(3)), tick.final, tick.now
    (True, True, 3)
    """

    known: bool = False
    value: Hashable | None = None

    @classmethod
    def of(cls, value: Hashable | None) -> Tick:
        """Return a tick with an event; with silence where that is None."""
        return cls(True, value)

    def leq(self, other: Tick) -> bool:
        """Whether this may evolve to `other`."""
        return not self.known or (other.known and self.value == other.value)

    def bound(self, other: Tick) -> Tick | None:
        """Return the one that is known; None where two differ."""
        if self.leq(other):
            return other.copy()
        return self.copy() if other.leq(self) else None

    @property
    def final(self) -> bool:
        """Whether anything is known."""
        return self.known

    @property
    def now(self) -> Any:
        """The event; None where there is none yet, or none at all."""
        return self.value

    def admits(self, outcome: Hashable | None) -> bool:
        """Whether the tick may turn out to be an event, or silence (None)."""
        return not self.known or self.value == outcome
