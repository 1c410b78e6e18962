"""Avro schemas by their text: every name written in full, and each definition found by it.

A schema is rewritten as JSON, its names looked up while a record is read. Whether a record can have no byte, or none
that end, comes out by counting the least bytes of each, over and over until nothing changes.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from tidewire.verification.schemas.schema_fault import NoSchema

SCALARS = frozenset({"null", "boolean", "int", "long", "float", "double", "bytes", "string", "enum", "fixed"})
_PRIMITIVES = SCALARS - {"enum", "fixed"}
_RECORDS = ("record", "error")
_LOGICAL = re.compile("int date|long (local-)?timestamp-(millis|micros|nanos)|(bytes|fixed) decimal")
_SYMBOL = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_MOST_SIZE = 1_500

Type = Mapping[str, Any]
"""A type as a schema writes it, names in full."""


class Schema(NamedTuple):
    """`whole` is the type of a datum, `named` each definition by its full name; `fields` are those of a record."""

    whole: Any
    named: Mapping[str, Type]
    fields: list[tuple[str, Any]] | None

    def found(self, type: Any) -> Any:
        """Return the definition of a type that is only named; a list is a union."""
        if not isinstance(type, str):
            return type
        return {"type": type} if type in _PRIMITIVES else self.named[type]

    def scalar(self, type: Any) -> Type | None:
        """Return the type of values that are not null, None for a union of several and what is no scalar."""
        found = self.found(type)
        if isinstance(found, list):
            rest = [one for one in found if isinstance(self.found(one), list) or self.found(one)["type"] != "null"]
            return self.scalar(rest[0]) if len(rest) == 1 else None
        if found["type"] not in SCALARS:
            return None
        return found if _is_logical(found) else {part: v for part, v in found.items() if part != "logicalType"}


@cache
def avro_schema(text: str) -> Schema:
    """Return the schema of a text. Raises NoSchema."""
    try:
        document = json.loads(text)
        is_row = isinstance(document, dict) and document["type"] == "record"
        names = _Names()
        whole = names.written(document, "")
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        raise NoSchema("no Avro schema") from None
    least = _least_bytes(names.known)
    if math.inf in least.values():
        raise NoSchema("a record that holds itself")
    if any(not _least(items, least) for items in names.items):
        raise NoSchema("an array of nothing")
    return Schema(whole, names.known, [(f["name"], f["type"]) for f in whole["fields"]] if is_row else None)


class _Names:
    """What is defined so far, and the types of all arrays' items."""

    def __init__(self) -> None:
        self.known: dict[str, Any] = {}
        self.items: list[Any] = []

    def written(self, schema: Any, space: str) -> Any:
        """Return a type with its names in full; definitions stay where they are. Raises NoSchema, KeyError, ..."""
        if isinstance(schema, list):
            return [self.written(one, space) for one in schema]
        if isinstance(schema, str):
            return self._full(schema, space)
        kind = schema["type"]
        if not isinstance(kind, str):
            raise NoSchema("a type without a name")
        if kind in (*_RECORDS, "enum", "fixed"):
            self._define(schema, space)
        elif kind == "array":
            schema["items"] = self.written(schema["items"], space)
            self.items.append(schema["items"])
        elif kind == "map":
            schema["values"] = self.written(schema["values"], space)
        elif kind not in _PRIMITIVES:
            return self._full(kind, space)
        else:
            return {part: schema[part] for part in schema if part in ("type", "logicalType", "precision", "scale")}
        return schema

    def _full(self, name: str, space: str) -> str:
        if name in _PRIMITIVES:
            return name
        full = ".".join(filter(None, (space, name))) if "." not in name else name
        if full not in self.known:
            raise NoSchema(f"nothing is named {full}")
        return full

    def _define(self, schema: dict[str, Any], space: str) -> None:
        own = schema.pop("namespace", None)
        if not isinstance(own, str | None):
            raise NoSchema("a namespace that is none")
        if not schema["name"]:
            raise NoSchema("a definition without a name")
        *spaces, short = schema["name"].split(".")
        if not spaces:
            spaces = [part for part in (space if own is None else own,) if part]
        full = ".".join((*spaces, short))
        if short in _PRIMITIVES or full in self.known:
            raise NoSchema(f"{full} cannot be defined")
        self.known[full] = schema
        _check_parts(schema)
        if schema["type"] in _RECORDS:
            for one in schema["fields"]:
                one["type"] = self.written(one["type"], ".".join(spaces))


def _check_parts(schema: Type) -> None:
    """Refuse definitions without sound symbols, size or fields."""
    if schema["type"] == "enum":
        symbols = schema["symbols"]
        sound = isinstance(symbols, list) and all(map(_SYMBOL.fullmatch, symbols)) and len(symbols) == len({*symbols})
    elif schema["type"] == "fixed":
        sound = type(schema["size"]) is int and schema["size"] >= 0
    else:
        sound = isinstance(schema["fields"], list) and all(isinstance(one["name"], str) for one in schema["fields"])
    if not sound:
        raise NoSchema(f"{schema['name']} is not sound")


def _least_bytes(named: Mapping[str, Type]) -> dict[str, float]:
    """Return how many bytes a datum of each definition has at least; 1 stands for more, infinity for no end."""
    least = dict.fromkeys(named, math.inf)
    for _ in named:
        before = dict(least)
        for name, schema in named.items():
            fields = [one["type"] for one in schema["fields"]] if schema["type"] in _RECORDS else [schema]
            least[name] = max((_least(one, least) for one in fields), default=0)
        if least == before:
            break
    return least


def _least(type: Any, least: Mapping[str, float]) -> float:
    if isinstance(type, str):
        return least.get(type, type != "null")
    if isinstance(type, dict) and type["type"] in _RECORDS:
        return max((_least(one["type"], least) for one in type["fields"]), default=0)
    if isinstance(type, dict) and type["type"] == "fixed":
        return float(min(type["size"], 1))
    return 0 if isinstance(type, dict) and type["type"] == "null" else 1


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
    return bool(schema["size"] > 0 and precision < len(str(2 ** (8 * min(schema["size"], _MOST_SIZE) - 1))))
