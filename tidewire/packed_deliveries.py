"""Packed deliveries as a client reads them: a record with the key `@packed` becomes the deliveries that stand in it.

Needs nothing but an Arrow library: the layout is in docs/deliveries.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from state.errors import TidewireError

PACKED_KEY = b"@packed"
_JSON = frozenset({"old", "new", "removed", "added", "at"})


class DeliveryUnreadable(TidewireError):
    """A record of `deliveries` is none of those that an edge writes."""

    code = "delivery_unreadable"


def unpack_deliveries(value: bytes) -> Iterator[dict[str, Any]]:
    """Yield the deliveries of a packed record, in order, each as the object that a record of its own would hold.

    Cost: 1 us each, and one `json.loads` for each text that is there. Raises DeliveryUnreadable.
    """
    try:
        with pa.ipc.open_stream(value) as reader:
            table = reader.read_all().combine_chunks()
        columns = [list(_values(name, table.column(name))) for name in table.column_names]
    except (pa.ArrowException, OSError, ValueError) as error:
        found = f"got {len(value)} bytes that begin with {value[:8]!r}"
        raise DeliveryUnreadable(f"packed deliveries cannot be read: expected an Arrow stream, {found}") from error
    for row in zip(*columns, strict=True):
        yield {name: part for name, part in zip(table.column_names, row, strict=True) if part is not _ABSENT}


_ABSENT = object()


def _values(name: str, column: pa.ChunkedArray) -> Iterator[Any]:
    """Yield the values of a column; each text of a dictionary is read once."""
    read = json.loads if name in _JSON else _itself
    for chunk in column.chunks:
        if isinstance(chunk, pa.DictionaryArray):
            texts = [read(text) for text in chunk.dictionary.to_pylist()]
            yield from (_ABSENT if place is None else texts[place] for place in chunk.indices.to_pylist())
        else:
            yield from (_ABSENT if value is None else read(value) for value in chunk.to_pylist())


def _itself(value: Any) -> Any:
    return value
