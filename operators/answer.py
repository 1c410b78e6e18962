"""Parts of an answer: what one channel of a shape holds for one region, as a shard counts it and an edge keeps it.

    channel    part
    min, max   Extremum   value: order code, text where the type has no code, None for NULL
    rows       Tally      count; total 0
    values     Tally      count of values that are not NULL, and their exact total in units (operators/exact_units.py)
    distinct   Members    the values, each once: order codes or texts, None for NULL
               Tally      for COUNT(DISTINCT c): how many values, NULL among them; total: how many are not NULL

Exact: totals are integers of any size, so that a value that comes and goes leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from state.byte_runs import byte_runs


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

_NUMBER_BYTES = 9
_TEXT_BYTES = 5
_DECODER = msgspec.msgpack.Decoder(Parts)


def encode_parts(parts: Parts) -> bytes:
    """Return the bytes of an answer's parts, in the order of the shape's channels."""
    return msgspec.msgpack.encode(parts)


def encoded_size(parts: Parts) -> int:
    """Return at most how many bytes `encode_parts` gives. Cost: O(members), 60 ns each."""
    return sum(_size(part) for part in parts) + _TEXT_BYTES


def apart(parts: Parts, most: int) -> list[Parts]:
    """Return an answer as several of at most `most` bytes: the members of a DISTINCT are shared out, all else is short.

    Members that are told apart belong together, in any order.
    """
    part = parts[0]
    if not isinstance(part, Members) or encoded_size(parts) <= most:
        return [parts]
    return [(Members(run),) for run in runs(part.values, most - 3 * _TEXT_BYTES)]


def runs(values: Sequence[int | str | None], most: int) -> Iterator[tuple[int | str | None, ...]]:
    """Cut values into runs whose encodings take at most `most` bytes each, or are one value."""
    return (tuple(values[run]) for run in byte_runs(map(_value_size, values), most))


def _size(part: Part) -> int:
    if isinstance(part, Members):
        return sum(map(_value_size, part.values)) + 2 * _TEXT_BYTES
    return 2 * _TEXT_BYTES + (_NUMBER_BYTES + len(part.digits) if isinstance(part, Tally) else _value_size(part.value))


def _value_size(value: int | str | None) -> int:
    return _TEXT_BYTES + len(value.encode()) if isinstance(value, str) else _NUMBER_BYTES


def decode_parts(data: bytes) -> Parts:
    """Read what `encode_parts` wrote. Raises msgspec.DecodeError, ValueError for a total that is no number."""
    parts: Parts = _DECODER.decode(data)
    for part in parts:
        if isinstance(part, Tally):
            int(part.digits, 16)
    return parts
