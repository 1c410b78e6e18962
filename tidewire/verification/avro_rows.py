"""Rows and keys of format `avro`, by the documented rules, written a second time; fastavro reads the bytes.

A datum is read under the schema that wrote it, without logical types, and each value turned into what JSON would
say: a decimal into its digits, days and ticks into ISO text. What JSON would not say in the column's place is refused.
"""

from __future__ import annotations

import datetime as dt
import io
import json
import math
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from typing import Any, NamedTuple

import fastavro

from tidewire.verification.declared import Column, Table
from tidewire.verification.decoding import Bad, Members, Number, key_texts, scalar

_SCALARS = {"null", "boolean", "int", "long", "float", "double", "bytes", "string"}
_NESTED = {"record", "array", "map", "error"}
_MOST_DECIMAL_BYTES = 1_500
_UNIX_DAY = dt.date(1970, 1, 1).toordinal()
_TICKS = {"millis": 10**6, "micros": 10**3, "nanos": 1}

Type = Mapping[str, Any]
"""A scalar type as a schema writes it."""


class Schema(NamedTuple):
    """`plain` is what fastavro reads by; the scalar types of a record's fields, or of the `whole` (None: no scalar)."""

    plain: Any
    fields: dict[str, Type | None] | None
    whole: Type | None


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
    text = table.option("schema")
    return None if text is None or text == "registry" else _schema(text)


def _framed(table: Table, data: bytes) -> tuple[Schema, Any]:
    if len(data) < 5 or data[0] != 0:
        raise Bad("not framed")
    text = table.option(f"schema.{int.from_bytes(data[1:5], 'big')}")
    if text is None:
        raise Bad("of a schema that is not listed")
    schema = _schema(text)
    return schema, _datum(schema, data[5:])


def _datum(schema: Schema, data: bytes) -> Any:
    stream = io.BytesIO(data)
    try:
        datum = fastavro.schemaless_reader(stream, schema.plain, None)
    except Exception as error:  # fastavro raises whatever it falls over
        raise Bad(f"no datum: {type(error).__name__}") from None
    if stream.read(1):
        raise Bad("bytes behind the datum")
    return datum


@cache
def _schema(text: str) -> Schema:
    document = json.loads(text)
    plain, named = fastavro.parse_schema(_plain(document)), dict[str, Type]()
    if isinstance(document, dict) and document["type"] == "record":
        return Schema(plain, {f["name"]: _type(f["type"], named) for f in document["fields"]}, None)
    return Schema(plain, None, _type(document, named))


def _plain(schema: Any) -> Any:
    """Return a schema without what fastavro would act upon beyond the bytes."""
    if isinstance(schema, dict):
        return {k: _plain(v) for k, v in schema.items() if k not in ("logicalType", "default", "aliases", "doc")}
    return [_plain(one) for one in schema] if isinstance(schema, list) else schema


def _type(schema: Any, named: dict[str, Type]) -> Type | None:
    """Return the type of values that are not null, None for a union of several and what is no scalar."""
    if isinstance(schema, list):
        rest = [one for one in schema if one != "null"]
        return _type(rest[0], named) if len(rest) == 1 else None
    if isinstance(schema, str):
        return {"type": schema} if schema in _SCALARS else named.get(schema)
    if not isinstance(schema["type"], str):
        return _type(schema["type"], named)
    if schema["type"] in _NESTED:
        return None
    if "name" in schema:
        named[schema["name"]] = schema
    found: Type = schema
    return found


def _value(column: Column, written: Type | None, value: Any) -> object:
    """Return a value as JSON says it. Raises Bad."""
    if value is None:
        return None
    if written is None:
        raise Bad("no single scalar type")
    logical = written.get("logicalType", "")
    if isinstance(value, bytes):
        return _digits(column, written, logical, value)
    if isinstance(value, bool | str):
        return value
    if column.type == "DATE" and logical == "date":
        return _date(value)
    if column.type == "TIMESTAMP" and "timestamp-" in logical:
        return _moment(value * _TICKS[logical.rpartition("-")[2]])
    if isinstance(value, float):
        return _float(column, value)
    return Number(value)


def _digits(column: Column, written: Type, logical: str, value: bytes) -> Number:
    if not column.type.startswith("DECIMAL") or logical != "decimal":
        raise Bad("bytes")
    if not 0 < len(value) <= _MOST_DECIMAL_BYTES:
        raise Bad("no decimal")
    scale = written.get("scale", 0)
    return Number(f"{int.from_bytes(value, 'big', signed=True)}e{-scale}")


def _float(column: Column, value: float) -> Number:
    if column.type not in ("FLOAT", "DOUBLE") or not math.isfinite(value):
        raise Bad("a float")
    return Number(str(Decimal(value)))


def _date(days: int) -> str:
    try:
        return dt.date.fromordinal(_UNIX_DAY + days).isoformat()
    except (ValueError, OverflowError):
        raise Bad("no date of the years 1 to 9999") from None


def _moment(nanos: int) -> str:
    micros, rest = divmod(nanos, 1_000)
    if rest:
        raise Bad("finer than a microsecond")
    try:
        return (dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=micros)).isoformat(" ")
    except OverflowError:
        raise Bad("no timestamp of the years 1 to 9999") from None
