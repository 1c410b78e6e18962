"""Channels: what a shard computes for whoever listens, and what a message is about.

    tag  channel            kind       column    a message says                                     part of an answer
    1    ExtremumChannel    min, max   measure   the extremum is now `new`                          Extremum
    2    PresenceChannel    distinct   v         a value has come (`new`) or gone (`old`)           Members, Tally
    3    TallyChannel       rows       c | None  a row (of which c is not NULL) has come or gone    Tally, total 0
                            values     c         the same, with c's value; or it is another one     Tally

On the wire and in what is stored a channel is an array whose first member is its tag, a number. Before there were tags
the first member was the table's name, a text: so neither can be taken for the other, and both are read. A tag is never
given to another class.
"""

from __future__ import annotations

from typing import Any

import msgspec


class _Channel(msgspec.Struct, frozen=True, order=True, array_like=True):
    """What all channels over the rows of a range have."""

    relation: str
    kind: str
    column: str | None
    equal: tuple[str, ...]
    range: str | None

    @property
    def key(self) -> str:
        """Canonical text of the channel, its identity on the wire."""
        return msgspec.json.encode(self).decode()


class ExtremumChannel(_Channel, frozen=True, order=True, array_like=True, tag=1):
    """The least or greatest value of a column."""


class PresenceChannel(_Channel, frozen=True, order=True, array_like=True, tag=2):
    """Which values of a column there are."""


class TallyChannel(_Channel, frozen=True, order=True, array_like=True, tag=3):
    """How many rows, or how many values of a column and their total."""


Channel = ExtremumChannel | PresenceChannel | TallyChannel

_OF_KIND: dict[str, type[Channel]] = {
    "min": ExtremumChannel,
    "max": ExtremumChannel,
    "distinct": PresenceChannel,
    "rows": TallyChannel,
    "values": TallyChannel,
}
_TAGS = {kind: made.__struct_config__.tag for kind, made in _OF_KIND.items()}


def channel_of(relation: str, kind: str, column: str | None, equal: tuple[str, ...], range_: str | None) -> Channel:
    """Return the channel of this kind. Raises KeyError for a kind that no channel has."""
    return _OF_KIND[kind](relation, kind, column, equal, range_)


def is_known(channel: Channel) -> bool:
    """Whether channels of this class have this kind: a record of another version may say what no channel is."""
    return _OF_KIND.get(channel.kind) is type(channel)


def channel_from_key(key: str) -> Channel:
    """Read a channel's `key`, or one of before there were tags. Raises msgspec.ValidationError where it is none."""
    channel: Channel = msgspec.convert(tagged_channel(msgspec.json.decode(key)), Channel)
    return channel


def tagged_channel(key: Any) -> Any:
    """Return a channel's decoded key with its tag, which one of before does not have; all else as it is."""
    old = isinstance(key, list) and len(key) > 1 and isinstance(key[0], str) and isinstance(key[1], str)
    return [_TAGS[key[1]], *key] if old and key[1] in _TAGS else key
