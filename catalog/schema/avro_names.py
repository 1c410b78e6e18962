"""The documents of Avro schemas as types: names are resolved in full, as Avro's specification has it ("Names").

A definition's full name is its `name` where that has dots, and else stands in its `namespace`, or in that of the
definition around it where it says none; '' is the null namespace. A name that is used stands, without dots, in the
namespace around it. Primitive types have no namespace, and nobody may take their names. A type is known from where
its definition begins, wherever that is: in a field, an array, a map, a union, at whatever depth.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any, TypeVar

from catalog.schema.avro_logical import logical_type
from catalog.schema.avro_type import AvroBlocks, AvroNode, AvroRecord, AvroType, AvroUnion
from catalog.sql.errors import suggestion

_PRIMITIVES = frozenset(("null", "boolean", "int", "long", "float", "double", "bytes", "string"))
_PARTS = {"array": "items", "map": "values"}
_SYMBOL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SHOWN_CHARACTERS = 60

N = TypeVar("N", AvroType, AvroRecord)


class AvroSchemaError(ValueError):
    """A text that is no Avro schema, or one that cannot be read safely."""


def resolved(document: Any) -> AvroNode:
    """Return the type that a schema's JSON document is. Raises AvroSchemaError, and RecursionError."""
    names = _Names()
    found = names.type(document, "")
    names.check_ends()
    return found


class _Names:
    """Types by full name, as far as a schema is read."""

    def __init__(self) -> None:
        self._known: dict[str, AvroType | AvroRecord] = {}

    def type(self, schema: Any, space: str) -> AvroNode:
        """Return the type that `schema` is in the namespace `space`."""
        if isinstance(schema, str):
            return self._used(schema, space)
        if isinstance(schema, list):
            return AvroUnion(tuple(self.type(one, space) for one in schema))
        if not isinstance(schema, dict) or not isinstance(schema.get("type"), str):
            raise AvroSchemaError(f"expected a type, got {_shown(schema)}")
        kind = schema["type"]
        if kind in ("record", "error"):
            return self._record(schema, space)
        if kind in _PARTS:
            return self._blocks(schema, space)
        if kind == "enum":
            return self._define(_full_name(schema, space), AvroType("enum", symbols=_symbols(schema)))
        if kind == "fixed":
            made = AvroType("fixed", *logical_type(schema), size=_size(schema))
            return self._define(_full_name(schema, space), made)
        return AvroType(kind, *logical_type(schema)) if kind in _PRIMITIVES else self._used(kind, space)

    def check_ends(self) -> None:
        """Refuse records that hold themselves with no union, array or map between: no datum of them would end."""
        records = [one for one in self._known.values() if isinstance(one, AvroRecord)]
        inside = {r.full_name: [t.full_name for _, t in r.fields if isinstance(t, AvroRecord)] for r in records}
        try:
            TopologicalSorter(inside).prepare()
        except CycleError as error:
            raise AvroSchemaError(f"record `{error.args[1][0]}` holds itself, so that no datum of it ends") from None

    def _used(self, name: str, space: str) -> AvroNode:
        if name in _PRIMITIVES:
            return AvroType(name)
        full = name if "." in name or not space else f"{space}.{name}"
        if full not in self._known:
            meant = suggestion(full, self._known, "type") if self._known else "It names none."
            raise AvroSchemaError(f"a type is used that nothing before defines: {_shown(full)}. {meant}")
        return self._known[full]

    def _define(self, full: str, type_: N) -> N:
        if full in self._known:
            raise AvroSchemaError(f"two types have the name `{full}`")
        self._known[full] = type_
        return type_

    def _record(self, schema: Mapping[str, Any], space: str) -> AvroRecord:
        full = _full_name(schema, space)
        made = self._define(full, AvroRecord(full))
        fields = schema.get("fields")
        if not isinstance(fields, list):
            raise AvroSchemaError(f"record `{full}`: expected a list of fields, got {_shown(fields)}")
        for one in fields:
            if not isinstance(one, dict) or not isinstance(one.get("name"), str) or "type" not in one:
                raise AvroSchemaError(f"record `{full}`: expected a field's name and type, got {_shown(one)}")
            made.fields.append((one["name"], self.type(one["type"], full.rpartition(".")[0])))
        made.empty = all(_is_empty(type_) for _, type_ in made.fields)
        return made

    def _blocks(self, schema: Mapping[str, Any], space: str) -> AvroBlocks:
        """Read an array or a map. Ten bytes could say that 2**60 items without bytes follow: they are refused."""
        kind = schema["type"]
        made = AvroBlocks(kind, self.type(schema.get(_PARTS[kind]), space))
        if kind == "array" and _is_empty(made.items):
            raise AvroSchemaError("an array of items without bytes")
        return made


def _is_empty(node: AvroNode) -> bool:
    """Return whether no datum has a byte. A record around an array of itself is not at its end, and has some."""
    if isinstance(node, AvroRecord):
        return node.empty
    return node.name == "null" or (isinstance(node, AvroType) and node.name == "fixed" and not node.size)


def _full_name(schema: Mapping[str, Any], space: str) -> str:
    name, own = schema.get("name"), schema.get("namespace")
    if not isinstance(name, str) or not name or not isinstance(own, str | None):
        raise AvroSchemaError(f"expected a name, got {_shown(own if name and isinstance(name, str) else name)}")
    within = space if own is None else own
    full = name if "." in name or not within else f"{within}.{name}"
    if full.rpartition(".")[2] in _PRIMITIVES:
        raise AvroSchemaError(f"`{full}` has the name of a primitive type")
    return full


def _symbols(schema: Mapping[str, Any]) -> tuple[str, ...]:
    symbols = schema.get("symbols")
    if not isinstance(symbols, list) or not all(isinstance(s, str) and _SYMBOL.fullmatch(s) for s in symbols):
        raise AvroSchemaError(f"expected a list of an enum's symbols, got {_shown(symbols)}")
    if len(set(symbols)) != len(symbols):
        raise AvroSchemaError("an enum has a symbol twice")
    return tuple(symbols)


def _size(schema: Mapping[str, Any]) -> int:
    size = schema.get("size")
    if type(size) is not int or size < 0:
        raise AvroSchemaError(f"expected the size of a fixed, got {_shown(size)}")
    return size


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"
