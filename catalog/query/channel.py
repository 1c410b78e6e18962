"""Channels: what a shard computes for whoever listens, and what a message is about.

    tag  channel            kind       column    a message says                                     part of an answer
    1    ExtremumChannel    min, max   measure   the extremum is now `new`                          Extremum
    2    PresenceChannel    distinct   v         a value has come (`new`) or gone (`old`)           Members, Tally
    3    TallyChannel       rows       c | None  a row (of which c is not NULL) has come or gone    Tally, total 0
                            values     c         the same, with c's value; or it is another one     Tally
    4    ImageChannel       image      None      a row was so before, and is so now                 rows, Tally
    5    BestChannel        best       None      a row has come or gone, or stands elsewhere        rows in order

On the wire and in what is stored a channel is an array whose first member is its tag, a number. Before there were tags
the first member was the table's name, a text: so neither can be taken for the other, and both are read. A tag is never
given to another class.
"""

from __future__ import annotations

from typing import Any

import msgspec

from catalog.query.keyed import Keyed


class _Channel(Keyed, frozen=True, order=True, array_like=True):
    """What all channels over the rows of a range have."""

    relation: str
    kind: str
    column: str | None
    equal: tuple[str, ...]
    range: str | None

    @property
    def columns(self) -> set[str]:
        """The columns that it names."""
        return {*self.equal, *(name for name in (self.column, self.range) if name is not None)}


class ExtremumChannel(_Channel, frozen=True, order=True, array_like=True, tag=1):
    """The least or greatest value of a column."""


class PresenceChannel(_Channel, frozen=True, order=True, array_like=True, tag=2):
    """Which values of a column there are."""


class TallyChannel(_Channel, frozen=True, order=True, array_like=True, tag=3):
    """How many rows, or how many values of a column and their total."""


class ImageChannel(_Channel, frozen=True, order=True, array_like=True, tag=4):
    """All changes of a table's rows, whatever is asked of them: it has neither equalities nor a range."""

    kind: str = "image"
    column: str | None = None
    equal: tuple[str, ...] = ()
    range: str | None = None


class Order(msgspec.Struct, frozen=True, order=True, array_like=True):
    """One column of an ORDER BY. Without `nulls_first`, NULL stands behind all values."""

    column: str
    descending: bool
    nulls_first: bool


class BestChannel(_Channel, frozen=True, order=True, array_like=True, tag=5):
    """The first rows of a range in an order, for all who ask for at most `most` of them; one of `MOSTS`."""

    order: tuple[Order, ...]
    most: int

    @property
    def columns(self) -> set[str]:
        """The columns that it names."""
        compared = {*self.equal, *(each.column for each in self.order)}
        return compared if self.range is None else compared | {self.range}


MOSTS = (1, 2, 5, 10, 20, 50, 100)
"""How many rows a channel of first rows may be for."""

Channel = ExtremumChannel | PresenceChannel | TallyChannel | ImageChannel | BestChannel

_OF_KIND: dict[str, type[ExtremumChannel | PresenceChannel | TallyChannel]] = {
    "min": ExtremumChannel,
    "max": ExtremumChannel,
    "distinct": PresenceChannel,
    "rows": TallyChannel,
    "values": TallyChannel,
}
_TAGS = {kind: made.__struct_config__.tag for kind, made in _OF_KIND.items()}
"""Of the kinds that there were before there were tags."""
_KINDS: dict[str, type[Channel]] = {**_OF_KIND, "image": ImageChannel, "best": BestChannel}


def channel_of(relation: str, kind: str, column: str | None, equal: tuple[str, ...], range_: str | None) -> Channel:
    """Return the channel of an aggregate. Raises KeyError for a kind that no such channel has."""
    return _OF_KIND[kind](relation, kind, column, equal, range_)


def is_known(channel: Channel) -> bool:
    """Whether channels of this class have this kind: a record of another version may say what no channel is."""
    return _KINDS.get(channel.kind) is type(channel)


def channel_from_key(key: str) -> Channel:
    """Read a channel's `key`, or one of before there were tags. Raises msgspec.ValidationError where it is none."""
    channel: Channel = msgspec.convert(tagged_channel(msgspec.json.decode(key)), Channel)
    return channel


def tagged_channel(key: Any) -> Any:
    """Return a channel's decoded key with its tag, which one of before does not have; all else as it is."""
    old = isinstance(key, list) and len(key) > 1 and isinstance(key[0], str) and isinstance(key[1], str)
    return [_TAGS[key[1]], *key] if old and key[1] in _TAGS else key
