"""Rows and keys of format `avro`, by the documented rules, written a second time; fastavro reads the bytes.

A datum is read under the schema that wrote it, without logical types, and each value turned into what JSON would
say: a decimal into its digits, days and ticks into ISO text. What JSON would not say in the column's place is refused.
"""

from __future__ import annotations

import datetime as dt
import io
from typing import Any

import fastavro

from tidewire.verification.avro_schemas import Schema, Type, avro_schema
from tidewire.verification.binary_values import decimal_number, float_number, moment_text
from tidewire.verification.declared import Column, Table
from tidewire.verification.decoding import Bad, Members, Number, key_texts, scalar
from tidewire.verification.framing import unframe

_UNIX_DAY = dt.date(1970, 1, 1).toordinal()
_TICKS = {"timestamp-millis": 10**6, "timestamp-micros": 10**3, "timestamp-nanos": 1}


def avro_members(table: Table, data: bytes) -> Members:
    """Return the values of a row as JSON has them, by column. Raises Bad."""
    only = _only(table)
    schema, datum = _framed(table, data) if only is None else (only, _datum(only, data))
    if schema.fields is None:
        raise Bad("no record")
    return {c.name: _value(c, schema.fields[c.name], datum[c.name]) for c in table.columns if c.name in schema.fields}


def avro_key(table: Table, data: bytes) -> list[str]:
    """Return the values of the primary key that a Kafka key says, be it framed or JSON. Raises Bad."""
    if data[:1] != b"\0" or _only(table) is not None:
        return key_texts(table, data)
    schema, datum = _framed(table, data)
    columns = [column for column in table.columns if column.name in table.key]
    if schema.fields is None:
        if len(columns) != 1:
            raise Bad("key of several columns is no record")
        values = [_value(columns[0], schema.whole, datum)]
    elif set(schema.fields) == {column.name for column in columns}:
        values = [_value(column, schema.fields[column.name], datum[column.name]) for column in columns]
    else:
        raise Bad("key has not the primary key's columns")
    if None in values:
        raise Bad("null in the key")
    return [scalar(column.type, value) for column, value in zip(columns, values, strict=True)]


def _only(table: Table) -> Schema | None:
    """Return the one schema of all records, None where they are framed."""
    return None if table.one_schema is None else avro_schema(table.one_schema)


def _framed(table: Table, data: bytes) -> tuple[Schema, Any]:
    number, rest = unframe(data)
    if number not in table.schemas:
        raise Bad("of a schema that nobody knows")
    schema = avro_schema(table.schemas[number])
    return schema, _datum(schema, rest)


def _datum(schema: Schema, data: bytes) -> Any:
    stream = io.BytesIO(data)
    try:
        datum = fastavro.schemaless_reader(stream, schema.plain, None)
    except Exception as error:  # fastavro raises whatever it falls over
        raise Bad(f"no datum: {type(error).__name__}") from None
    if stream.read(1):
        raise Bad("bytes behind the datum")
    return datum


def _value(column: Column, written: Type | None, value: Any) -> object:
    """Return a value as JSON says it. Raises Bad."""
    if value is None:
        return None
    if written is None:
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
