"""Avro schemas as writers used them: how to read a datum, and what each field's values are.

A datum is read under the schema without its logical types (`plain`), so that numbers come as they were written:
fastavro would make a datetime of a timestamp, and lose nanoseconds and whatever Python's dates do not reach.

A logical type that does not fit its type (a float `date`), or a decimal that does not say its digits, counts as none:
the specification of Avro has readers ignore it ("Logical Types").
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import fastavro
from fastavro.schema import SchemaParseException, UnknownType

_PRIMITIVES = frozenset(("null", "boolean", "int", "long", "float", "double", "bytes", "string"))
_NAMED = frozenset(("enum", "fixed"))
_FITTING = {
    "date": frozenset(("int",)),
    "decimal": frozenset(("bytes", "fixed")),
    **{
        f"{local}timestamp-{unit}": frozenset(("long",))
        for local in ("", "local-")
        for unit in ("millis", "micros", "nanos")
    },
}


class AvroSchemaError(ValueError):
    """A text that is no Avro schema, or one that cannot be read safely."""


@dataclass(frozen=True, slots=True)
class AvroType:
    """A type of values that are not null: `name` (int, string, fixed, ...), logical type or '', scale of a decimal."""

    name: str
    logical: str = ""
    scale: int = 0

    def __str__(self) -> str:
        return f"{self.name} {self.logical}".rstrip()


class AvroSchema:
    """One writer's schema. `fields`: type by field of a record; `whole`: that of any other datum.

    `plain` is what fastavro reads by; `label` says which schema it is.
    """

    def __init__(self, text: str, label: str) -> None:
        """Parse `text`; `label` says which schema it is. Raises AvroSchemaError."""
        try:
            document = json.loads(text)
            self.plain = fastavro.parse_schema(_without_logical(document))
            _check_items(self.plain, {})
            self.is_record = isinstance(document, dict) and document.get("type") == "record"
            self.fields, self.whole = _types(document, self.is_record)
        except (
            ValueError,
            TypeError,
            KeyError,
            AttributeError,
            RecursionError,
            SchemaParseException,
            UnknownType,
        ) as e:
            raise AvroSchemaError(f"no Avro schema: {type(e).__name__}: {e}"[:200]) from None
        name = document.get("name", "") if self.is_record else ""
        self.label = f"{label} `{name}`" if name else label


def _types(document: Any, is_record: bool) -> tuple[Mapping[str, AvroType | None], AvroType | None]:
    """Return the types of a record's fields, or that of another datum."""
    named: dict[str, AvroType] = {}
    if not is_record:
        return {}, _type_of(document, named)
    return {field["name"]: _type_of(field["type"], named) for field in document["fields"]}, None


def _without_logical(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_logical(one) for one in schema]
    if isinstance(schema, dict):
        dropped = ("logicalType", "default", "aliases", "doc")
        return {name: _without_logical(value) for name, value in schema.items() if name not in dropped}
    return schema


def _type_of(schema: Any, named: dict[str, AvroType]) -> AvroType | None:
    """Return the type of values that are not null; None for a union of several, and what is no scalar."""
    if isinstance(schema, list):
        others = [one for one in schema if one != "null"]
        return _type_of(others[0], named) if len(others) == 1 else None
    if isinstance(schema, str):
        return AvroType(schema) if schema in _PRIMITIVES else named.get(schema)
    kind = schema["type"]
    if isinstance(kind, dict | list):
        return _type_of(kind, named)
    if kind in ("record", "array", "map", "error"):
        return None
    logical = _logical(kind, schema)
    found = AvroType(kind, logical, schema.get("scale", 0) if logical == "decimal" else 0)
    if kind in _NAMED:
        named[schema["name"]] = found
    return found


def _logical(kind: str, schema: Mapping[str, Any]) -> str:
    """Return the logical type, '' of one that does not fit."""
    logical = schema.get("logicalType")
    if not isinstance(logical, str) or kind not in _FITTING.get(logical, (kind,)):
        return ""
    return "" if logical == "decimal" and not _says_digits(kind, schema) else logical


def _says_digits(kind: str, decimal: Mapping[str, Any]) -> bool:
    """Return whether precision and scale are those of a decimal, and a `fixed` can hold the precision."""
    precision, scale, size = decimal.get("precision"), decimal.get("scale", 0), decimal.get("size")
    if type(precision) is not int or type(scale) is not int or not 0 <= scale <= precision > 0:
        return False
    if kind != "fixed":
        return True
    return type(size) is int and size > 0 and precision <= math.floor((8 * size - 1) * math.log10(2))


def _check_items(schema: Any, sizes: dict[str, bool]) -> bool:
    """Return whether a datum of `schema` has at least a byte; refuse arrays of items that may have none.

    Ten bytes could say that 2**60 of them follow, and to read them would never end. Names are full ones in `schema`,
    as fastavro parsed it. What is named inside itself counts as having bytes: an array around it has one.
    """
    if isinstance(schema, list):
        for one in schema:
            _check_items(one, sizes)
        return True
    if isinstance(schema, str):
        return sizes.get(schema, schema != "null")
    kind = schema["type"]
    if kind in ("record", "error"):
        sizes[schema["name"]] = True
        found = [_check_items(field["type"], sizes) for field in schema["fields"]]
        sizes[schema["name"]] = any(found)
        return any(found)
    if kind == "array":
        if not _check_items(schema["items"], sizes):
            raise AvroSchemaError("an array of items without bytes")
        return True
    if kind == "map":
        _check_items(schema["values"], sizes)
        return True
    if kind in _NAMED:
        sizes[schema["name"]] = kind == "enum" or bool(schema["size"])
        return sizes[schema["name"]]
    return _check_items(kind, sizes)
