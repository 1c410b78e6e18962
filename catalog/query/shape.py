"""Shapes, channels and regions: a compiled subscription is a region (one point in a plane of ranges) of a shape.

    SELECT MIN(price), COUNT(*) FROM stock WHERE exchange = 'NYSE' AND risk BETWEEN 1 AND 3

    shape      stock, (min price, count *), equal (exchange), range risk       what the edge answers
    channels   (min price), (rows *)  of the same equal and range              what the shard is listened to for
    region     the shape, group ["NYSE"], lo 1, hi 3                           one subscription's constants

Subscriptions of different shapes share channels, so a shard does each piece of work once, whoever asks.

There are three kinds of shapes. The class `Shape` has aggregates over a range; a `FilterShape` has rows, or totals over
rows, under any condition; a `BestShape` has the first rows of a range in an order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from catalog.query.best_shape import BestShape
from catalog.query.channel import Channel, channel_of, tagged_channel
from catalog.query.filter_shape import FilterShape
from catalog.query.keyed import KeyedShape
from catalog.query.output import COUNTS as COUNTS
from catalog.query.output import FUNCTIONS as FUNCTIONS
from catalog.query.output import Output as Output
from state.order_code import INT64_MAX, INT64_MIN

LOWEST_KEY = b""
BEYOND_KEYS = b"\xff"
"""Ends of the order keys (`catalog/types/order_key.py`): every key k has LOWEST_KEY <= k < BEYOND_KEYS."""
NO_GROUP = b"[]"
"""Group of a region whose equalities no value fulfils."""


class Shape(KeyedShape, frozen=True, order=True, array_like=True, tag=1):
    """What subscriptions of aggregates over a range have in common once their constants are taken out.

    Where it is stored or sent its first member is a number, the tag of this kind of shape, as with channels.

    `outputs` is the SELECT list (`distinct` stands alone); `equal` are the columns compared with a constant, in DDL
    order; `range` is the range attribute, or None where there is no range (every row of the group is in).
    """

    relation: str
    outputs: tuple[Output, ...]
    equal: tuple[str, ...]
    range: str | None

    @property
    def grouped(self) -> tuple[str, ...]:
        """The columns whose values are the group of a region."""
        return self.equal

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The channels that its answers are made from, each once, in the order of the SELECT list."""
        return tuple(dict.fromkeys(self.channel_of(output) for output in self.outputs))

    def channel_of(self, output: Output) -> Channel:
        """Return the channel that `output` is read from. COUNT(c) uses the values of c where they come anyway."""
        function, column = output.function, output.column
        if function == "count":
            summed = any(o.function in ("sum", "avg") and o.column == column for o in self.outputs)
            kind = "values" if summed else "rows"
        else:
            kind = _KINDS.get(function, function)
        return channel_of(self.relation, kind, column, self.equal, self.range)


AnyShape = Shape | FilterShape | BestShape
"""What a subscription may be a region of."""


def shape_from_key(key: str) -> AnyShape:
    """Read a shape's `key`, or one of before there were tags. Raises msgspec.ValidationError where it is none."""
    shape: AnyShape = msgspec.convert(_tagged_shape(msgspec.json.decode(key)), AnyShape)
    return shape


_TAG = Shape.__struct_config__.tag
_KINDS = {"sum": "values", "avg": "values", "count_distinct": "distinct"}
"""Of the channels that functions are read from, where they are called otherwise."""


def with_tags(record: dict[str, Any]) -> dict[str, Any]:
    """Return a decoded record with the tags that `shapes` and `channels` of before do not have."""
    for name, tagged in (("shapes", _tagged_shape), ("channels", tagged_channel)):
        if isinstance(record.get(name), list):
            record = {**record, name: [tagged(key) for key in record[name]]}
    return record


def _tagged_shape(key: Any) -> Any:
    """Return a shape's decoded key with its tag, which one of before does not have; all else as it is."""
    return [_TAG, *key] if isinstance(key, list) and key and isinstance(key[0], str) else key


def group_key(values: tuple[int | str, ...]) -> bytes:
    """Return the canonical bytes of a group: a JSON array of order codes (text itself where a type has none)."""
    return msgspec.json.encode(values)


@dataclass(frozen=True, slots=True)
class Region:
    """Where one subscription lives in its shape: the group, and the range.

    Where the range attribute has order codes, the range is closed, lo <= x <= hi. "No bound" is the end of the 64
    bits: `x >= INT64_MIN` holds for every code, so it needs no flag. Where it has none (VARCHAR, wide DECIMAL), `lo`
    and `hi` are order keys (bytes), and the range is lo <= key < hi, which can say all of <, <=, > and >=, since
    key + b"\\0" is the next key; "no bound" is LOWEST_KEY and BEYOND_KEYS.
    `empty` marks a subscription that no row can ever meet (lo > hi, or an equality no value fulfils).
    `terms` are constants of the shape that do not route: neither the shard nor the boxes hang on them. Those of a
    filter are its WHERE (`filter_terms.py`); other shapes have none, so there they are empty.
    """

    shape: AnyShape
    group: bytes
    lo: int | bytes = INT64_MIN
    hi: int | bytes = INT64_MAX
    empty: bool = False
    terms: bytes = b""
