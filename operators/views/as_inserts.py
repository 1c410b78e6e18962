"""The rows of an input as they stood before a batch, as if one cause had put them into an empty table.

So the rows of a view are made by the way that its changes are made, of which they are a case.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from operators.batch_view import BatchView
from operators.channel_binding import KeptOrder, orderings_of, ranks_of
from operators.views.view_operator import Input
from state.ordering import Ordering
from state.rank_order import RankOrder
from state.row_store import Replay


def as_inserts(given: Input, orders: Sequence[KeptOrder]) -> Input:
    """Return a batch of cause 0 that makes the rows of `given`, with these orders of them. Cost: O(n) a column."""
    view, rows = given.view, given.view.replay.rows
    every, nowhere = np.arange(rows), np.full(rows, -1)
    replay = Replay(
        rows=0,
        codes=np.ascontiguousarray(view.replay.codes[:, :rows]),
        valid=np.ascontiguousarray(view.replay.valid[:, :rows]),
        before=nowhere,
        after=every,
        current=every,
        home=view.replay.home[:rows],
        moved=0,
        cause=np.zeros(rows, np.int32),
        entry=every.astype(np.int32),
    )
    none = np.zeros(0, np.int32)
    orderings = {key: Ordering(*key, none) for key in orderings_of(orders)}
    ranks = {key: RankOrder(key, none) for key in ranks_of(orders)}
    return Input(BatchView(view.relation, view.rows, orderings, replay, ranks), replay.cause)
