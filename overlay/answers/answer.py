"""Answers that are more than an order code or a count, by kind, each kind a type of its own.

    kind        SELECT                        in memory                                    parts (operators/answer.py)
    aggregate   COUNT(*), AVG(price)          a tuple: ((7, 0), (6, 6150))                  Tally, Tally
                MIN(price)                    a tuple: (1025,)                             Extremum
                COUNT(DISTINCT exchange)      a tuple: ((3, 2),), NULL being one           Tally
    set         DISTINCT exchange             SetAnswer: {"LSE", "NYSE"}                   Members
    list        symbol ORDER BY .. LIMIT 3    ListAnswer: images of rows, best first       none

Lists are kept in columns (`answers/list_table.py`), and are of this type where one is looked at or stored; all others
are kept one by one. An edge keeps the parts, not the outputs: a part takes every message exactly (totals are integers
of any size). In memory a part is its bare content: an `Extremum` its value, a `Tally` the pair (count, total).
Aggregates are a bare tuple, which its own type tells apart: a class of ours in its place costs a fifth more time a hit.
Plain answers and counts are kept in the columns of slots, unless their policy is MIN CHANGE
(`overlay/maintain/mode.py`).

A new kind is a type here, a layout that writes it (`answers/shape_table.py` names them), and a maintainer, or columns
(`overlay/maintain/maintainers.py`).
"""

from __future__ import annotations

from operators.answer import Extremum, Members, Part, Parts, Tally
from overlay.answers import quota

Value = int | str | None
Pair = tuple[int, int]
PartState = Value | Pair
AggregateAnswer = tuple[PartState, ...]
"""The states of an answer's parts: one for each channel of the shape, in their order."""


class SetAnswer(set[Value]):
    """The values of a DISTINCT; to be changed by `turn` only, once `size` was asked for."""

    __slots__ = ("_size",)
    _size: int

    @property
    def size(self) -> int:
        """How many bytes the texts among the members take (`quota.size_of`). Cost: O(members) once."""
        if not hasattr(self, "_size"):
            self._size = quota.size_of(self)
        return self._size

    def turn(self, value: Value, came: bool) -> None:
        """Let a value come that is no member, or a member go."""
        if isinstance(value, str):
            self._size = self.size + (1 if came else -1) * quota.size_of([value])
        (self.add if came else self.remove)(value)


class ListAnswer(list[bytes]):
    """Images of rows (`operators/reply.py`), in order; images are never changed, so lists and messages share them."""

    __slots__ = ()


Answer = AggregateAnswer | SetAnswer | ListAnswer


def answer_of(parts: Parts) -> Answer:
    """Return what an edge keeps of `parts`."""
    if len(parts) == 1 and isinstance(parts[0], Members):
        return SetAnswer(parts[0].values)
    return tuple(state_of(part) for part in parts)


def parts_of(answer: Answer) -> Parts:
    """Return the parts that `answer_of` has read, members in order: equal answers have equal parts.

    Raises ValueError for a list, which has none.
    """
    if isinstance(answer, ListAnswer):
        raise ValueError("a list of rows has no parts")
    if isinstance(answer, SetAnswer):
        return (Members(tuple(sorted(answer, key=lambda value: (value is not None, value)))),)
    return tuple(part_of(state) for state in answer)


def over_quota(answer: Answer) -> bool:
    """Whether an answer is too large to be kept."""
    return isinstance(answer, SetAnswer) and quota.exceeds(len(answer), answer.size)


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
