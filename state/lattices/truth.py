"""Whether a condition holds: which of true and false are possible, and how it looks now.

    {true, false}, now true     "temporarily true"
    {true}                      "finally true"

The paper's boolean has five values: unknown, temporarily true and false, finally true and false. These are no lattice:
temporarily true and temporarily false have two least upper bounds among the final ones, and neither is below the other.
So what is merged is the outcomes that are left; "temporarily" is the estimate, which is no part of the order. Where
both sides of a comparison are known, these are merged, and it is made of them anew.
"""

from __future__ import annotations

from dataclasses import dataclass

from state.lattices.lattice import Lattice
from state.lattices.span import Span


@dataclass(slots=True, eq=False)
class Truth(Lattice):
    """Whether `true` and `false` are still possible, at least one of them; `estimate` is one of these."""

    true: bool = True
    false: bool = True
    estimate: bool = False

    def __post_init__(self) -> None:
        if not self.admits(self.estimate):
            raise ValueError(f"the estimate of a condition is none of its outcomes: {self!r}")

    @classmethod
    def of(cls, value: bool) -> Truth:
        """Return what is known for certain."""
        return cls(value, not value, value)

    def leq(self, other: Truth) -> bool:
        """Whether this may evolve to `other`."""
        return (self.true or not other.true) and (self.false or not other.false)

    def bound(self, other: Truth) -> Truth | None:
        """Return the intersection."""
        true, false = self.true and other.true, self.false and other.false
        if not (true or false):
            return None
        return Truth(true, false, self.estimate if true and false else true)

    @property
    def final(self) -> bool:
        """Whether one of the two is left."""
        return self.true != self.false

    @property
    def now(self) -> bool:
        """The estimate."""
        return self.estimate

    def admits(self, outcome: bool) -> bool:
        """Whether it may turn out so."""
        return self.true if outcome else self.false


def less(one: Span, other: Span) -> Truth:
    """Return whether `one` < `other` in a WHERE, where NULL is not true.

    >>> less(Span(0, 3, False, 1), Span.of(5)), less(Span(0, 9, False, 1), Span.of(5)).final
    (Truth(true=True, false=False, estimate=True), False)
    """
    numbers = one.low <= one.high and other.low <= other.high
    true = numbers and one.low < other.high
    false = one.null or other.null or one.high >= other.low
    here, there = one.estimate, other.estimate
    return Truth(true, false, here is not None and there is not None and here < there)
