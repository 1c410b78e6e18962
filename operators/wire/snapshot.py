"""The record `snapshot`, shard to edge: what registrations are answered with.

    version new [parts] [replies]        version: of the registration that is answered

A registration's answer is in `replies` where that has one, else in `parts` where that has one, else in `new`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from operators.answer import Parts, decode_parts, encode_parts
from operators.operator import Answers
from operators.reply import Reply, decode_reply, encode_reply
from operators.wire.columns import Columns, nullable, write
from operators.wire.header import Header
from state.change_batch import I64, Bool

BYTES_PER_ANSWER = 24


@dataclass(slots=True)
class PackedSnapshot:
    """Answers to registrations: for the registration `version[i]` it is `replies[i]` where there is one.

    Elsewhere it is `parts[i]` where there are parts, and else `new[i]`, NULL where not `has_new[i]`.
    """

    header: Header
    version: I64
    new: I64
    has_new: Bool
    parts: dict[int, Parts]
    replies: dict[int, Reply] = field(default_factory=dict)


def pack_snapshot(header: Header, version: I64, answers: Answers, replies: Mapping[int, Reply] | None = None) -> bytes:
    """Return one record of answers; `version[i]` is that of the registration which `answers` has at i.

    Where `replies` has i, that is the answer, and what `answers` has there means nothing.
    """
    others, rows = {}, range(len(version))
    if answers.parts:
        parts = [encode_parts(answers.parts[i]) if i in answers.parts else None for i in rows]
        others["parts"] = pa.array(parts, pa.binary())
    if replies:
        others["replies"] = pa.array([encode_reply(replies[i]) if i in replies else None for i in rows], pa.binary())
    return write(header, {"version": version} | nullable("new", answers.new, answers.has_new), others)


def read_snapshot(header: Header, columns: Columns) -> PackedSnapshot:
    """Read a record. Raises ValueError, KeyError, msgspec.DecodeError where it is not sound."""
    header.check_chunk()
    parts = {i: decode_parts(data) for i, data in enumerate(columns.optional("parts")) if data is not None}
    replies = {i: decode_reply(data) for i, data in enumerate(columns.optional("replies")) if data is not None}
    return PackedSnapshot(header, columns.ints("version"), *columns.values("new"), parts, replies)
