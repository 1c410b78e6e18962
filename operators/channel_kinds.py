"""The kinds of channels that a shard computes: for each class of channel, how its messages and answers are found.

To add one: a class in catalog/query/channel.py, a module beside `range_extremum.py`, and its line in `_KINDS`. Where a
channel serves answers of two kinds (the members of a DISTINCT, or how many they are), the messages are the same ones,
and the shape says which parts it is answered by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from catalog.query.channel import Channel, ExtremumChannel, PresenceChannel, TallyChannel
from catalog.query.shape import Shape
from operators import range_distinct, range_extremum, range_sums
from operators.answer import Extremum, Members, Part, Tally
from operators.batch_view import BatchView, Places
from operators.channel_binding import ChannelBinding
from operators.delta import Delta
from state.change_batch import I64, Bool


@dataclass(frozen=True, slots=True, eq=False)
class ChannelKind:
    """What is done for a channel of one kind.

    find: the messages of a batch.  nothing: the part of a region that no row can meet.
    parts: the parts of regions.  codes: where a part may be one order code, those, and where there is one.
    unbounded: whether a part may be of any size.
    """

    find: Callable[[BatchView, ChannelBinding], Iterator[Delta]]
    nothing: Part
    parts: Callable[[BatchView, ChannelBinding, Places], list[Part]]
    codes: Callable[[BatchView, ChannelBinding, Places], tuple[I64, Bool]] | None = None
    unbounded: bool = False


_KINDS: dict[type[Channel], ChannelKind] = {
    ExtremumChannel: ChannelKind(range_extremum.find, Extremum(), range_extremum.parts, range_extremum.answers),
    PresenceChannel: ChannelKind(range_distinct.find, Members(), range_distinct.parts, unbounded=True),
    TallyChannel: ChannelKind(range_sums.find, Tally(), range_sums.parts),
}
_COUNTED = ChannelKind(range_distinct.find, Tally(), range_distinct.tallies)
"""Presence, of which a shape asks how many values there are."""


def kind_of(channel: Channel) -> ChannelKind:
    """Return what is done for channels of this one's class."""
    return _KINDS[type(channel)]


def answered_by(shape: Shape) -> tuple[tuple[Channel, ChannelKind], ...]:
    """Return the channels of `shape`, in their order, each with the kind of its parts in the shape's answers."""
    members = any(output.function == "distinct" for output in shape.outputs)
    return tuple(
        (channel, _COUNTED if isinstance(channel, PresenceChannel) and not members else kind_of(channel))
        for channel in shape.channels
    )


def is_unbounded(shape: Shape) -> bool:
    """Whether answers of `shape` may be of any size."""
    return any(kind.unbounded for _, kind in answered_by(shape))
