"""Rows and keys of format `avro`, by the documented rules, written a second time.

A walk says where each value of a datum begins and ends (`avro_walk.py`); fastavro, which is lenient, reads it of these
bytes alone, and has to read them all. Each value becomes what JSON would say: a decimal its digits, days and ticks ISO
text. What JSON would not say in the column's place is refused.
"""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Sequence
from typing import Any

import fastavro

from tidewire.verification.input.avro_walk import Walk
from tidewire.verification.input.binary_values import decimal_number, float_number, moment_text
from tidewire.verification.input.column import Column
from tidewire.verification.input.declared import Table
from tidewire.verification.input.decoding import Bad, Members, Number, key_texts, scalar
from tidewire.verification.input.framing import unframe
from tidewire.verification.schemas.avro_schemas import SCALARS, Schema, Type, avro_schema

_NESTED = object()
_UNIX_DAY = dt.date(1970, 1, 1).toordinal()
_TICKS = {"timestamp-millis": 10**6, "timestamp-micros": 10**3, "timestamp-nanos": 1}


def avro_members(table: Table, data: bytes) -> Members:
    """Return the values of a row as JSON has them, by column. Raises Bad."""
    only = _only(table)
    schema, data = _framed(table, data) if only is None else (only, data)
    return _row(schema, table.columns, data)


def avro_key(table: Table, data: bytes) -> list[str]:
    """Return the values of the primary key that a Kafka key says, be it framed or JSON. Raises Bad."""
    if data[:1] != b"\0" or _only(table) is not None:
        return key_texts(table, data)
    schema, datum = _framed(table, data)
    columns = [column for column in table.columns if column.name in table.key]
    if schema.fields is None:
        if len(columns) != 1:
            raise Bad("key of several columns is no record")
        walk = Walk(schema, datum)
        values = [_value(columns[0], schema.scalar(schema.whole), _read(walk, schema.whole, 0))]
        _check_end(walk)
    elif {name for name, _ in schema.fields} == {column.name for column in columns}:
        row = _row(schema, columns, datum)
        values = [row[column.name] for column in columns]
    else:
        raise Bad("key has not the primary key's columns")
    if None in values:
        raise Bad("null in the key")
    return [scalar(column.type, value) for column, value in zip(columns, values, strict=True)]


def _only(table: Table) -> Schema | None:
    """Return the one schema of all records, None where they are framed."""
    return None if table.one_schema is None else avro_schema(table.one_schema)


def _framed(table: Table, data: bytes) -> tuple[Schema, bytes]:
    number, rest = unframe(data)
    if number not in table.schemas:
        raise Bad("of a schema that nobody knows")
    return avro_schema(table.schemas[number]), rest


def _row(schema: Schema, columns: Sequence[Column], data: bytes) -> dict[str, object]:
    if schema.fields is None:
        raise Bad("no record")
    walk, read = Walk(schema, data), {}
    for name, type in schema.fields:
        read[name] = schema.scalar(type), _read(walk, type, 1)
    _check_end(walk)
    return {column.name: _value(column, *read[column.name]) for column in columns if column.name in read}


def _read(walk: Walk, type: Any, depth: int) -> Any:
    """Return the value that stands where the walk is, `_NESTED` of no scalar."""
    chosen = walk.chosen(type)
    data = walk.over(chosen, depth)
    if chosen["type"] not in SCALARS:
        return _NESTED
    plain = {part: value for part, value in chosen.items() if part in ("type", "name", "symbols", "size")}
    stream = io.BytesIO(data)
    try:
        value = fastavro.schemaless_reader(stream, fastavro.parse_schema(plain), None)
    except Exception as error:  # fastavro raises whatever it falls over
        raise Bad(f"no datum: {error.__class__.__name__}") from None
    if stream.read(1):
        raise Bad("a value of fewer bytes")
    return value


def _check_end(walk: Walk) -> None:
    if walk.at != len(walk.data):
        raise Bad("bytes behind the datum")


def _value(column: Column, written: Type | None, value: Any) -> object:
    """Return a value as JSON says it. Raises Bad."""
    if value is None:
        return None
    if written is None or value is _NESTED:
        raise Bad("no single scalar type")
    logical = str(written.get("logicalType", ""))
    if isinstance(value, bytes):
        return _digits(column, written, logical, value)
    if isinstance(value, bool | str):
        return value
    if isinstance(value, float):
        return float_number(column.type, value)
    if column.type == "DATE" and logical == "date":
        return _date(value)
    if column.type == "TIMESTAMP" and logical.removeprefix("local-") in _TICKS:
        return moment_text(value * _TICKS[logical.removeprefix("local-")])
    return Number(value)


def _digits(column: Column, written: Type, logical: str, value: bytes) -> Number:
    if logical != "decimal":
        raise Bad("bytes")
    return decimal_number(column.type, value, written.get("scale", 0))


def _date(days: int) -> str:
    try:
        return dt.date.fromordinal(_UNIX_DAY + days).isoformat()
    except (ValueError, OverflowError):
        raise Bad("no date of the years 1 to 9999") from None
