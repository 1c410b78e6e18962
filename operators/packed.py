"""Packed records: how messages, snapshots and registrations travel between shards and edges, as Arrow IPC.

A packed record is an Arrow IPC stream whose schema metadata holds a JSON header (`wire/header.py`) before its columns
(`wire/columns.py`). Control records (`operators/control.py`) are JSON objects, so the first byte tells the two apart.

    kind      from -> to       its columns
    messages  shard -> edge    wire/messages.py
    images    shard -> edge    wire/images.py
    best      shard -> edge    wire/best.py
    rows      cell  -> edge    wire/sent_rows.py
    named     cell  -> edge    wire/sent_rows.py
    changes   cell  -> edge    wire/timeline.py
    snapshot  shard -> edge    wire/snapshot.py
    register  edge -> shard    wire/registrations.py
    summary   edge -> shard    wire/summary.py

`channel`, `shape` and `group` are indexes into lists in the header and in a dictionary column. A record is at most
`RECORD_BYTES` (state/byte_runs.py); what is larger is cut into chunks, numbered `chunk` of `of` per (epoch, shard,
batch, virtual edge).

The header says its `format` (`operators/record_error.py`). All that is written is of format 2, but for what edges
register for questions for rows (`operators/needed_format.py`), which is of format 3, and for what a cell with a window
sends (`operators/row_window.py`), which is of format 4; format 1 is still read.

Every virtual edge that listens gets its own copy, so bytes are what counts: 17 a message of random price changes
instead of 68. Cost: 0.15 us a message each way, plus 0.2 ms a record.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import msgspec
import pyarrow as pa

from catalog.query.shape import with_tags
from operators.record_error import OLDEST_FORMAT, format_of, newer_than_we
from operators.wire.best import PackedBest, pack_best, read_best
from operators.wire.columns import Columns, Layout
from operators.wire.header import Header, PackedError
from operators.wire.images import PackedImages, pack_images, read_images
from operators.wire.messages import BYTES_PER_MESSAGE, PackedMessages, pack_messages, read_messages
from operators.wire.registrations import (
    MAX_REGISTRATIONS,
    PackedRegistrations,
    RegionColumns,
    pack_region_columns,
    pack_registrations,
    read_registrations,
)
from operators.wire.sent_rows import PackedNamed, PackedRows, read_named, read_rows
from operators.wire.snapshot import BYTES_PER_ANSWER, PackedSnapshot, pack_snapshot, read_snapshot
from operators.wire.summary import PackedSummary, pack_summary, read_summary
from operators.wire.timeline import PackedChanges, read_changes
from state.errors import StateError

__all__ = [
    "BYTES_PER_ANSWER",
    "BYTES_PER_MESSAGE",
    "MAX_REGISTRATIONS",
    "Header",
    "Packed",
    "PackedBest",
    "PackedChanges",
    "PackedError",
    "PackedImages",
    "PackedMessages",
    "PackedNamed",
    "PackedRegistrations",
    "PackedRows",
    "PackedSnapshot",
    "PackedSummary",
    "RegionColumns",
    "is_packed",
    "pack_best",
    "pack_images",
    "pack_messages",
    "pack_region_columns",
    "pack_registrations",
    "pack_snapshot",
    "pack_summary",
    "unpack",
    "unpack_sound",
]

Packed = (
    PackedMessages
    | PackedImages
    | PackedBest
    | PackedRows
    | PackedNamed
    | PackedChanges
    | PackedSnapshot
    | PackedRegistrations
    | PackedSummary
)

_Reader = Callable[[Header, Columns], Packed]
_READERS: dict[str, _Reader] = {
    "messages": read_messages,
    "images": read_images,
    "best": read_best,
    "rows": read_rows,
    "named": read_named,
    "changes": read_changes,
    "snapshot": read_snapshot,
    "register": read_registrations,
    "summary": read_summary,
}
_DAMAGE = (
    pa.ArrowException, OSError, LookupError, TypeError, ValueError, ArithmeticError, AttributeError, StopIteration,
    MemoryError, RecursionError, msgspec.MsgspecError, StateError,
)  # fmt: skip
"""All that reading damaged bytes raises: each says of some bytes that they are not what they should be."""


def is_packed(value: bytes) -> bool:
    """Whether `value` is a packed record and not a control record."""
    return value[:1] == b"\xff"


def unpack(value: bytes) -> Packed:
    """Read a packed record of any kind.

    Raises PackedError if `value` is not one, whatever is wrong with it.
    """
    record = unpack_sound(value)
    if isinstance(record, PackedRegistrations) and record.astray:
        raise PackedError(f"{record.astray} registrations name a shape or group that their record does not have")
    return record


def unpack_sound(value: bytes) -> Packed:
    """Read a packed record, without the registrations in it that say nothing: they are counted in `astray`.

    Raises PackedError for any other fault.
    """
    metadata: dict[bytes, bytes] = {}
    try:
        source = pa.BufferReader(value)
        with pa.ipc.open_stream(source) as reader:
            metadata = reader.schema.metadata or {}
            newer = newer_than_we(metadata[b"tw"], _READERS)
            batch = reader.read_next_batch()
            newer = newer or _further(reader, source)
        if not newer:
            header = _header(metadata[b"tw"])
            columns = Columns(msgspec.json.decode(metadata[b"columns"], type=Layout), batch)
            columns.check()
            return _READERS[header.kind](header, columns)
    except _DAMAGE as error:
        newer = newer_than_we(metadata.get(b"tw", b""), _READERS)
        if not newer:
            about = f"not a packed record ({len(value)} bytes, begins with {value[:8]!r})"
            raise PackedError(f"{about}: {error}") from error
    raise PackedError(f"a newer tidewire wrote this packed record: it has {newer}", newer=True)


def _header(data: bytes) -> Header:
    """Read a header; one of an older format has shapes and channels without tags."""
    if format_of(data) > OLDEST_FORMAT:
        return msgspec.json.decode(data, type=Header)
    return msgspec.convert(with_tags(msgspec.json.decode(data)), Header)


def _further(reader: pa.RecordBatchStreamReader, source: pa.BufferReader) -> str:
    """Return what a later version has added behind the columns, '' where nothing is."""
    with contextlib.suppress(StopIteration):
        reader.read_next_batch()
        raise ValueError("the columns come in several batches, expected one")
    if source.tell() >= source.size():
        return ""
    with pa.ipc.open_stream(source) as further:
        name = (further.schema.metadata or {})[b"name"].decode()
    return f"a table `{name}`, which this version does not know"
