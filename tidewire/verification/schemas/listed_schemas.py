"""Whether the schemas of a table, and one alone, are fit to read records by."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress

from tidewire.verification.schemas.avro_schemas import avro_schema
from tidewire.verification.schemas.proto_schemas import proto_schema
from tidewire.verification.schemas.schema_fault import NoSchema

_LISTED = re.compile(r"schema\.[0-9]{1,10}")
_FORMATS = {"avro": {"schema"}, "protobuf": {"schema", "message"}}


def check_schemas(format: str, options: Mapping[str, str]) -> None:
    """Check the options of a table of `avro` or `protobuf`: schemas by number or one, and a message of them.

    Raises NoSchema.
    """
    if format not in _FORMATS:
        return
    listed = {name: text for name, text in options.items() if _LISTED.fullmatch(name)}
    one, message = options.get("schema"), options.get("message", "")
    if unknown := options.keys() - listed.keys() - _FORMATS[format]:
        raise NoSchema(f"options {unknown}")
    if one != "registry" and (one is None) == (not listed):
        raise NoSchema("neither or both of one schema and several")
    for name, text in listed.items():
        if int(name.partition(".")[2]) >= 1 << 32:
            raise NoSchema(f"{name} is too large")
        check_schema(format, text)
    if one != "registry" and format == "protobuf" and (one is not None or message):
        _check_message(message, [one] if one is not None else list(listed.values()))
    elif one not in ("registry", None):
        avro_schema(one)


def check_schema(format: str, text: str) -> None:
    """Check a schema of framed records. Raises NoSchema."""
    if format == "avro":
        avro_schema(text)
    else:
        _ = proto_schema(text).root


def _check_message(message: str, texts: list[str]) -> None:
    """Check that a schema has the message. Raises NoSchema."""
    schemas = [proto_schema(text) for text in texts]
    for schema in schemas:
        with suppress(NoSchema):
            schema.named(message)
            return
    raise NoSchema(f"no schema has the message {message!r}")
