"""Avro schemas by their text: how fastavro is to read a datum, and what the fields' values then are.

A logical type that Avro's specification does not have for a type is none, as is a decimal without sound digits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import fastavro

from tidewire.verification.schema_fault import NoSchema

_SCALARS = {"null", "boolean", "int", "long", "float", "double", "bytes", "string"}
_NESTED = {"record", "array", "map", "error"}
_LOGICAL = re.compile("int date|long (local-)?timestamp-(millis|micros|nanos)|(bytes|fixed) decimal")
_MOST_SIZE = 1_500

Type = Mapping[str, Any]
"""A scalar type as a schema writes it."""


class Schema(NamedTuple):
    """`plain` is what fastavro reads by; the scalar types of a record's fields, or of the `whole` (None: no scalar)."""

    plain: Any
    fields: dict[str, Type | None] | None
    whole: Type | None


@cache
def avro_schema(text: str) -> Schema:
    """Return the schema of a text. Raises NoSchema."""
    try:
        document = json.loads(text)
        plain = fastavro.parse_schema(_plain(document))
        _bytes_of(plain, {})
        return _read(document, plain)
    except Exception as error:  # fastavro raises whatever it falls over
        raise NoSchema(f"no Avro schema: {type(error).__name__}") from None


def _read(document: Any, plain: Any) -> Schema:
    named: dict[str, Type] = {}
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
    found: Type = schema if _is_logical(schema) else {k: v for k, v in schema.items() if k != "logicalType"}
    if schema["type"] not in _SCALARS:
        named[schema["name"]] = found
    return found


def _is_logical(schema: Type) -> bool:
    """Return whether a type is of a logical type that it may have."""
    if not _LOGICAL.fullmatch(f"{schema['type']} {schema.get('logicalType')}"):
        return False
    if schema["logicalType"] != "decimal":
        return True
    precision, scale = schema.get("precision"), schema.get("scale", 0)
    if type(precision) is not int or type(scale) is not int or precision < 1 or not 0 <= scale <= precision:
        return False
    if schema["type"] == "bytes":
        return True
    size = schema["size"]
    return type(size) is int and size > 0 and precision < len(str(2 ** (8 * min(size, _MOST_SIZE) - 1)))


def _bytes_of(schema: Any, named: dict[str, bool]) -> bool:
    """Return whether every datum has a byte. Raises NoSchema for arrays of what may have none: they never end.

    `schema` is as fastavro parsed it, with full names.
    """
    if isinstance(schema, list):
        for one in schema:
            _bytes_of(one, named)
        return True
    if isinstance(schema, str):
        return named.get(schema, schema != "null")
    kind = schema["type"]
    if kind in ("record", "error"):
        named[schema["name"]] = True
        some = [_bytes_of(field["type"], named) for field in schema["fields"]]
        named[schema["name"]] = any(some)
    elif kind in ("enum", "fixed"):
        named[schema["name"]] = kind == "enum" or bool(schema["size"])
    elif kind == "array":
        if not _bytes_of(schema["items"], named):
            raise NoSchema("an array of nothing")
        return True
    elif kind == "map":
        _bytes_of(schema["values"], named)
        return True
    else:
        return _bytes_of(kind, named)
    return named[schema["name"]]
