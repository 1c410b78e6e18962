"""The kinds of channels that a shard computes, a module each.

To add one: a class in catalog/query/channel.py; a module beside `range_extremum.py` that says all of it in its `KIND`
(operators/channel_kind.py); and its line in `_KINDS`. Where a channel serves answers of two kinds (the members of a
DISTINCT, or how many they are), the messages are the same ones, and the shape says which parts it is answered by.
"""

from __future__ import annotations

from catalog.query.channel import (
    BestChannel,
    Channel,
    ExtremumChannel,
    ImageChannel,
    PresenceChannel,
    TallyChannel,
    is_known,
)
from catalog.query.shape import AnyShape, Shape
from catalog.schema.relation import Relation
from catalog.types.column_type import Kind
from operators import range_best, range_distinct, range_extremum, range_sums, row_images
from operators.channel_binding import ChannelBinding, ChannelError
from operators.channel_kind import ChannelKind, RangeKind

_KINDS: dict[type[Channel], ChannelKind] = {
    ExtremumChannel: range_extremum.KIND,
    PresenceChannel: range_distinct.KIND,
    TallyChannel: range_sums.KIND,
    ImageChannel: row_images.KIND,
    BestChannel: range_best.KIND,
}


def kind_of(channel: Channel) -> ChannelKind:
    """Return what is done for channels of this one's class."""
    return _KINDS[type(channel)]


def bind(channel: Channel, relation: Relation) -> ChannelBinding:
    """Bind `channel` to the columns of `relation`. Raises ChannelError if it does not fit."""
    names = [column.name for column in relation.columns]
    kind = _KINDS.get(type(channel))
    if kind is None:
        raise ChannelError(f"channel `{channel.key}` is of a kind that this version does not serve")
    if channel.relation != relation.name or not is_known(channel) or not channel.columns <= set(names):
        raise ChannelError(f"channel `{channel.key}` does not fit table `{relation.name}` with columns {names}")
    lacks = kind.lacks(channel, relation)
    if lacks:
        raise ChannelError(f"channel `{channel.key}` does not fit table `{relation.name}`: {lacks}")
    column, range_ = (None if name is None else relation.index(name) for name in (channel.column, channel.range))
    order = tuple(relation.index(name) for name in channel.equal), range_
    rank = kind.rank(channel, relation)
    ordered = {range_, column if kind.measured else None, *(place for place, _, _ in rank)}
    types = {place: relation.columns[place].type for place in ordered if place is not None}
    ranked = {place: type_.kind is Kind.DECIMAL for place, type_ in types.items() if not type_.coded}
    text = channel.column is not None and not relation.column(channel.column).type.coded
    orderings = kind.orderings(column, order)
    return ChannelBinding(channel, column, order, orderings, ranked, text, range_ in ranked, rank)


def answered_by(shape: Shape) -> tuple[tuple[Channel, RangeKind], ...]:
    """Return the channels of `shape`, in their order, each with the kind of its parts in the shape's answers."""
    members = any(output.function == "distinct" for output in shape.outputs)
    return tuple((channel, _answering(channel, members)) for channel in shape.channels)


def is_plain(shape: AnyShape, coded: bool) -> bool:
    """Whether answers of `shape` are one order code; `coded`: whether its (first) column has them."""
    if not (isinstance(shape, Shape) and coded and len(shape.outputs) == 1):
        return False
    ((_, kind),) = answered_by(shape)
    return kind.codes is not None


def is_unbounded(shape: AnyShape) -> bool:
    """Whether a range's answers of `shape` may be of any size."""
    return isinstance(shape, Shape) and any(kind.unbounded for _, kind in answered_by(shape))


def _answering(channel: Channel, members: bool) -> RangeKind:
    kind = kind_of(channel)
    assert isinstance(kind, RangeKind), f"{channel.key} is not answered by parts"
    return range_distinct.COUNTED if kind is range_distinct.KIND and not members else kind
