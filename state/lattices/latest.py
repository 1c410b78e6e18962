"""The last event of a history: x at tick t, and how far silence behind it is known.

    x@t, silent up to u        the outcomes: x@t, or any y@v with v > u            final: u reaches the last tick

The paper's x@t is u = t. What it says of ticks before t is forgotten: that two statements contradict each other is
found where one says silent of a tick that the other has an event at, and only if no later event came between.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from state.lattices.lattice import Lattice
from state.lattices.tick import Tick


@dataclass(slots=True, eq=False)
class Latest(Lattice):
    """`value` at `tick`; -1 and None where no event is known.

    upto: all ticks after `tick` up to this one are silent.  end: the last tick that the history has.
    """

    tick: int = -1
    value: Hashable | None = None
    upto: int = -1
    end: float = inf

    def leq(self, other: Latest) -> bool:
        """Whether this may evolve to `other`."""
        if other.tick == self.tick:
            return other.value == self.value and self.upto <= other.upto
        return self.upto < other.tick and self.upto <= other.upto

    def bound(self, other: Latest) -> Latest | None:
        """Return the later event, and the longer silence."""
        first, last = (self, other) if self.tick <= other.tick else (other, self)
        differ = first.tick == last.tick and first.value != last.value
        if differ or first.tick < last.tick <= first.upto:
            return None
        return Latest(last.tick, last.value, max(first.upto, last.upto), self.end)

    @property
    def final(self) -> bool:
        """Whether nothing can come any more."""
        return self.upto >= self.end

    @property
    def now(self) -> Any:
        """The last event that is known, None if none is."""
        return self.value

    def admits(self, outcome: tuple[int, Hashable | None]) -> bool:
        """Whether the last event may turn out to be (tick, value)."""
        return outcome == (self.tick, self.value) or self.upto < outcome[0] <= self.end


def latest(ticks: Sequence[Tick]) -> Latest:
    """Return the last event of a whole history whose ticks may be unknown. *Cost*: O(ticks).

    >>> latest([Tick.of("a"), Tick(), Tick.of("b"), Tick.of(None), Tick()])
    Latest(tick=2, value='b', upto=3, end=4)
    """
    events = [at for at, tick in enumerate(ticks) if tick.value is not None]
    last = events[-1] if events else -1
    upto = last
    while upto + 1 < len(ticks) and ticks[upto + 1].known:
        upto += 1
    return Latest(last, ticks[last].value if events else None, upto, len(ticks) - 1)
