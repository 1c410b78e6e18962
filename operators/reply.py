"""What a shard answers a registration with, where it is not the answer's value (`operators/answer.py`).

A registration is answered by exactly one of

    value      what the answer is: an order code, or parts
    Rows       the answer's rows, each as `encode_row` writes it, perhaps in several records
    Digest     what tells whether the answer is the one that the edge has
    Same       the answer is the one that the edge has
    Refused    the shard does not take the registration, and says why
    Later      the shard has said enough in this batch: it is to be registered again

Of one version only the first answer in a batch counts, with all its parts.

A batch may have a million of them: none can be part of a cycle, so the garbage collector does not look at them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from state.byte_runs import byte_runs
from state.row_digest import Digest as Told

WINDOW_GONE = "window_gone"
"""Why a question is refused, or ends, that is about a window of event time which is kept no more."""


class Rows(msgspec.Struct, frozen=True, array_like=True, tag=1, gc=False):
    """Some rows of an answer, each as its bytes. `last`: no more of them follow under the registration's version."""

    rows: tuple[bytes, ...]
    last: bool = True


class Digest(msgspec.Struct, frozen=True, array_like=True, tag=2, gc=False):
    """How many rows an answer has, and the two lanes of the sum of their hashes, each modulo 2**64."""

    count: int
    low: int
    high: int


class Same(msgspec.Struct, frozen=True, array_like=True, tag=3, gc=False):
    """The answer is the one whose digest the edge sent, which is this: it may have told something else since."""

    count: int
    low: int
    high: int


class Refused(msgspec.Struct, frozen=True, array_like=True, tag=4, gc=False):
    """The registration is not taken. `code` is stable; `message` says why and `hint` what would work instead."""

    code: str
    message: str
    hint: str = ""


class Later(msgspec.Struct, frozen=True, array_like=True, tag=5, gc=False):
    """The registration was not taken yet: it is to be written again."""


class Asked(NamedTuple):
    """How a filter's rows are asked for.

    told: the digest of the rows that the subscriber has been told: if the answer has it, the reply is `Same`.
    digest_only: else it is a `Digest`, and not the rows.  by_keys: digests are over the key columns alone.
    """

    told: Told | None = None
    digest_only: bool = False
    by_keys: bool = False


PLAINLY = Asked()
"""Just the rows."""

Reply = Rows | Digest | Same | Refused | Later

_encode = msgspec.msgpack.Encoder().encode
_ROW = msgspec.msgpack.Decoder(list[int | str | None])
_ROWS = msgspec.msgpack.Decoder(list[list[int | str | None]])
_PIECES = msgspec.msgpack.Decoder(list[msgspec.Raw])
_ARRAY = b"\xdd"
"""Begins an array whose length stands behind it in four bytes."""
_DECODER = msgspec.msgpack.Decoder(Reply)
_FIXED_BYTES = 40
_BYTES_A_ROW = 5


def encode_reply(reply: Reply) -> bytes:
    """Return the reply's bytes."""
    return msgspec.msgpack.encode(reply)


def reply_size(reply: Reply) -> int:
    """Return at most how many bytes `encode_reply` gives. Cost: O(rows or characters)."""
    if isinstance(reply, Refused):
        return _FIXED_BYTES + sum(len(text.encode()) for text in (reply.code, reply.message, reply.hint))
    rows = reply.rows if isinstance(reply, Rows) else ()
    return _FIXED_BYTES + len(b"".join(rows)) + _BYTES_A_ROW * len(rows)


def rows_apart(reply: Reply, most: int) -> list[Reply]:
    """Return rows as several replies of at most `most` bytes, or of one row; any other reply as it is."""
    if not isinstance(reply, Rows) or reply_size(reply) <= most:
        return [reply]
    sizes = [len(row) + _BYTES_A_ROW for row in reply.rows]
    runs = list(byte_runs(sizes, most - _FIXED_BYTES))
    return [Rows(reply.rows[run], reply.last and run.stop == len(sizes)) for run in runs]


def encode_row(values: Iterable[int | str | None]) -> bytes:
    """Return a row of an answer as bytes: order codes, texts, None for NULL, in the order of the SELECT list."""
    return _encode(tuple(values))


def encode_rows(rows: Iterable[tuple[int | str | None, ...]]) -> list[bytes]:
    """Return `encode_row` of each of many rows. Cost: 0.2 us each."""
    return list(map(_encode, rows))


def decode_row(data: bytes) -> list[int | str | None]:
    """Read what `encode_row` wrote. Raises msgspec.DecodeError."""
    return _ROW.decode(data)


def decode_rows(rows: Sequence[bytes], width: int) -> list[list[int | str | None] | None]:
    """Read many rows of `width` values, None for what is none. Cost: 0.5 us each; thrice as much where one is none.

    They are read as one array, of which each has to be a piece by itself.
    """
    together = _ARRAY + len(rows).to_bytes(4, "big") + b"".join(rows)
    try:
        if list(map(bytes, _PIECES.decode(together))) == list(rows):
            read = _ROWS.decode(together)
            if set(map(len, read)) <= {width}:
                return [*read]
    except (msgspec.DecodeError, RecursionError):
        pass
    return [_row_of(row, width) for row in rows]


def _row_of(data: bytes, width: int) -> list[int | str | None] | None:
    try:
        row = decode_row(data)
    except msgspec.DecodeError:
        return None
    return row if len(row) == width else None


def decode_reply(data: bytes) -> Reply:
    """Read what `encode_reply` wrote. Raises msgspec.DecodeError, also for a reply that is not known here."""
    return _DECODER.decode(data)
