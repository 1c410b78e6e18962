"""Where silences of streams have counted: what makes horizons the same again however the input is cut into batches.

A silence (`operators/control.py`) counts where the shard that reads it stands, and that hangs on how batches are cut.
The shard therefore writes down where it was, in the topic `silences`; whoever goes through the same rows again (a new
epoch, a rebuild, a back-test, the verification) goes by that.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from operators.record_error import Number
from state.errors import StateError


class Silenced(msgspec.Struct, frozen=True, omit_defaults=True):
    """Between the rows `after` - 1 and `after` of partition `partition` the stream `stream` has one with time `upto`.

    It is nobody's row: it does nothing but move the horizon. With `hole`, the horizon stands still from there on.
    born: the catalog version that created the stream.  upto: microseconds since 1970.
    """

    stream: str
    born: Number
    partition: Number
    after: Number
    upto: Number
    hole: bool = False

    @property
    def key(self) -> bytes:
        """The key of its record: of two silences at one place the later one alone counts."""
        return f"{self.stream}/{self.born}/{self.partition}/{self.after}{'/hole' if self.hole else ''}".encode()


_DECODER = msgspec.json.Decoder(Silenced)


def by_stream(records: Iterable[tuple[str, bytes | None]]) -> dict[str, tuple[Silenced, ...]]:
    """Return what records of the topic `silences` say; each comes with where it stands, in words, in their order.

    Raises StateError if one is none of those that shards write. Cost: 1 us each.
    """
    found: dict[str, list[Silenced]] = {}
    for where, value in records:
        if value is not None:
            one = _read(value, where)
            found.setdefault(one.stream, []).append(one)
    return {stream: tuple(ones) for stream, ones in found.items()}


def _read(value: bytes, where: str) -> Silenced:
    try:
        return _DECODER.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise StateError(
            f"{where} is not where a silence has counted (begins with {value[:64]!r}): {error}. "
            "Find out who else writes there, or run the version of tidewire that wrote it."
        ) from error
