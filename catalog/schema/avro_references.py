"""Avro schemas that use types of other schemas: the types are written out where they are first used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_NAMED = ("record", "error", "enum", "fixed")


def inlined(schema: Any, others: Mapping[str, Any]) -> Any:
    """Return `schema` with each type of `others`, by full name, defined where it is first used, also inside them.

    >>> inlined({"type": "array", "items": "a.E"}, {"a.E": {"type": "enum", "name": "E", "symbols": []}})
    {'type': 'array', 'items': {'type': 'enum', 'name': 'a.E', 'symbols': []}}
    """
    return _Writer(dict(others)).written(schema, "")


class _Writer:
    def __init__(self, waiting: dict[str, Any]) -> None:
        self._known = set(waiting)
        self._waiting = waiting

    def written(self, schema: Any, scope: str) -> Any:
        if isinstance(schema, list):
            return [self.written(one, scope) for one in schema]
        if isinstance(schema, str):
            return self._name(schema, scope)
        if not isinstance(schema, dict):
            return schema
        made, inner = dict(schema), scope
        if schema.get("type") in _NAMED:
            inner = self._defined(schema, scope)
        elif "type" in schema:
            made["type"] = self.written(schema["type"], scope)
            if isinstance(schema["type"], str) and isinstance(made["type"], dict):
                return made["type"]
        for part in ("items", "values"):
            if part in schema:
                made[part] = self.written(schema[part], scope)
        if isinstance(schema.get("fields"), list):
            made["fields"] = [
                field | {"type": self.written(field.get("type"), inner)} if isinstance(field, dict) else field
                for field in schema["fields"]
            ]
        return made

    def _name(self, name: str, scope: str) -> Any:
        full = f"{scope}.{name}" if scope and "." not in name else name
        full = full if full in self._known else name
        if full not in self._waiting:
            return full
        definition = self._waiting.pop(full)
        if not isinstance(definition, dict):
            return self.written(definition, "")
        return self.written({n: v for n, v in definition.items() if n != "namespace"} | {"name": full}, "")

    def _defined(self, schema: Mapping[str, Any], scope: str) -> str:
        """Note a definition, which goes before a type of another schema with its short name; return its namespace."""
        name, own = str(schema.get("name", "")), schema.get("namespace")
        space = name.rpartition(".")[0] if "." in name else str(scope if own is None else own)
        self._known.add(name if "." in name or not space else f"{space}.{name}")
        return space
