"""What a kind of channel says of itself: the contract that each kind's module fulfils with its `KIND`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from catalog.query.channel import Channel
from catalog.schema.relation import Relation
from operators.answer import Part
from operators.batch_view import BatchView, Places
from operators.channel_binding import ChannelBinding, OrderingKey
from operators.delta import Delta
from state.change_batch import I64, Bool
from state.rank_order import RankKey


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ChannelKind:
    """What a shard must know of any channel.

    lacks: why no channel like this one can be served for a relation, whose columns it names rightly; '' where it can.
    orderings: those that it needs, by its column, and its equality columns and range.
    measured: whether it orders by its column's values, so that texts there must be ranked.
    rank: the order of rows that it needs, () for none.
    """

    lacks: Callable[[Channel, Relation], str]
    orderings: Callable[[int | None, OrderingKey], tuple[OrderingKey, ...]]
    measured: bool = False
    rank: Callable[[Channel, Relation], RankKey] = lambda _channel, _relation: ()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RangeKind(ChannelKind):
    """A kind whose messages are about rectangles of ranges, and whose answers are parts.

    find: the messages of a batch.  nothing: the part of a region that no row can meet.
    parts: the parts of regions.  codes: where a part may be one order code, those, and where there is one.
    unbounded: whether a part may be of any size.
    """

    find: Callable[[BatchView, ChannelBinding], Iterator[Delta]]
    nothing: Part
    parts: Callable[[BatchView, ChannelBinding, Places], list[Part]]
    codes: Callable[[BatchView, ChannelBinding, Places], tuple[I64, Bool]] | None = None
    unbounded: bool = False


def of_a_column(channel: Channel, _relation: Relation) -> str:
    """Return why a channel is none where it must be about a column."""
    return "" if channel.column is not None else f"`{channel.kind}` needs a column"


def its_own_ordering(_column: int | None, order: OrderingKey) -> tuple[OrderingKey, ...]:
    """Return the ordering by what the channel compares."""
    return (order,)
