"""The contract of an operator: ordered changes in, reformulated messages out, and a state that is bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from catalog.shape import Region, Shape
from state.change_batch import I32, I64, Bool, ChangeBatch


@dataclass(slots=True)
class Messages:
    """Reformulated messages as columns, in causal order (those of one change are adjacent).

    A message says: every subscription of `shapes[shape]` in group `groups[group]` whose closed range
    [lo, hi] has lo_min <= lo <= lo_max and hi_min <= hi <= hi_max now has the answer `new` (an order code;
    NULL where `has_new` is False). Interface paper 2.4.1: OUTER_L < lo <= INNER_L, INNER_R <= hi < OUTER_R,
    with open bounds made closed. `cause[i]` is the index of the change in its batch.
    """

    shapes: list[Shape]
    groups: list[bytes]
    cause: I32
    shape: I32
    group: I32
    new: I64
    has_new: Bool
    lo_min: I64
    lo_max: I64
    hi_min: I64
    hi_max: I64

    def __len__(self) -> int:
        return len(self.cause)


class Operator(Protocol):
    """What a shard runs. Pure: no I/O, no clock, no random; same state and input, same bytes out."""

    def listen(self, shapes: Sequence[Shape]) -> None:
        """Make the orderings that `shapes` need; those already there cost nothing."""
        ...

    def forget(self, shapes: Sequence[Shape]) -> None:
        """Drop `shapes`, and the orderings that no other shape needs."""
        ...

    def snapshot(self, regions: Sequence[Region]) -> tuple[I64, Bool]:
        """Return the current answers of `regions` (order codes and validity); their shapes must be listened to."""
        ...

    def apply(self, changes: ChangeBatch) -> Messages:
        """Apply `changes` one by one and return the messages they cause for the shapes listened to."""
        ...

    def dump(self) -> bytes:
        """Return the whole state; the class's `load` reads it back."""
        ...
