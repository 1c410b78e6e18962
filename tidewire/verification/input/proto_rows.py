"""Rows and keys of format `protobuf`, by the documented rules, written a second time; Google's library reads bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from tidewire.verification.input.column import Column
from tidewire.verification.input.declared import Table
from tidewire.verification.input.decoding import Bad, Members, key_texts, scalar
from tidewire.verification.input.framing import split_path, unframe
from tidewire.verification.input.proto_older import check_names, is_whole
from tidewire.verification.input.proto_values import proto_value
from tidewire.verification.schemas.proto_schemas import proto_schema
from tidewire.verification.schemas.schema_fault import NoSchema


def protobuf_members(table: Table, data: bytes) -> Members:
    """Return the values of a row as JSON has them, by column; absent are those that the schema lacks. Raises Bad."""
    expected = table.option("message") or ""
    if table.one_schema is not None:
        descriptor = proto_schema(table.one_schema).named(expected)
    else:
        descriptor, data = _framed(table, data)
        if expected not in ("", descriptor.full_name):
            raise Bad("another message")
    fields = descriptor.fields_by_name
    columns = [column for column in table.columns if column.name in fields]
    return dict(zip([column.name for column in columns], _values(descriptor, columns, data), strict=True))


def protobuf_key(table: Table, data: bytes) -> list[str]:
    """Return the values of the primary key that a Kafka key says, be it framed or JSON. Raises Bad."""
    if data[:1] != b"\0" or table.one_schema is not None:
        return key_texts(table, data)
    descriptor, data = _framed(table, data)
    fields, columns = descriptor.fields_by_name, [column for column in table.columns if column.name in table.key]
    if set(fields.keys()) != {column.name for column in columns}:
        raise Bad("key has not the primary key's columns")
    values = _values(descriptor, columns, data)
    if None in values:
        raise Bad("null in the key")
    return [scalar(column.type, value) for column, value in zip(columns, values, strict=True)]


def _framed(table: Table, data: bytes) -> tuple[Any, bytes]:
    """Return which message a framed record is, and its bytes."""
    number, rest = unframe(data)
    if number not in table.schemas:
        raise Bad("of a schema that nobody knows")
    path, rest = split_path(rest)
    try:
        descriptor = proto_schema(table.schemas[number]).at(path)
    except NoSchema as why:
        raise Bad(str(why)) from None
    if descriptor is None:
        raise Bad("of a message that its schema has not")
    return descriptor, rest


def _values(descriptor: Any, columns: Sequence[Column], data: bytes) -> list[object]:
    """Return what a message says for columns that it has fields for. Raises Bad."""
    try:
        message = GetMessageClass(descriptor).FromString(data)
    except DecodeError:
        raise Bad("no message") from None
    if not is_whole(message):
        raise Bad("without a required field")
    values = []
    for column in columns:
        field = descriptor.fields_by_name[column.name]
        if field.enum_type is not None and field.enum_type.is_closed:
            check_names(field, data)
        values.append(proto_value(column.type, field, message))
    return values
