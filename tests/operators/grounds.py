"""Grounds over the rows of a test."""

from __future__ import annotations

from collections.abc import Sequence

from operators.batch_view import BatchView
from operators.channel_binding import ChannelBinding, OrderingKey
from state.ordering import Ordering
from state.rank_order import RankOrder
from state.row_store import RowStore
from tests.operators.watched import RELATION, Change, batch_of

TEXT_COLUMNS = (1, 5, 6)


def ground_of(bound: ChannelBinding, rows: Sequence[Change], changes: Sequence[Change] = ()) -> BatchView:
    """Return the ground of `changes` to `rows`, with what a channel needs; without changes it is still."""
    store = RowStore(len(RELATION.columns), TEXT_COLUMNS)
    store.commit(store.replay(batch_of(rows)))
    store.rank(bound.ranked)
    orderings: dict[OrderingKey, Ordering] = {key: Ordering.of(*key, store.still()) for key in bound.orderings}
    ranks = {bound.rank: RankOrder.of(bound.rank, store.still())} if bound.rank else {}
    replay = store.replay(batch_of(changes)) if changes else store.still()
    return BatchView(RELATION, store, orderings, replay, orders=ranks)
