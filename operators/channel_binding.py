"""A channel as one relation's columns: numbered, with the orderings and ranks that it needs.

`bind` in `operators/channel_kinds.py` makes them, since what a channel needs is for its kind to say.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from catalog.query.channel import Channel
from state.errors import TidewireError
from state.rank_order import RankKey

OrderingKey = tuple[tuple[int, ...], int | None]
"""Equality columns and range column of an ordering (state/ordering.py)."""
KeptOrder = OrderingKey | RankKey
"""An ordering, which leaves rows with NULLs out, or a rank order (state/rank_order.py), which has all."""


def orderings_of(orders: Iterable[KeptOrder]) -> list[OrderingKey]:
    """Return those that are orderings."""
    return [cast(OrderingKey, key) for key in orders if not _is_rank(key)]


def ranks_of(orders: Iterable[KeptOrder]) -> list[RankKey]:
    """Return those that are rank orders."""
    return [cast(RankKey, key) for key in orders if _is_rank(key)]


def _is_rank(key: KeptOrder) -> bool:
    """Whether this is a rank order: its members are tuples all of them, where an ordering's second is a number."""
    return all(isinstance(member, tuple) for member in key)


class ChannelError(TidewireError):
    """A channel is not one that this operator can serve, or it is asked for without being listened to."""

    code = "channel"


@dataclass(frozen=True, slots=True)
class ChannelBinding:
    """A channel whose columns are numbers of the relation's columns.

    order: its equality columns and its range.  orderings: those that are kept for it.
    ranked: the text columns that it orders by, and whether their texts are decimals.
    text, range_text: whether the column (the range attribute) has texts in the place of order codes.
    rank: the order of rows that is kept for it, () for none.
    """

    channel: Channel
    column: int | None
    order: OrderingKey
    orderings: tuple[OrderingKey, ...]
    ranked: dict[int, bool]
    text: bool
    range_text: bool
    rank: RankKey = ()

    @property
    def kept(self) -> tuple[OrderingKey | RankKey, ...]:
        """All that is kept for it, sorted."""
        return (*self.orderings, self.rank) if self.rank else self.orderings
