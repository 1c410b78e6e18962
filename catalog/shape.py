"""Shapes and regions: a compiled subscription is a region (one point in a plane of ranges) of a shape."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from state.order_code import INT64_MAX, INT64_MIN


class Shape(msgspec.Struct, frozen=True, order=True, array_like=True):
    """What subscriptions have in common once their constants are taken out; one index serves all of a shape.

    `aggregate` is `min` or `max`; `equal` are the columns compared with a constant, in DDL order; `range` is
    the range attribute, or None where the subscription has no range (every row of the group is in).
    """

    relation: str
    aggregate: str
    measure: str
    equal: tuple[str, ...]
    range: str | None

    @property
    def key(self) -> str:
        """Canonical text of the shape, its identity on the wire."""
        return msgspec.json.encode(self).decode()

    @classmethod
    def from_key(cls, key: str) -> Shape:
        """Read what `key` wrote."""
        return msgspec.json.decode(key, type=cls)


def group_key(values: tuple[int | str, ...]) -> bytes:
    """Return the canonical bytes of a group: a JSON array of order codes (text itself for VARCHAR)."""
    return msgspec.json.encode(values)


@dataclass(frozen=True, slots=True)
class Region:
    """Where one subscription lives in its shape: the group, and a closed range of order codes.

    "No bound" is the end of the 64 bits: `x >= INT64_MIN` holds for every code, so it needs no flag.
    `empty` marks a subscription that no row can ever meet (lo > hi, or an equality no value fulfils).
    """

    shape: Shape
    group: bytes
    lo: int = INT64_MIN
    hi: int = INT64_MAX
    empty: bool = False
