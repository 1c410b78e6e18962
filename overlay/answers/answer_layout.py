"""How the answers of one shape are read, compared and written; each kind of answer has a layout of its own.

    SELECT COUNT(*), AVG(price)      channels  (rows *)  (values price)
                                     parts     (7, 0)    (6, 6150)          count and exact total in units
                                     outputs   7         10.25              each read from its part by a `Reader`

Two answers differ if one of their outputs is written otherwise: an AVG and a SUM of doubles are kept exactly and told
as the nearest double, so 1e16 and 1e16 + 1 are the same answer and no delivery, until enough is added.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

from catalog.query.best_shape import BestShape
from catalog.query.channel import Channel
from catalog.query.shape import Output, Shape
from catalog.types.column_type import ColumnType
from overlay.answers.answer import Answer, PartState, pair_of
from overlay.answers.answer_text import OutputText, output_text, rounded

Differs = Callable[[PartState, PartState], bool]
Kept = TypeVar("Kept", bound=Answer)


class Reader(NamedTuple):
    """One output: the part it is read from, whether two states of it differ in the output, and the output's text."""

    part: int
    differs: Differs
    text: OutputText


class AnswerLayout(ABC, Generic[Kept]):
    """What answers of one kind need; `types` are those of the outputs' columns (None for COUNT(*))."""

    def __init__(self, shape: Shape | BestShape, types: Sequence[ColumnType | None]) -> None:
        self.channels = shape.channels
        self.readers = tuple(
            Reader(
                self.channels.index(shape.channel_of(output)),
                _differs(output, type_),
                output_text(output.function, type_),
            )
            for output, type_ in zip(shape.outputs, types, strict=True)
        )
        self.types: tuple[ColumnType | None, ...] = tuple(_type(shape, types, channel) for channel in self.channels)

    @abstractmethod
    def differ(self, old: Kept, new: Kept) -> bool:
        """Whether two answers are written otherwise."""

    @abstractmethod
    def text(self, answer: Kept) -> str:
        """Return the answer as JSON."""

    @abstractmethod
    def body(self, old: Kept | None, new: Kept | None) -> str:
        """Return what a delivery says of a change, as members of its JSON object; None: nothing was, or is, told."""

    def place(self, channel: Channel) -> int:
        """Return which part `channel` is read into."""
        return 0 if len(self.channels) == 1 else self.channels.index(channel)

    def type_of(self, channel: Channel) -> ColumnType | None:
        """Return the type of a channel's column."""
        return self.types[self.place(channel)]


def _differs(output: Output, type_: ColumnType | None) -> Differs:
    nearest = rounded(output.function, type_)
    if nearest is not None:
        return lambda old, new: old != new and nearest(*pair_of(old)) != nearest(*pair_of(new))
    if output.function == "count":
        return lambda old, new: pair_of(old)[0] != pair_of(new)[0]
    if output.function == "count_distinct":
        return lambda old, new: pair_of(old)[1] != pair_of(new)[1]
    return _sum_differs if output.function == "sum" else lambda old, new: old != new


def _sum_differs(old: PartState, new: PartState) -> bool:
    (count, total), (new_count, new_total) = pair_of(old), pair_of(new)
    return total != new_total or (count == 0) != (new_count == 0)


def _type(shape: Shape | BestShape, types: Sequence[ColumnType | None], channel: Channel) -> ColumnType | None:
    for output, type_ in zip(shape.outputs, types, strict=True):
        if shape.channel_of(output) == channel:
            return type_
    return None
