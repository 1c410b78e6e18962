"""The record `messages`, shard to edge: reformulated messages with the seq and the cause of each.

    seq channel group rows old new lo_min lo_max hi_min hi_max [texts]      a row each message
    cause  topic partition offset several                                   wire/cause_table.py

A cause that did not change several rows meets a plain answer once at most.
The bounds of a message are told from each other, and seq from the row's number (all modulo 2**64, which is exact).

Format 1 had partition and offset of each message, and in the header the causes that changed several rows; an edge
still reads it, since an engine of before may have written a batch that is not applied yet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from operators.best_messages import BestMessages
from operators.operator import Messages
from operators.wire.cause_table import Caused, cause_columns, read_causes
from operators.wire.columns import Columns, dictionary, nullable, text_list, write
from operators.wire.header import Header
from state.causes import Causes
from state.change_batch import I64, Bool

BYTES_PER_MESSAGE = 96


@dataclass(slots=True)
class PackedMessages:
    """`Messages` as an edge reads them: with the header, each message's seq and its causing row's position.

    several: bool[messages], whether the cause is one that changed several rows; None where no cause did.
    topic: place of the cause's topic in the header's `topics`; None where there are not several.
    """

    header: Header
    seq: I64
    partition: I64
    offset: I64
    messages: Messages
    several: Bool | None = None
    topic: I64 | None = None


def pack_messages(header: Header, messages: Messages, seq: I64, causes: Causes, several: Bool | None = None) -> bytes:
    """Return one record of `messages`, whose `cause` ascends and has numbers of `causes`; `seq` has one entry each.

    several: bool[causes], those that changed several rows (None: none). The header's `channels` and `topics` are filled
    in here.
    """
    rows = len(seq)
    named, steps = cause_columns(messages.cause, causes, several)
    numbers = {
        "seq": seq - np.arange(rows),
        "channel": messages.channel,
        "rows": messages.rows,
        **rectangle_columns(messages),
        **named,
    }
    numbers |= nullable("old", messages.old, messages.has_old) | nullable("new", messages.new, messages.has_new)
    others = {"group": dictionary(messages.group, pa.array(messages.groups, pa.binary()))}
    if messages.texts:
        others["texts"] = text_list(messages.texts, rows)
    header = msgspec.structs.replace(header, channels=messages.channels, topics=causes.topics)
    return write(header, numbers, others, steps)


def read_messages(header: Header, columns: Columns) -> PackedMessages:
    """Read a record. Raises ValueError, KeyError where its columns do not fit together."""
    header.check_chunk()
    group, groups = columns.groups()
    old, has_old = columns.values("old")
    new, has_new = columns.values("new")
    caused = read_causes if columns.has("cause") else _swept
    cause, partition, offset, several, topic = caused(header, columns)
    messages = Messages(
        channels=header.channels,
        groups=groups,
        cause=cause.astype(np.int32),
        channel=columns.places("channel", len(header.channels)).astype(np.int32),
        group=group,
        rows=columns.ints("rows"),
        old=old,
        has_old=has_old,
        new=new,
        has_new=has_new,
        texts=columns.texts() or [],
        **read_rectangles(columns),
    )
    seq = columns.ints("seq") + np.arange(columns.layout.rows)
    return PackedMessages(header, seq, partition, offset, messages, several, topic)


def rectangle_columns(messages: Messages | BestMessages) -> dict[str, I64]:
    """Return the columns of the bounds."""
    return {
        "lo_max": messages.lo_max,
        "below": messages.lo_max - messages.lo_min,
        "inside": messages.hi_min - messages.lo_max,
        "above": messages.hi_max - messages.hi_min,
    }


def read_rectangles(columns: Columns, count: int | None = None) -> dict[str, Any]:
    """Return the bounds of the first `count` messages, or all, by name."""
    lo_max, below, inside, above = (columns.ints(name)[:count] for name in ("lo_max", "below", "inside", "above"))
    hi_min = lo_max + inside
    return {"lo_min": lo_max - below, "lo_max": lo_max, "hi_min": hi_min, "hi_max": hi_min + above}


def _swept(header: Header, columns: Columns) -> Caused:
    """Number the causes of a record of format 1: those that changed several rows alike in all chunks of a batch."""
    partition, offset = columns.ints("partition"), columns.ints("offset")
    if not header.sweeps:
        return np.arange(columns.layout.rows), partition, offset, None, None
    numbers = {place: i for i, place in enumerate(header.sweeps)}
    places = zip(partition.tolist(), offset.tolist(), strict=True)
    swept = np.array([numbers.get(place, -1) for place in places], np.int64)
    return np.where(swept >= 0, swept, len(numbers) + np.arange(len(swept))), partition, offset, swept >= 0, None
