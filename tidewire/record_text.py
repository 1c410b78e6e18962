"""Any record of any topic, as JSON and as a line for a person: JSON as it is, packed records by their header."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from connectors.json.reader import read_document
from connectors.kafka.record import KafkaRecord
from operators.packed import (
    PackedChanges,
    PackedNamed,
    PackedRegistrations,
    PackedRows,
    PackedSnapshot,
    PackedSummary,
    is_packed,
    unpack,
)
from state.errors import TidewireError


def to_json(record: KafkaRecord) -> dict[str, Any]:
    """Return the record with its position; key and value as JSON where they are JSON, else as text."""
    return {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": record.timestamp,
        "key": readable(record.key),
        "value": readable(record.value),
    }


def describe(record: KafkaRecord) -> str:
    """Return one line: position, key, value."""
    parts = (_line(readable(part)) for part in (record.key, record.value))
    return f"{record.topic}/{record.partition}/{record.offset}  " + "  ".join(parts)


def readable(data: bytes | None) -> Any:
    """Return what a key or value says: None for none, JSON, a packed record's header, text, or hex as a last resort."""
    if data is None:
        return None
    if is_packed(data):
        return _packed(data)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return f"0x{data.hex()}"
    try:
        read_document(data)  # what is nested deeper could be read here and not be written again
        return json.loads(text, parse_float=_as_written)
    except ValueError:
        return text


def _as_written(number: str) -> msgspec.Raw:
    """Keep a number as the text that it is: a double would show another one."""
    return msgspec.Raw(number.encode())


def _packed(data: bytes) -> dict[str, Any]:
    try:
        packed = unpack(data)
    except TidewireError as error:
        return {"packed": f"unreadable: {error}", "bytes": len(data)}
    if isinstance(packed, PackedSnapshot):
        entries = len(packed.version)
    elif isinstance(packed, PackedRegistrations):
        entries = len(packed.versions)
    elif isinstance(packed, PackedSummary):
        entries = len(packed.boxes)
    elif isinstance(packed, PackedRows | PackedNamed | PackedChanges):
        entries = len(packed)
    else:
        entries = len(packed.seq)
    header: dict[str, Any] = msgspec.to_builtins(packed.header)
    return {"packed": header, "entries": entries, "bytes": len(data)}


def _line(value: Any) -> str:
    if value is None:
        return "(none)"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
