"""What a batch of a cell sees: each copy's rows with their replay, and one order of the changes of all of them.

    quote    change 0 1 . 2         number 0 1 3        cause 0 1 2
    filing          . . 0 .         number 2            cause 2

Changes are numbered over all tables in the order in which they take effect. What has one record has one cause, also
where that changes rows of several tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from operators.batch_view import BatchView
from state.causes import Causes
from state.change_batch import I32, I64, ChangeBatch


@dataclass(frozen=True, slots=True)
class CellView:
    """One batch of the copies of `tables`, which are in the cell's order, and of the views that are joined with them.

    number: of each table int64[its changes], ascending: what numbers they have among all changes of the batch.
    cause: of each table int32[its changes], ascending: the number of each change's cause in `causes`.
    """

    tables: tuple[str, ...]
    views: tuple[BatchView, ...]
    causes: Causes
    number: tuple[I64, ...]
    cause: tuple[I32, ...]

    @classmethod
    def of(
        cls,
        tables: Sequence[str],
        views: Sequence[BatchView],
        changes: Sequence[ChangeBatch],
        places: Sequence[I64],
    ) -> CellView:
        """Return the view of a batch; `views[i].replay` is that of `changes[i]`, whose records stand at `places[i]`.

        places: int64[changes] a table, ascending: the place of each change's record in the order over all topics.
        Cost: O(changes log changes).
        """
        table = np.repeat(np.arange(len(tables)), [len(place) for place in places])
        place = np.concatenate([*places, np.zeros(0, np.int64)])
        order = np.argsort(place, kind="stable")  # of one record, the tables in their order, then as they come
        number, cause = np.empty(len(order), np.int64), np.empty(len(order), np.int32)
        number[order] = np.arange(len(order))
        begins = np.diff(place[order], prepend=-1) > 0
        cause[order] = np.cumsum(begins) - 1
        ends = np.cumsum([len(each) for each in places])[:-1]
        causes = _causes(views, changes, table[order[begins]], order[begins])
        return cls(
            tuple(tables), tuple(views), causes, tuple(np.split(number, ends)), tuple(np.split(cause, ends))
        )  # fmt: skip

    def beside(self, views: Mapping[str, tuple[BatchView, I32]]) -> CellView:
        """Return the same with views behind the tables: what each does, and the causes of its changes, ascending.

        Of one cause the changes of tables come first, then those of views in their order.
        """
        if not views:
            return self
        cause = (*self.cause, *(causes for _, causes in views.values()))
        order = np.argsort(np.concatenate(cause), kind="stable")
        number = np.empty(len(order), np.int64)
        number[order] = np.arange(len(order))
        ends = np.cumsum([len(each) for each in cause])[:-1]
        made = (*self.views, *(view for view, _ in views.values()))
        return CellView((*self.tables, *views), made, self.causes, tuple(np.split(number, ends)), cause)

    def __len__(self) -> int:
        return sum(map(len, self.number))


def _causes(views: Sequence[BatchView], changes: Sequence[ChangeBatch], table: I64, first: I64) -> Causes:
    """Return the causes whose first changes are of `table`, at `first` among those of all tables end to end."""
    topics = sorted({view.relation.topic for view in views})
    topic = np.array([topics.index(view.relation.topic) for view in views], np.int32)
    partition = np.concatenate([batch.partition for batch in changes])[first]
    offset = np.concatenate([batch.offset for batch in changes])[first]
    return Causes(topics, topic[table], partition.astype(np.int32), offset.astype(np.int64))
