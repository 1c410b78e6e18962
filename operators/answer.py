"""Parts of an answer: what one channel of a shape holds for one region, as a shard counts it and an edge keeps it.

    channel    part
    min, max   Extremum   value: order code, text where the type has no code, None for NULL
    rows       Tally      count; total 0
    values     Tally      count of values that are not NULL, and their exact total in units (operators/unit.py)
    distinct   Members    the values, each once: order codes or texts, None for NULL

Exact: totals are integers of any size, so that a value that comes and goes leaves nothing behind.
"""

from __future__ import annotations

import msgspec


class Extremum(msgspec.Struct, frozen=True, array_like=True, tag="x"):
    """The least or greatest value; None: no row in range has one."""

    value: int | str | None = None


class Tally(msgspec.Struct, frozen=True, array_like=True, tag="t"):
    """How many, and their total in units. `total` travels as text, since it may pass 64 bits."""

    count: int = 0
    digits: str = "0"

    @property
    def total(self) -> int:
        """The total in units."""
        return int(self.digits, 16)

    @classmethod
    def of(cls, count: int, total: int) -> Tally:
        """Return the tally of `count` values with this total."""
        return cls(count, format(total, "x"))


class Members(msgspec.Struct, frozen=True, array_like=True, tag="m"):
    """Distinct values, in no order."""

    values: tuple[int | str | None, ...] = ()


Part = Extremum | Tally | Members
Parts = tuple[Part, ...]

_DECODER = msgspec.msgpack.Decoder(Parts)


def encode_parts(parts: Parts) -> bytes:
    """Return the bytes of an answer's parts, in the order of the shape's channels."""
    return msgspec.msgpack.encode(parts)


def decode_parts(data: bytes) -> Parts:
    """Read what `encode_parts` wrote. Raises msgspec.DecodeError."""
    return _DECODER.decode(data)
