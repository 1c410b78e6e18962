"""Packed records: how messages, snapshots and registrations travel between shards and edges, as Arrow IPC.

A packed record is one Arrow IPC stream whose schema metadata holds a JSON header under `tw`. Control records
(`operators/control.py`) are JSON objects, so the first byte tells the two apart.

    kind      from -> to       columns
    messages  shard -> edge    seq partition offset shape group new lo_min lo_max hi_min hi_max
    snapshot  shard -> edge    version new            (version: of the registration that is answered)
    register  edge -> shard    version shape group lo hi empty

`shape` and `group` are indexes into lists in the header and in a dictionary column. A record is at most
`MAX_BYTES`; what is larger is cut into chunks, numbered `chunk` of `of` per (epoch, shard, batch, virtual edge).

Every virtual edge that listens gets its own copy, so bytes are what counts. Integers travel as differences from the
column's least value, in the narrowest unsigned type, and a column of equal values not at all; the bounds of a message
are told from each other, and seq from the row's number (all modulo 2**64, which is exact); the buffers are compressed
with LZ4. Measured on messages of random price changes: 17 bytes each instead of 68.

Cost: 0.15 us a message each way, plus 0.2 ms a record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from catalog.shape import Region, Shape
from operators.operator import Messages
from state.change_batch import I32, I64, Bool
from state.errors import TidewireError
from state.order_code import INT64_MAX

MAX_BYTES = 900_000
MAX_REGISTRATIONS = 10_000
BYTES_PER_MESSAGE = 80
BYTES_PER_ANSWER = 24


class PackedError(TidewireError):
    """A packed record cannot be read; it was written by something else or is damaged."""

    code = "packed_record"


class Header(msgspec.Struct, omit_defaults=True):
    """What stands before the columns. A snapshot and the messages of a batch share one numbering of chunks."""

    kind: str
    epoch: int
    shard: str
    batch: int = -1
    first_seq: int = -1
    last_seq: int = -1
    chunk: int = 0
    of: int = 1
    ve: int = -1
    catalog: int = -1
    shapes: list[Shape] = []


@dataclass(slots=True)
class PackedMessages:
    """`Messages` as an edge reads them: with the header, each message's seq and its causing row's position."""

    header: Header
    seq: I64
    partition: I64
    offset: I64
    messages: Messages


@dataclass(slots=True)
class PackedSnapshot:
    """Answers to registrations: `new[i]` (NULL where not `has_new[i]`) for the registration `version[i]`."""

    header: Header
    version: I64
    new: I64
    has_new: Bool


@dataclass(slots=True)
class PackedRegistrations:
    """Regions that a virtual edge registers with a shard, each under its subscription's version."""

    header: Header
    versions: list[int]
    regions: list[Region]


Packed = PackedMessages | PackedSnapshot | PackedRegistrations


def is_packed(value: bytes) -> bool:
    """Whether `value` is a packed record and not a control record."""
    return value[:1] == b"\xff"


def pack_messages(header: Header, messages: Messages, seq: I64, partition: I64, offset: I64) -> bytes:
    """Return one record of `messages`; `seq`, `partition`, `offset` have one entry a message."""
    numbers = {
        "seq": seq - np.arange(len(seq)),
        "partition": partition,
        "offset": offset,
        "shape": messages.shape,
        "lo_max": messages.lo_max,
        "below": messages.lo_max - messages.lo_min,
        "inside": messages.hi_min - messages.lo_max,
        "above": messages.hi_max - messages.hi_min,
    }
    groups = pa.DictionaryArray.from_arrays(
        pa.array(messages.group, pa.int32()), pa.array(messages.groups, pa.binary())
    )
    return _write(header, numbers | _answers(messages.new, messages.has_new), {"group": groups})


def pack_snapshot(header: Header, version: I64, new: I64, has_new: Bool) -> bytes:
    """Return one record of current answers."""
    return _write(header, {"version": version} | _answers(new, has_new), {})


def pack_registrations(header: Header, versions: Sequence[int], regions: Sequence[Region]) -> Iterator[bytes]:
    """Yield records of at most `MAX_REGISTRATIONS` regions each; the header's `shapes` is filled in here."""
    for start in range(0, len(regions), MAX_REGISTRATIONS):
        part = regions[start : start + MAX_REGISTRATIONS]
        shapes = list(dict.fromkeys(region.shape for region in part))
        number = {shape: i for i, shape in enumerate(shapes)}
        numbers = {
            "version": np.array(versions[start : start + MAX_REGISTRATIONS], np.int64),
            "shape": np.array([number[region.shape] for region in part], np.int64),
            "lo": np.array([region.lo for region in part], np.int64),
            "hi": np.array([region.hi for region in part], np.int64),
            "empty": np.array([region.empty for region in part], np.int64),
        }
        groups = pa.array([region.group for region in part], pa.binary()).dictionary_encode()
        yield _write(msgspec.structs.replace(header, shapes=shapes), numbers, {"group": groups})


def unpack(value: bytes) -> Packed:
    """Read a packed record of any kind.

    Raises PackedError if `value` is not one.
    """
    try:
        with pa.ipc.open_stream(value) as reader:
            metadata = reader.schema.metadata
            header = msgspec.json.decode(metadata[b"tw"], type=Header)
            layout = msgspec.json.decode(metadata[b"columns"], type=_Layout)
            columns = _Columns(layout, reader.read_next_batch())
        return _READERS[header.kind](header, columns)
    except (pa.ArrowException, OSError, KeyError, TypeError, StopIteration, msgspec.DecodeError) as error:
        raise PackedError(f"not a packed record ({len(value)} bytes, begins with {value[:8]!r}): {error}") from error


class _Layout(msgspec.Struct):
    """What is needed to read the columns: how many rows, and the least value of each integer column."""

    rows: int
    least: dict[str, int]


@dataclass(slots=True)
class _Columns:
    """The columns of a record that is being read."""

    layout: _Layout
    batch: pa.RecordBatch

    def ints(self, name: str) -> I64:
        least = self.layout.least[name]
        if name not in self.batch.schema.names:
            return np.full(self.layout.rows, least, np.int64)
        values = self.batch.column(name).to_numpy().astype(np.int64)
        values += least
        return values

    def answers(self) -> tuple[I64, Bool]:
        known = self.ints("known").astype(np.bool_)
        return np.where(known, self.ints("new"), 0), known

    def groups(self) -> tuple[I32, list[bytes]]:
        array = self.batch.column("group")
        return array.indices.to_numpy().astype(np.int32, copy=False), array.dictionary.to_pylist()


def _answers(new: I64, has_new: Bool) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of answers; NULL takes the least value, so that it widens nothing."""
    least = int(new.min(where=has_new, initial=INT64_MAX))
    return {"new": np.where(has_new, new, least), "known": has_new.astype(np.int64)}


def _write(header: Header, numbers: Mapping[str, npt.NDArray[Any]], others: Mapping[str, pa.Array]) -> bytes:
    layout = _Layout(len(next(iter(numbers.values()))), {})
    columns = dict(others)
    for name, values in numbers.items():
        least = int(values.min()) if layout.rows else 0
        layout.least[name] = least
        differences = (values.astype(np.int64, copy=False) - np.int64(least)).view(np.uint64)
        top = int(differences.max()) if layout.rows else 0
        if top:
            columns[name] = pa.array(differences.astype(np.min_scalar_type(top), copy=False))
    metadata = {b"tw": msgspec.json.encode(header), b"columns": msgspec.json.encode(layout)}
    batch = pa.RecordBatch.from_pydict(columns, metadata=metadata)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=_OPTIONS) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue().to_pybytes())


def _read_messages(header: Header, columns: _Columns) -> PackedMessages:
    group, groups = columns.groups()
    new, has_new = columns.answers()
    lo_max = columns.ints("lo_max")
    hi_min = lo_max + columns.ints("inside")
    messages = Messages(
        shapes=header.shapes,
        groups=groups,
        cause=np.zeros(columns.layout.rows, np.int32),
        shape=columns.ints("shape").astype(np.int32),
        group=group,
        new=new,
        has_new=has_new,
        lo_min=lo_max - columns.ints("below"),
        lo_max=lo_max,
        hi_min=hi_min,
        hi_max=hi_min + columns.ints("above"),
    )
    seq = columns.ints("seq") + np.arange(columns.layout.rows)
    return PackedMessages(header, seq, columns.ints("partition"), columns.ints("offset"), messages)


def _read_snapshot(header: Header, columns: _Columns) -> PackedSnapshot:
    return PackedSnapshot(header, columns.ints("version"), *columns.answers())


def _read_registrations(header: Header, columns: _Columns) -> PackedRegistrations:
    group, groups = columns.groups()
    names = ("shape", "lo", "hi", "empty")
    rows = zip(group.tolist(), *(columns.ints(name).tolist() for name in names), strict=True)
    regions = [Region(header.shapes[shape], groups[g], lo, hi, bool(empty)) for g, shape, lo, hi, empty in rows]
    return PackedRegistrations(header, columns.ints("version").tolist(), regions)


_Reader = Callable[[Header, _Columns], Packed]
_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")
_READERS: dict[str, _Reader] = {"messages": _read_messages, "snapshot": _read_snapshot, "register": _read_registrations}
