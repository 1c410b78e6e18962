"""Messages for tests of the stages behind the operator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from catalog.query.channel import channel_of
from catalog.query.shape import group_key
from catalog.schema.relation import Column, Relation
from catalog.types.column_type import ColumnType, Kind
from operators.operator import Messages
from shard.outgoing import Outgoing
from state.causes import Causes
from state.change_batch import ChangeBatch

INTEGER = ColumnType(Kind.INTEGER)
RELATION = Relation(
    "t",
    (Column("id", INTEGER, False), Column("x", INTEGER), Column("y", INTEGER), Column("s", ColumnType(Kind.VARCHAR))),
    ("id",),
    "t",
)
LOW = channel_of("t", "min", "y", (), "x")
HIGH = channel_of("t", "max", "y", (), "x")
NAMES = channel_of("t", "distinct", "s", (), "s")
_TYPES = {"cause": np.int32, "channel": np.int32, "group": np.int32, "has_old": np.bool_, "has_new": np.bool_}


def messages_of(rows: Sequence[dict[str, int]], groups: list[bytes], texts: list[str]) -> Messages:
    """Return messages of the channels LOW, HIGH and NAMES; what a row does not say is 0."""
    columns = {
        column.name: np.array([row.get(column.name, 0) for row in rows], _TYPES.get(column.name, np.int64))
        for column in fields(Messages)
        if column.name not in ("channels", "groups", "texts")
    }
    return Messages([LOW, HIGH, NAMES], groups, texts=texts, **columns)


def outgoing_of(
    rows: Sequence[dict[str, int]], groups: list[bytes] | None = None, texts: list[str] | None = None
) -> Outgoing:
    """Return messages numbered from 100, caused by rows at the offset 7 + cause."""
    m = max((row.get("cause", 0) for row in rows), default=0) + 1
    ones = np.ones((4, m), np.bool_)
    where = np.zeros(m, np.int32), np.arange(7, 7 + m, dtype=np.int64)
    changes = ChangeBatch([b"{}"] * m, ones[0], ones.astype(np.int64), ones, {}, *where)
    messages = messages_of(rows, groups or [group_key(())], texts or [])
    return Outgoing.of(messages, changes, Causes.of("t", changes), 99, RELATION)


def on_the_line(channels: Sequence[int], groups: list[bytes] | None = None) -> Outgoing:
    """Return one message a cause: number i is about the ranges lo <= i <= hi, and says 10 i."""
    rows = [
        {"cause": i, "channel": channel, "group": i % len(groups or [b""]), "new": 10 * i, "has_new": 1}
        | {"lo_min": -(2**63), "lo_max": i, "hi_min": i, "hi_max": 2**63 - 1}
        for i, channel in enumerate(channels)
    ]
    return outgoing_of(rows, groups)
