"""What a shard answers a registration with, where it is not the answer's value (`operators/answer.py`).

A registration is answered by exactly one of

    value      what the answer is: an order code, or parts
    Rows       the answer's rows, perhaps in several records
    Digest     what tells whether the answer is the one that the edge has
    Same       the answer is the one that the edge has
    Refused    the shard does not take the registration, and says why
    Later      the shard has said enough in this batch: it is to be registered again

Of one version only the first answer in a batch counts, with all its parts.
"""

from __future__ import annotations

import msgspec


class Rows(msgspec.Struct, frozen=True, array_like=True, tag=1):
    """Some rows of an answer, each as its bytes. `last`: no more of them follow under the registration's version."""

    rows: tuple[bytes, ...]
    last: bool = True


class Digest(msgspec.Struct, frozen=True, array_like=True, tag=2):
    """How many rows an answer has, and the two lanes of the sum of their hashes, each modulo 2**64."""

    count: int
    low: int
    high: int


class Same(msgspec.Struct, frozen=True, array_like=True, tag=3):
    """The answer is the one whose digest the edge sent."""


class Refused(msgspec.Struct, frozen=True, array_like=True, tag=4):
    """The registration is not taken. `code` is stable; `message` says why and `hint` what would work instead."""

    code: str
    message: str
    hint: str = ""


class Later(msgspec.Struct, frozen=True, array_like=True, tag=5):
    """The registration was not taken yet: it is to be written again."""


Reply = Rows | Digest | Same | Refused | Later

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
    return _FIXED_BYTES + sum(len(row) + _BYTES_A_ROW for row in rows)


def decode_reply(data: bytes) -> Reply:
    """Read what `encode_reply` wrote. Raises msgspec.DecodeError, also for a reply that is not known here."""
    return _DECODER.decode(data)
