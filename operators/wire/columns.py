"""The columns of a packed record: one Arrow IPC stream whose schema metadata holds the header, under `tw`.

Integers travel as differences from the column's least value, in the narrowest unsigned type, and a column of equal
values not at all. A column of `steps` travels as the differences of its neighbours where these span less.
A table with fewer rows than the record is filled up with its last row, which LZ4 makes nothing of.

What a later version adds stands in further streams behind this one, each with its name in the metadata: a reader that
does not know it must not pass it over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from operators.record_error import FORMAT
from operators.wire.header import Header
from state.byte_table import Strings
from state.change_batch import I32, I64, Bool
from state.order_code import INT64_MAX

MAX_ROWS = 1_000_000
"""More than any record has: so many columns of equal values fit into memory."""
_TYPES = {
    "group": pa.dictionary(pa.int32(), pa.binary()),
    "texts": pa.dictionary(pa.int8(), pa.string()),
    "parts": pa.binary(),
    "replies": pa.binary(),
    "low": pa.binary(),
    "high": pa.binary(),
    "terms": pa.binary(),
    "boxes": pa.binary(),
    "have": pa.binary(),
}
"""Columns that are not integers, by what stands before a `/` in their names; among them may have holes:"""
_HOLES = ("texts", "parts", "replies", "low", "high", "have")
Number = TypeVar("Number", bound=np.generic)
_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


class Layout(msgspec.Struct, omit_defaults=True):
    """What is needed to read the columns: how many rows, and the least value of each integer column.

    first: the first value of each column that travels as differences of its neighbours.
    """

    rows: int
    least: dict[str, int]
    first: dict[str, int] = {}


@dataclass(slots=True)
class Columns:
    """The columns of a record that is being read."""

    layout: Layout
    batch: pa.RecordBatch

    def check(self) -> None:
        """Raise ValueError or an ArrowException unless every column is as `write` makes it.

        Arrow trusts what it reads: offsets or places of a damaged record would lead out of its memory.
        Cost: O(bytes), 4 ns a message.
        """
        self.batch.validate()
        rows, names = self.layout.rows, self.batch.schema.names
        if not 0 <= rows <= MAX_ROWS or (names and self.batch.num_rows != rows) or len(set(names)) < len(names):
            raise ValueError(f"{self.batch.num_rows} rows of the columns {names}, expected {rows}")
        for name, type_ in zip(names, self.batch.schema.types, strict=True):
            holes = self.batch.column(name).null_count
            what = name.partition("/")[0]
            known = _TYPES.get(what)
            if known is not None and name != "group":
                self.batch.column(name).validate(full=True)
            fits = pa.types.is_unsigned_integer(type_) if known is None else type_ == known
            if not fits or (holes and what not in _HOLES):
                raise ValueError(f"the column `{name}` is {type_} with {holes} holes")

    def ints(self, name: str) -> I64:
        """Return a column of integers. Raises KeyError where there is none."""
        least = self.layout.least[name]
        if name not in self.batch.schema.names:
            values = np.full(self.layout.rows, least, np.int64)
        else:
            values = self.batch.column(name).to_numpy().astype(np.int64)
            values += least
        if name in self.layout.first and len(values):
            values[0] = self.layout.first[name]
            values = np.cumsum(values)
        return values

    def has(self, name: str) -> bool:
        """Whether the record has a column of integers of this name."""
        return name in self.layout.least

    def is_zero(self, name: str) -> bool:
        """Whether a column of integers says nothing but 0. Raises KeyError where there is none."""
        return self.layout.least[name] == 0 and name not in self.batch.schema.names and name not in self.layout.first

    def values(self, name: str) -> tuple[I64, Bool]:
        """Return a column of values that may be NULL: 0 where they are, and where they are not."""
        known = self.ints(f"has_{name}").astype(np.bool_)
        return np.where(known, self.ints(name), 0), known

    def places(self, name: str, count: int) -> I64:
        """Return a column of places in a list of `count`. Raises ValueError where one is beyond it."""
        places = self.ints(name)
        if len(places) and not 0 <= places.min() <= places.max() < count:
            raise ValueError(f"the column `{name}` names a place beyond the {count} that there are")
        return places

    def groups(self) -> tuple[I32, list[bytes]]:
        """Return the column of groups: places among the groups, and these."""
        array = self.batch.column("group")
        array.dictionary.validate(full=True)
        places = array.indices.to_numpy().astype(np.int32, copy=False)
        if len(places) and not 0 <= places.min() <= places.max() < len(array.dictionary):
            raise ValueError(f"the column `group` names a place beyond the {len(array.dictionary)} that there are")
        return places, array.dictionary.to_pylist()

    def optional(self, name: str) -> list[Any]:
        """Return the values of a column that need not be there; without it, none."""
        return self.batch.column(name).to_pylist() if name in self.batch.schema.names else []

    def texts(self, name: str = "texts") -> list[str] | None:
        """Return texts of the record, which columns name by their places; None where there are none of this name."""
        return self.batch.column(name).dictionary.to_pylist() if name in self.batch.schema.names else None


def nullable(name: str, values: I64, known: Bool) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of values that may be NULL; NULL takes the least value, so that it widens nothing."""
    least = int(values.min(where=known, initial=INT64_MAX))
    return {name: np.where(known, values, least), f"has_{name}": known.astype(np.int64)}


def dictionary(places: I32, values: pa.Array) -> pa.DictionaryArray:
    """Return a column that names values by their places."""
    return pa.DictionaryArray.from_arrays(pa.array(places, pa.int32()), values)


def text_list(texts: Sequence[str] | Strings, rows: int) -> pa.DictionaryArray:
    """Return a column that holds texts for others to name by their places; of itself it says nothing."""
    if isinstance(texts, Strings) and len(texts):
        ends = pa.py_buffer(np.append(texts.starts[:1], texts.stops).astype(np.int32))
        named = pa.StringArray.from_buffers(len(texts), ends, pa.py_buffer(texts.data))
    else:
        named = pa.array([] if isinstance(texts, Strings) else texts, pa.string())
    return pa.DictionaryArray.from_arrays(pa.nulls(rows, pa.int8()), named)


def write(
    header: Header,
    numbers: Mapping[str, npt.NDArray[Any] | int],
    others: Mapping[str, pa.Array],
    steps: Mapping[str, I64] | None = None,
    rows: int | None = None,
) -> bytes:
    """Return a record of the header's format, at least `FORMAT`.

    A number in the place of a column stands for as many of it as rows. `steps` are columns of integers whose neighbours
    are alike. Where `rows` are said, the columns of `numbers` may be shorter, and are filled up.
    """
    if rows is None:
        rows = len(next(values for values in numbers.values() if isinstance(values, np.ndarray)))
    layout = Layout(rows, {})
    columns = dict(others)
    for name, values in numbers.items():
        if isinstance(values, int):
            layout.least[name] = values
        else:
            _narrow(name, values.astype(np.int64, copy=False), layout, columns)
    for name, values in (steps or {}).items():
        _narrow(name, _stepped(name, values, layout), layout, columns)
    header = msgspec.structs.replace(header, format=max(header.format, FORMAT))
    metadata = {b"tw": msgspec.json.encode(header), b"columns": msgspec.json.encode(layout)}
    batch = pa.RecordBatch.from_pydict(columns, metadata=metadata)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=_OPTIONS) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue().to_pybytes())


def filled(values: npt.NDArray[Number], rows: int) -> npt.NDArray[Number]:
    """Return a table's column as long as a record's: filled up with its last value."""
    if len(values) == rows:
        return values
    return np.pad(values, (0, rows - len(values)), "edge" if len(values) else "constant")


def int_width(values: I64) -> int:
    """Return at most how many bytes each of some integers takes in a column. Cost: O(values)."""
    span = int(values.max()) - int(values.min()) if len(values) else 0
    return np.min_scalar_type(span).itemsize


def _narrow(name: str, values: I64, layout: Layout, columns: dict[str, pa.Array]) -> None:
    """Enter a column as differences from its least value, but for one of equal values; it is filled up when narrow."""
    least = int(values.min()) if len(values) else 0
    layout.least[name] = least
    differences = (values - np.int64(least)).view(np.uint64)
    top = int(differences.max()) if len(values) else 0
    if top:
        columns[name] = pa.array(filled(differences.astype(np.min_scalar_type(top), copy=False), layout.rows))


def _stepped(name: str, values: I64, layout: Layout) -> I64:
    """Return the differences of neighbours where they span less than the values (modulo 2**64), else the values."""
    if len(values) < 2:
        return values
    steps = np.diff(values)
    if int(steps.max()) - int(steps.min()) >= int(values.max()) - int(values.min()):
        return values
    layout.first[name] = int(values[0])
    return np.concatenate([steps[:1], steps])
