"""What an operator of a view takes and gives.

    input      the input's rows, and what a batch did to them: versions, before and after (operators/batch_view.py)
    changes    what that does to the rows of the view, as a ChangeBatch: the view's table takes it as a table does a
               topic's

The unit is the cause: all changes of one record come out together, at most one for each row of the view. So what is
made of the view, at any level, is of an exact prefix of the input. An operator keeps nothing: it reads the orderings
that it `needs`, which the input's table keeps, and lays out what else it wants for each batch.
Source: Relational paper, 3.2 (partial derivatives); worked out for causes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from operators.batch_view import BatchView
from operators.channel_binding import KeptOrder
from state.change_batch import I32, ChangeBatch


@dataclass(frozen=True, slots=True)
class Input:
    """One input in one batch. cause: int32[changes], ascending: the cause of each, as all inputs of the group count."""

    view: BatchView
    cause: I32


class ViewOperator(Protocol):
    """One operator, bound to the relations that it reads and the one that it makes."""

    def needs(self) -> tuple[tuple[KeptOrder, ...], ...]:
        """Return by input the orderings and rank orders that its table must keep (`Table.order_by`)."""
        ...

    def changes(self, inputs: Sequence[Input]) -> ChangeBatch:
        """Return what a batch does to the view: `cause` ascends and is that of the inputs, with gaps.

        Of one cause there is at most one change for each key. A change may leave a row as it is, and a delete may be of
        a row that is not there. `partition` and `offset` are 0.
        """
        ...

    def rows(self, inputs: Sequence[Input]) -> ChangeBatch:
        """Return the view's rows as they are before the batch, each as an insert of cause 0. Cost: O(n log n).

        The inputs' tables keep what is needed already, since texts are told apart by what they are ranked by.
        """
        ...
