"""A number of which bounds are known, or NULL: what MIN, MAX, COUNT, SUM and AVG of a growing history can be.

    MAX, 5 seen, more may come     5 ..        now 5        at least 5
    COUNT, 2 seen, 1 unknown       2 .. 3      now 2
    no event yet                   .. or NULL  now NULL
    nothing unknown                5 .. 5      now 5        final

Merging is intersection. Where the domain has ends, what is at least its greatest is that already: the paper's Figure
2(b) has both >=3 and =3 over 0..3, which are one set of outcomes.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf

from state.lattices.lattice import Lattice

Number = int | float | Fraction
"""Integers and fractions; of floats only the infinite ones."""


@dataclass(slots=True, eq=False)
class Span(Lattice):
    """Every number of `low`..`high` is possible, and NULL where `null`; `estimate` is one of these.

    No number is possible where low > high; then it is NULL.
    """

    low: Number = -inf
    high: Number = inf
    null: bool = True
    estimate: Number | None = None

    def __post_init__(self) -> None:
        if self.low > self.high:
            self.low, self.high = inf, -inf
        if not self.admits(self.estimate):
            raise ValueError(f"the estimate {self.estimate!r} of a span is none of its outcomes: {self!r}")

    @classmethod
    def of(cls, value: Number | None) -> Span:
        """Return what is known for certain; None is NULL."""
        return cls(inf, -inf) if value is None else cls(value, value, False, value)

    def leq(self, other: Span) -> bool:
        """Whether this may evolve to `other`."""
        inside = other.low > other.high or (self.low <= other.low and other.high <= self.high)
        return inside and (self.null or not other.null)

    def bound(self, other: Span) -> Span | None:
        """Return the intersection."""
        low, high, null = max(self.low, other.low), min(self.high, other.high), self.null and other.null
        if low > high and not null:
            return None
        estimates = (other.estimate, self.estimate) if self.leq(other) else (self.estimate, other.estimate)
        return Span(low, high, null, _possible(low, high, null, estimates))

    @property
    def final(self) -> bool:
        """Whether one outcome is left."""
        return self.null if self.low > self.high else self.low == self.high and not self.null

    @property
    def now(self) -> Number | None:
        """The estimate."""
        return self.estimate

    def admits(self, outcome: Number | None) -> bool:
        """Whether a number, or NULL (None), is possible."""
        return self.null if outcome is None else self.low <= outcome <= self.high


def _possible(low: Number, high: Number, null: bool, estimates: tuple[Number | None, Number | None]) -> Number | None:
    """Return the first estimate that is an outcome, else what is next to the first that is a number."""
    for estimate in estimates:
        if null if estimate is None else low <= estimate <= high:
            return estimate
    near = next((estimate for estimate in estimates if estimate is not None), None)
    return None if near is None or low > high else min(max(near, low), high)


def difference(one: Span, other: Span) -> Span:
    """Return what `one` - `other` can be; NULL where either is.

    As a number it falls where `other` rises; as knowledge it only grows: fewer differences are possible.

    >>> difference(Span.of(10), Span(4, 6, False, 4))
    Span(low=4, high=6, null=False, estimate=6)
    """
    if one.low > one.high or other.low > other.high:
        return Span.of(None)
    here, there = one.estimate, other.estimate
    estimate = None if here is None or there is None else here - there
    return Span(one.low - other.high, one.high - other.low, one.null or other.null, estimate)
