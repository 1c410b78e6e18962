"""Grounds over the rows of a test."""

from __future__ import annotations

from collections.abc import Sequence

from operators.bound_channel import BoundChannel, OrderingKey
from operators.ground import Ground
from state.ordering import Ordering
from state.row_store import RowStore
from tests.operators.watched import RELATION, Change, batch_of

TEXT_COLUMNS = (1, 5, 6)


def ground_of(bound: BoundChannel, rows: Sequence[Change], changes: Sequence[Change] = ()) -> Ground:
    """Return the ground of `changes` to `rows`, with what a channel needs; without changes it is still."""
    store = RowStore(len(RELATION.columns), TEXT_COLUMNS)
    store.commit(store.replay(batch_of(rows)))
    store.rank(bound.ranked)
    orderings: dict[OrderingKey, Ordering] = {key: Ordering.of(*key, store.still()) for key in bound.orderings}
    return Ground(RELATION, store, orderings, store.replay(batch_of(changes)) if changes else store.still())
