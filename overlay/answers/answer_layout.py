"""Answers that are more than one order code: their parts, how messages change them, when they differ.

    SELECT COUNT(*), AVG(price)      channels  (rows *)  (values price)
                                     parts     (7, 0)    (6, 6150)          count and exact total in units
                                     outputs   7         10.25

An edge keeps the parts, not the outputs: a part takes every message exactly (totals are integers of any size), and an
output is read from its part. In memory a part is its bare content: an `Extremum` its value, a `Tally` the pair (count,
total), and the `Members` of a DISTINCT, which stands alone, a set.

Two answers differ if one of their outputs is written otherwise: an AVG and a SUM of doubles are kept exactly and told
as the nearest double, so 1e16 and 1e16 + 1 are the same answer and no delivery, until enough is added.
Cost: 0.3 us a message, 1 us to compare and write a new answer, 0.5 us more for each output that is rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from catalog.query.channel import Channel
from catalog.query.shape import Output, Shape
from catalog.types.column_type import ColumnType
from operators.answer import Extremum, Members, Part, Parts, Tally
from overlay.answers.answer_text import OutputText, output_text, rounded, sorted_texts
from overlay.delivery.delivery import NULL

Value = int | str | None
Pair = tuple[int, int]
PartState = Value | Pair
States = tuple[PartState, ...]
Whole = States | set[Value]
"""All of an answer: the states of its parts in the order of the shape's channels, or the set of a DISTINCT."""

Differs = Callable[[PartState, PartState], bool]


class Reader(NamedTuple):
    """One output: the part it is read from, whether two states of it differ in the output, and the output's text."""

    part: int
    differs: Differs
    text: OutputText


class AnswerLayout:
    """How answers of one shape are read; `types` are those of the outputs' columns (None for COUNT(*))."""

    def __init__(self, shape: Shape, types: Sequence[ColumnType | None]) -> None:
        self.channels = shape.channels
        self.distinct = shape.outputs[0].function == "distinct"
        self.readers = tuple(
            Reader(
                self.channels.index(shape.channel_of(output)),
                _differs(output, type_),
                output_text(output.function, type_),
            )
            for output, type_ in zip(shape.outputs, types, strict=True)
        )
        self.types: tuple[ColumnType | None, ...] = tuple(_type(shape, types, channel) for channel in self.channels)

    def differ(self, old: States, new: States) -> bool:
        """Whether two answers (not DISTINCT) are written otherwise. Cost: O(outputs)."""
        for part, differs, _ in self.readers:
            before, after = old[part], new[part]
            if before is not after and differs(before, after):
                return True
        return False

    def text(self, whole: Whole) -> str:
        """Return the answer as JSON: a scalar, an array of several outputs, or the sorted array of a DISTINCT."""
        if isinstance(whole, set):
            return self.values_text(whole)
        if len(self.readers) == 1:
            part, _, text = self.readers[0]
            return text(whole[part])
        return f"[{','.join([text(whole[part]) for part, _, text in self.readers])}]"

    def body(self, old: Whole | None, new: Whole | None) -> str:
        """Return what a delivery says of a change, as members of its JSON object; None: nothing was, or is, told."""
        if self.distinct:
            before, after = _members(old), _members(new)
            return self.difference(before - after, after - before)
        return f'"old":{NULL if old is None else self.text(old)},"new":{NULL if new is None else self.text(new)}'

    def difference(self, removed: set[Value], added: set[Value]) -> str:
        """Return what a delivery says of a DISTINCT whose members have changed."""
        return f'"removed":{self.values_text(removed)},"added":{self.values_text(added)}'

    def place(self, channel: Channel) -> int:
        """Return which part `channel` is read into."""
        return 0 if len(self.channels) == 1 else self.channels.index(channel)

    def type_of(self, channel: Channel) -> ColumnType | None:
        """Return the type of a channel's column."""
        return self.types[self.place(channel)]

    def values_text(self, values: set[Value]) -> str:
        """Return values of a DISTINCT as a JSON array, NULL first, then in order. Cost: O(n log n)."""
        return f"[{','.join(sorted_texts(values, self.types[0], self.readers[0].text))}]"


def states_of(parts: Parts) -> Whole:
    """Return what an edge keeps of `parts`."""
    if len(parts) == 1 and isinstance(parts[0], Members):
        return set(parts[0].values)
    return tuple(state_of(part) for part in parts)


def parts_of(whole: Whole) -> Parts:
    """Return the parts that `states_of` has read, members in order: equal answers have equal parts."""
    if isinstance(whole, set):
        return (Members(tuple(sorted(whole, key=lambda value: (value is not None, value)))),)
    return tuple(part_of(state) for state in whole)


def _members(whole: Whole | None) -> set[Value]:
    return whole if isinstance(whole, set) else set()


def state_of(part: Part) -> PartState:
    """Return what an edge keeps of a part that is no `Members`."""
    assert not isinstance(part, Members), "DISTINCT stands alone"
    return part.value if isinstance(part, Extremum) else (part.count, part.total)


def part_of(state: PartState) -> Part:
    """Return the part that `state_of` has read."""
    return Tally.of(*state) if isinstance(state, tuple) else Extremum(state)


def _differs(output: Output, type_: ColumnType | None) -> Differs:
    nearest = rounded(output.function, type_)
    if nearest is not None:
        return lambda old, new: old != new and nearest(*pair_of(old)) != nearest(*pair_of(new))
    if output.function == "count":
        return lambda old, new: pair_of(old)[0] != pair_of(new)[0]
    return _sum_differs if output.function == "sum" else lambda old, new: old != new


def _sum_differs(old: PartState, new: PartState) -> bool:
    (count, total), (new_count, new_total) = pair_of(old), pair_of(new)
    return total != new_total or (count == 0) != (new_count == 0)


def pair_of(state: PartState) -> Pair:
    """Return the state of a part that counts."""
    return state  # type: ignore[return-value]


def _type(shape: Shape, types: Sequence[ColumnType | None], channel: Channel) -> ColumnType | None:
    for output, type_ in zip(shape.outputs, types, strict=True):
        if shape.channel_of(output) == channel:
            return type_
    return None
