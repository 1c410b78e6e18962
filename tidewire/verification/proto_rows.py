"""Rows and keys of format `protobuf`, by the documented rules, written a second time; Google's library reads bytes."""

from __future__ import annotations

from typing import Any

from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from tidewire.verification.declared import Table
from tidewire.verification.decoding import Bad, Members, key_texts, scalar
from tidewire.verification.framing import split_path, unframe
from tidewire.verification.proto_schemas import proto_schema
from tidewire.verification.proto_values import proto_value
from tidewire.verification.schema_fault import NoSchema


def protobuf_members(table: Table, data: bytes) -> Members:
    """Return the values of a row as JSON has them, by column; absent are those that the schema lacks. Raises Bad."""
    expected = table.option("message") or ""
    if table.one_schema is not None:
        descriptor = proto_schema(table.one_schema).named(expected)
    else:
        descriptor, data = _framed(table, data)
        if expected not in ("", descriptor.full_name):
            raise Bad("another message")
    fields, message = descriptor.fields_by_name, _message(descriptor, data)
    return {c.name: proto_value(c.type, fields[c.name], message) for c in table.columns if c.name in fields}


def protobuf_key(table: Table, data: bytes) -> list[str]:
    """Return the values of the primary key that a Kafka key says, be it framed or JSON. Raises Bad."""
    if data[:1] != b"\0" or table.one_schema is not None:
        return key_texts(table, data)
    descriptor, data = _framed(table, data)
    fields, columns = descriptor.fields_by_name, [column for column in table.columns if column.name in table.key]
    if set(fields.keys()) != {column.name for column in columns}:
        raise Bad("key has not the primary key's columns")
    message = _message(descriptor, data)
    values = [proto_value(column.type, fields[column.name], message) for column in columns]
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


def _message(descriptor: Any, data: bytes) -> Any:
    try:
        return GetMessageClass(descriptor).FromString(data)
    except DecodeError:
        raise Bad("no message") from None
