"""Answers that an edge keeps one by one, by kind, each kind a type of its own.

    kind        SELECT                        in memory                                    parts (operators/answer.py)
    aggregate   COUNT(*), AVG(price)          AggregateAnswer: ((7, 0), (6, 6150))         Tally, Tally
                MIN(price)                    AggregateAnswer: (1025,)                     Extremum
    set         DISTINCT exchange             SetAnswer: {"LSE", "NYSE"}                   Members

An edge keeps the parts, not the outputs: a part takes every message exactly (totals are integers of any size). In
memory a part is its bare content: an `Extremum` its value, a `Tally` the pair (count, total). The kinds are a tuple and
a set under a name, so the tag takes no memory. Plain answers and counts are kept in the columns of slots, unless
their policy is MIN CHANGE (`overlay/maintain/mode.py`).

A new kind is a type here, a layout that writes it (`answers/shape_table.py` names them), and a maintainer
(`overlay/maintain/maintainers.py`).
"""

from __future__ import annotations

from operators.answer import Extremum, Members, Part, Parts, Tally
from overlay.answers import quota

Value = int | str | None
Pair = tuple[int, int]
PartState = Value | Pair
States = tuple[PartState, ...]
"""The states of an answer's parts, in the order of the shape's channels."""


class AggregateAnswer(tuple[PartState, ...]):
    """The states of all parts: one for each channel of the shape."""

    __slots__ = ()

    @property
    def parts(self) -> Parts:
        """What it is made of."""
        return tuple(part_of(state) for state in self)

    @property
    def over_quota(self) -> bool:
        """Whether it is too large to be kept: never."""
        return False


class SetAnswer(set[Value]):
    """The values of a DISTINCT; to be changed by `turn` only, once `size` was asked for."""

    __slots__ = ("_size",)
    _size: int

    @property
    def parts(self) -> Parts:
        """What it is made of, members in order: equal answers have equal parts."""
        return (Members(tuple(sorted(self, key=lambda value: (value is not None, value)))),)

    @property
    def size(self) -> int:
        """How many bytes the texts among the members take (`quota.size_of`). Cost: O(members) once."""
        if not hasattr(self, "_size"):
            self._size = quota.size_of(self)
        return self._size

    @property
    def over_quota(self) -> bool:
        """Whether it is too large to be kept."""
        return quota.exceeds(len(self), self.size)

    def turn(self, value: Value, came: bool) -> None:
        """Let a value come that is no member, or a member go."""
        if isinstance(value, str):
            self._size = self.size + (1 if came else -1) * quota.size_of([value])
        (self.add if came else self.remove)(value)


Answer = AggregateAnswer | SetAnswer


def answer_of(parts: Parts) -> Answer:
    """Return what an edge keeps of `parts`."""
    if len(parts) == 1 and isinstance(parts[0], Members):
        return SetAnswer(parts[0].values)
    return AggregateAnswer(state_of(part) for part in parts)


def state_of(part: Part) -> PartState:
    """Return what an edge keeps of a part that is no `Members`. Raises ValueError for those: they stand alone."""
    if isinstance(part, Extremum):
        return part.value
    if isinstance(part, Tally):
        return part.count, part.total
    raise ValueError("members stand beside another part of an answer, expected them alone")


def part_of(state: PartState) -> Part:
    """Return the part that `state_of` has read."""
    return Tally.of(*state) if isinstance(state, tuple) else Extremum(state)


def pair_of(state: PartState) -> Pair:
    """Return (count, total) of a part that counts. Raises ValueError for an extremum."""
    if isinstance(state, tuple):
        return state
    raise ValueError(f"{state!r} is a value, expected a count and a total")
