"""Packed deliveries as a client reads them: a record with the key `@packed` becomes the deliveries that stand in it.

Needs nothing but an Arrow library: the layout is in docs/deliveries.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

import msgspec
import pyarrow as pa

from state.errors import TidewireError
from tidewire.client.records import At, Delivery, Member

PACKED_KEY = b"@packed"
_ABSENT = object()
Read = Callable[[str], Any]


class DeliveryUnreadable(TidewireError):
    """A record of `deliveries` is none of those that an edge writes."""

    code = "delivery_unreadable"


def unpack_deliveries(value: bytes) -> Iterator[dict[str, Any]]:
    """Yield the deliveries of a packed record, in order, each as the object that a record of its own would hold.

    Cost: 3 us each. Raises DeliveryUnreadable.
    """
    columns = _columns(value, _ANY, _ABSENT)
    for row in zip(*columns.values(), strict=True):
        yield {name: part for name, part in zip(columns, row, strict=True) if part is not _ABSENT}


def typed_deliveries(value: bytes) -> list[Delivery] | None:
    """Return the deliveries of a packed record, in order; None where some are parts of a longer one.

    Cost: 0.5 us each. Raises DeliveryUnreadable.
    """
    columns = _columns(value, _TYPED, None)
    if "part" in columns:
        return None
    count = len(columns["id"])
    for name in _NOT_NONE.intersection(columns):
        columns[name] = [_FIELDS[name] if value is None else value for value in columns[name]]
    named = 1 + max(place for place, name in enumerate(_FIELDS) if name in columns)
    given = [columns.get(name) or [default] * count for name, default in islice(_FIELDS.items(), named)]
    return list(map(Delivery, *given))


def _columns(value: bytes, readers: Mapping[str, Read], absent: object) -> dict[str, list[Any]]:
    """Return the columns that are there, texts read; `absent` stands where there is no value."""
    try:
        with pa.ipc.open_stream(value) as reader:
            table = reader.read_all().combine_chunks()
        return {name: _values(table.column(name), readers.get(name), absent) for name in table.column_names}
    except (pa.ArrowException, OSError, ValueError) as error:
        found = f"got {len(value)} bytes that begin with {value[:8]!r}"
        raise DeliveryUnreadable(f"packed deliveries cannot be read: expected an Arrow stream, {found}") from error


def _values(column: pa.ChunkedArray, read: Read | None, absent: object) -> list[Any]:
    """Return the values of a column; each text of a dictionary is read once."""
    if not pa.types.is_dictionary(column.type):
        values = column.to_pylist()
        return values if read is None and not column.null_count else [_or(value, read, absent) for value in values]
    values = []
    for chunk in column.chunks:
        texts = [_or(text, read, absent) for text in chunk.dictionary.to_pylist()]
        values += [absent if place is None else texts[place] for place in chunk.indices.to_pylist()]
    return values


def _or(value: Any, read: Read | None, absent: object) -> Any:
    if value is None:
        return absent
    return value if read is None else read(value)


_ANY = dict.fromkeys(("old", "new", "removed", "added", "at", "same", "whole", "key"), msgspec.json.decode)
_MEMBERS = msgspec.json.Decoder(list[Member]).decode
_TYPED = _ANY | {
    "at": msgspec.json.Decoder(At).decode,
    "removed": _MEMBERS,
    "added": _MEMBERS,
    "key": msgspec.json.Decoder(tuple[int, ...]).decode,
}
_FIELDS: dict[str, Any] = dict.fromkeys(Delivery.__struct_fields__) | {
    field.name: field.default for field in msgspec.structs.fields(Delivery) if field.default is not msgspec.NODEFAULT
}
_NOT_NONE = frozenset(name for name, default in _FIELDS.items() if default is not None)
"""Members whose absence means something else than None."""
