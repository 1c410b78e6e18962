"""Packed deliveries: many deliveries in one record, for subscriptions that asked for it (`DELIVER PACKED`).

A record of `deliveries` with the key `@packed` is an Arrow IPC stream of one record batch, a row for each delivery, in
order: those of one transaction and virtual edge (more records where one would be larger than `RECORD_BYTES`).

    id       utf8                  of the subscription
    kind     utf8, dictionary
    version  int64
    n        int64
    old      utf8, dictionary      JSON, as in a record; null where the record has no such member
    new      utf8, dictionary
    at       utf8, dictionary      the position, a JSON object
    removed added    utf8          JSON arrays, for sets, bags and lists; dictionaries where bags share their rows
    changes  int64                 null is 1
    sql reason       utf8          plain text
    certainty final_at   utf8      plain text, of answers about streams
    part of  int64                 of long deliveries (`overlay/delivery/long_delivery.py`)
    form snapshot    utf8, dictionary      plain text, of bags and lists
    same whole key   utf8, dictionary      JSON, likewise

Columns in which no row has a value are left out. The buffers are not compressed, so every implementation of Arrow reads
them; what many rows share is there once.

What one publication tells 100,000 subscriptions is put together in columns, without an object for each of them; all
others are made as JSON first and taken apart again.

Cost: 0.15 us a delivery in columns, 2 us others; 40 bytes each, and its id.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from state.arrow_stream import stream_of
from state.byte_runs import RECORD_BYTES
from state.change_batch import I64

PACKED_KEY = b"@packed"


class Shared(NamedTuple):
    """A column of texts, most of which stand in several rows: row i has `texts[places[i]]`, none where that is -1."""

    places: I64
    texts: Sequence[str]

    @property
    def array(self) -> pa.Array:
        """The column, as a dictionary."""
        nothing = self.places < 0
        places = pa.array(self.places.astype(np.int32, copy=False), mask=nothing if nothing.any() else None)
        return pa.DictionaryArray.from_arrays(places, pa.array(self.texts, pa.string()))


@dataclass(frozen=True, slots=True)
class _Told:
    """Deliveries of kind `change`, a row each; `ids` stand end to end, `sizes` are their bytes."""

    ids: bytes
    sizes: I64
    version: I64
    n: I64

    def columns(self) -> dict[str, pa.Array]:
        """The columns, but for those without values."""
        ends = np.zeros(len(self.sizes) + 1, np.int32)
        np.cumsum(self.sizes, out=ends[1:])
        ids = pa.StringArray.from_buffers(len(self.sizes), pa.py_buffer(ends), pa.py_buffer(self.ids))
        kind = Shared(np.zeros(len(self.sizes), np.int64), ["change"])
        return {"id": ids, "kind": kind.array, "version": pa.array(self.version), "n": pa.array(self.n)}


@dataclass(frozen=True, slots=True)
class Changes(_Told):
    """Changes of values."""

    old: Shared
    new: Shared
    at: Shared

    def columns(self) -> dict[str, pa.Array]:
        """See `_Told`."""
        shared = {"old": self.old.array, "new": self.new.array, "at": self.at.array}
        return _Told.columns(self) | shared


@dataclass(frozen=True, slots=True)
class BagChanges(_Told):
    """Changes of bags: texts of `rows_text` (`overlay/delivery/bag_delivery.py`), and of `key` where rows go by it."""

    removed: Shared
    added: Shared
    at: Shared
    key: Shared | None = None

    def columns(self) -> dict[str, pa.Array]:
        """See `_Told`."""
        shared = {"removed": self.removed.array, "added": self.added.array, "at": self.at.array}
        key = {} if self.key is None or (self.key.places < 0).all() else {"key": self.key.array}
        return _Told.columns(self) | shared | key


_Text = msgspec.Raw | msgspec.UnsetType


class _Row(msgspec.Struct):
    """A delivery that was made as JSON."""

    id: str
    kind: str
    version: int
    n: int
    at: msgspec.Raw
    old: _Text = msgspec.UNSET
    new: _Text = msgspec.UNSET
    removed: _Text = msgspec.UNSET
    added: _Text = msgspec.UNSET
    changes: int | None = None
    sql: str | None = None
    reason: str | None = None
    part: int | None = None
    of: int | None = None
    form: str | None = None
    snapshot: str | None = None
    same: _Text = msgspec.UNSET
    whole: _Text = msgspec.UNSET
    key: _Text = msgspec.UNSET
    certainty: str | None = None
    final_at: str | None = None


def lines_of(value: bytes, wanted: Container[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yield the deliveries of a packed record to those who are `wanted`: their id, and the record's JSON.

    Cost: 0.2 us a delivery, 3 us for each that is wanted.
    """
    with pa.ipc.open_stream(value) as reader:
        table = reader.read_all()
    ids = table.column("id").cast(pa.binary()).to_pylist()
    rows = [row for row, key in enumerate(ids) if key in wanted]
    for row, found in zip(rows, table.take(pa.array(rows, pa.int64())).to_pylist(), strict=True):
        members = [
            f'"{name}":{_written_as_json(name, found[name])}' for name in _MEMBERS if found.get(name) is not None
        ]
        yield ids[row], f"{{{','.join(members)}}}".encode()


def _written_as_json(name: str, value: Any) -> str:
    return value if name in _JSON else msgspec.json.encode(value).decode()


_NUMBERS = ("version", "n", "changes", "part", "of")
_REPEATED = ("kind", "old", "new", "at", "form", "snapshot", "same", "whole", "key")
_VALUES = ("removed", "added")
_COLUMNS = (
    "id",
    "kind",
    "version",
    "n",
    "old",
    "new",
    "at",
    "removed",
    "added",
    "changes",
    "sql",
    "reason",
    "part",
    "of",
    "form",
    "snapshot",
    "same",
    "whole",
    "key",
    "certainty",
    "final_at",
)
_JSON = frozenset({"old", "new", "removed", "added", "at", "same", "whole", "key"})
_MEMBERS = (
    "id", "kind", "version", "n", "form", "snapshot", "same", "whole", "key", "old", "new", "removed", "added", "at",
    "changes", "sql", "certainty", "final_at", "reason", "part", "of",
)  # fmt: skip
"""As they stand in a delivery's JSON."""
_DECODER = msgspec.json.Decoder(_Row)
_ABSENT = {field.name: field.default for field in msgspec.structs.fields(_Row)}
"""What stands where a delivery has no such member."""


class PackedDeliveries:
    """Collects the deliveries of one virtual edge, until `take`."""

    def __init__(self) -> None:
        self._tables: list[pa.Table] = []
        self._rows: list[_Row] = []

    def __bool__(self) -> bool:
        return bool(self._tables or self._rows)

    def add(self, value: bytes) -> None:
        """Add a delivery that was made as JSON."""
        self._rows.append(_DECODER.decode(value))

    def extend(self, changes: Changes | BagChanges) -> None:
        """Add deliveries in columns."""
        if len(changes.n):
            self._close_rows()
            self._tables.append(pa.table(changes.columns()))

    def take(self) -> list[bytes]:
        """Return records of at most `RECORD_BYTES` with all that was added, in order, and begin anew."""
        self._close_rows()
        tables, self._tables = self._tables, []
        if not tables:
            return []
        whole = pa.concat_tables(_alike(tables), promote_options="default").unify_dictionaries().combine_chunks()
        return list(_records(whole.select([name for name in _COLUMNS if name in whole.column_names])))

    def _close_rows(self) -> None:
        if self._rows:
            rows, self._rows = self._rows, []
            columns = {name: list(map(attrgetter(name), rows)) for name in _COLUMNS}
            held = {name: values for name, values in columns.items() if values.count(_ABSENT[name]) < len(values)}
            self._tables.append(pa.table({name: _column(name, _said(values)) for name, values in held.items()}))


def _said(values: list[Any]) -> list[Any]:
    """Return values with JSON as text, None where there is none."""
    return [
        bytes(value).decode() if isinstance(value, msgspec.Raw) else None if value is msgspec.UNSET else value
        for value in values
    ]


def _column(name: str, values: list[Any]) -> pa.Array:
    if name in _NUMBERS:
        return pa.array(values, pa.int64())
    array = pa.array(values, pa.string())
    return array.dictionary_encode() if name in _REPEATED else array


def _alike(tables: list[pa.Table]) -> list[pa.Table]:
    """Return the tables with `removed` and `added` as dictionaries in all of them, if they are so in one."""
    shared = any(name in table.column_names and _is_dictionary(table, name) for table in tables for name in _VALUES)
    return [_with_dictionaries(table) for table in tables] if shared else tables


def _with_dictionaries(table: pa.Table) -> pa.Table:
    for place, name in enumerate(table.column_names):
        if name in _VALUES and not _is_dictionary(table, name):
            table = table.set_column(place, name, table.column(name).dictionary_encode())
    return table


def _is_dictionary(table: pa.Table, name: str) -> bool:
    return bool(pa.types.is_dictionary(table.schema.field(name).type))


def _records(table: pa.Table) -> Iterator[bytes]:
    """Yield the rows as records; what is too large is parted again, until it fits or is one row."""
    rows = table.num_rows * RECORD_BYTES // (table.nbytes + table.nbytes // 20)
    if rows >= table.num_rows or table.num_rows == 1:
        value = stream_of(table)
        if len(value) <= RECORD_BYTES or table.num_rows == 1:
            yield value
            return
        rows = table.num_rows // 2
    rows = max(rows, 1)
    for start in range(0, table.num_rows, rows):
        yield from _records(_compact(table.slice(start, rows).combine_chunks()))


def _compact(table: pa.Table) -> pa.Table:
    """Return rows without the dictionaries' entries that none of them has."""
    for place, name in enumerate(table.column_names):
        if _is_dictionary(table, name):
            column = table.column(name).chunk(0)
            table = table.set_column(place, name, _used(column))
    return table


def _used(column: pa.DictionaryArray) -> pa.DictionaryArray:
    if column.indices.null_count:
        return column.dictionary_decode().dictionary_encode()
    places = column.indices.to_numpy()
    used = np.zeros(len(column.dictionary), np.bool_)
    used[places] = True
    fresh = np.cumsum(used, dtype=np.int32) - 1
    return pa.DictionaryArray.from_arrays(pa.array(fresh[places]), column.dictionary.filter(pa.array(used)))
