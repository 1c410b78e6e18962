"""Avro schemas that spell names in every way there is, and datums of them that fastavro has written.

Each schema is drawn twice at once: as a table lists it, with namespaces, dots, names used again, logical types; and
plain, with numbers for names and no namespace, which is what fastavro writes by and what a reader has to make of it.
"""

from __future__ import annotations

import io
import json
from decimal import Decimal
from typing import Any, NamedTuple

import fastavro
from hypothesis import strategies as st

SPACES = ("", "a", "a.b", "b")
SHORT = ("D", "E", "array")
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "null": st.none(),
    "boolean": st.booleans(),
    "int": st.integers(-(2**31), 2**31 - 1),
    "long": st.integers(-(2**63), 2**63 - 1),
    "float": st.floats(width=32, allow_nan=False, allow_infinity=False),
    "double": st.floats(allow_nan=False, allow_infinity=False),
    "bytes": st.binary(max_size=3),
    "string": st.text(max_size=3),
}


class Sample(NamedTuple):
    """A CREATE TABLE with its schema, a datum, and what the columns' values are."""

    ddl: str
    schema: Any
    data: bytes
    row: dict[str, Any]


class Field(NamedTuple):
    """A type as it is listed, as it is written, the column that takes it (None: none), and a decimal's scale."""

    listed: Any
    plain: Any
    column: str | None = None
    scale: int | None = None


class _Schemas:
    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self._known: dict[str, Field] = {}
        self._open: set[str] = set()

    def field(self, space: str, depth: int) -> Field:
        used = [name for name in self._known if name not in self._open]
        kinds = ["plain", "enum", "fixed", "nullable"] + ["used"] * 4 * bool(used)
        kinds += ["record", "array", "map", "union"] * (depth > 0)
        kind = self._draw(st.sampled_from(kinds))
        return getattr(self, f"_{kind}")(space, depth)

    def _plain(self, space: str, depth: int) -> Field:
        kind = self._draw(st.sampled_from([*VALUES]))
        columns = {"int": "BIGINT", "long": "BIGINT", "string": "VARCHAR", "boolean": "BOOLEAN", "double": "DOUBLE"}
        listed = {"type": kind} if self._draw(st.booleans()) else kind
        return Field(listed, kind, columns.get(kind))

    def _used(self, space: str, depth: int) -> Field:
        """Use a type again, by the short name where that means it."""
        name = self._draw(st.sampled_from([name for name in self._known if name not in self._open]))
        before, _, short = name.rpartition(".")
        field = self._known[name]
        spelled = short if before == space and self._draw(st.booleans()) else name
        if not before and space:
            return self._plain(space, depth)
        return field._replace(listed=spelled, plain=field.plain["name"])

    def _named(self, space: str, definition: dict[str, Any]) -> tuple[dict[str, Any], str, str]:
        """Spell a new full name in one of the ways that there are."""
        own, short = self._draw(st.sampled_from(SPACES)), self._draw(st.sampled_from(SHORT))
        ways = ["namespace"] + ["dots"] * bool(own) + ["inherited"] * (own == space)
        way = self._draw(st.sampled_from(ways))
        full = f"{own}.{short}" if own else short
        if full in self._known:
            short = f"{short}{len(self._known)}"
            full = f"{own}.{short}" if own else short
        more = {
            "namespace": {"name": short, "namespace": own},
            "dots": {"name": full, "namespace": "of.no.use"},
            "inherited": {"name": short},
        }
        return definition | more[way], full, own

    def _enum(self, space: str, depth: int) -> Field:
        symbols = self._draw(st.lists(st.sampled_from("ABCDXYZ"), min_size=1, max_size=3, unique=True))
        listed, full, _ = self._named(space, {"type": "enum", "symbols": symbols, "aliases": ["a.D", "E"]})
        plain = {"type": "enum", "name": f"T{len(self._known)}", "symbols": symbols}
        self._known[full] = Field(listed, plain, "VARCHAR")
        return self._known[full]

    def _fixed(self, space: str, depth: int) -> Field:
        scale = self._draw(st.integers(0, 2))
        decimal = {"type": "fixed", "size": 2, "logicalType": "decimal", "precision": 4, "scale": scale}
        listed, full, _ = self._named(space, decimal)
        self._known[full] = Field(
            listed, {"type": "fixed", "name": f"T{len(self._known)}", "size": 2}, "DECIMAL(20,2)", scale
        )
        return self._known[full]

    def _nullable(self, space: str, depth: int) -> Field:
        inner = self.field(space, 0)
        if isinstance(inner.plain, list) or inner.plain == "null":
            return inner
        return inner._replace(listed=["null", inner.listed], plain=["null", inner.plain])

    def _union(self, space: str, depth: int) -> Field:
        array, map_ = self._array(space, depth), self._map(space, depth)
        return Field([array.listed, "null", map_.listed], [array.plain, "null", map_.plain])

    def _array(self, space: str, depth: int) -> Field:
        """An array of what has bytes: others are no schema."""
        inner = self.field(space, depth - 1)
        if inner.plain == "null":
            inner = Field(["null"], ["null"])
        elif _may_be_empty(inner.plain):
            inner = Field(["null", inner.listed], ["null", inner.plain])
        return Field({"type": "array", "items": inner.listed}, {"type": "array", "items": inner.plain})

    def _map(self, space: str, depth: int) -> Field:
        inner = self.field(space, depth - 1)
        return Field({"type": "map", "values": inner.listed}, {"type": "map", "values": inner.plain})

    def _record(self, space: str, depth: int) -> Field:
        listed, full, own = self._named(space, {"type": "record"})
        plain: dict[str, Any] = {"type": "record", "name": f"T{len(self._known)}"}
        self._known[full] = Field(listed, plain)
        self._open.add(full)
        within = listed["name"].rpartition(".")[0] if "." in listed["name"] else own
        fields = [self.field(within, depth - 1) for _ in range(self._draw(st.integers(0, 3)))]
        listed["fields"] = [{"name": f"f{i}", "type": one.listed} for i, one in enumerate(fields)]
        plain["fields"] = [{"name": f"f{i}", "type": one.plain} for i, one in enumerate(fields)]
        if self._draw(st.booleans()):
            listed["fields"].append(
                {"name": "self", "type": ["null", full if within == own and own else listed["name"]]}
            )
            plain["fields"].append({"name": "self", "type": ["null", plain["name"]]})
        self._open.discard(full)
        return self._known[full]


def _may_be_empty(plain: Any) -> bool:
    return plain[:1] == "T" if isinstance(plain, str) else isinstance(plain, dict) and plain["type"] == "record"


def value(draw: st.DrawFn, plain: Any, named: dict[str, Any], depth: int = 0) -> Any:
    """Draw a value of a plain schema. What it defines is put in `named`."""
    if isinstance(plain, list):
        branch = draw(st.sampled_from(plain if depth < 4 else ["null"]))
        if branch != "null" and len(plain) == 2:
            return value(draw, branch, named, depth + 1)
        return None if branch == "null" else value(draw, branch, named, depth + 1)
    if isinstance(plain, str):
        return draw(VALUES[plain]) if plain in VALUES else value(draw, named[plain], named, depth)
    kind = plain["type"]
    if kind == "record":
        return {one["name"]: value(draw, one["type"], named, depth + 1) for one in plain["fields"]}
    if kind == "array":
        return [value(draw, plain["items"], named, depth + 1) for _ in range(draw(st.integers(0, 2)))]
    if kind == "map":
        return {name: value(draw, plain["values"], named, depth + 1) for name in draw(st.sampled_from(["", "é", "xy"]))}
    return draw(st.sampled_from(plain["symbols"])) if kind == "enum" else draw(st.binary(min_size=2, max_size=2))


def definitions(plain: Any, found: dict[str, Any]) -> dict[str, Any]:
    """Return what a plain schema defines, by name."""
    if isinstance(plain, list):
        for one in plain:
            definitions(one, found)
    elif isinstance(plain, dict):
        if "name" in plain and "type" in plain and plain["type"] in ("record", "enum", "fixed"):
            found[plain["name"]] = plain
        for part in ("items", "values", "type"):
            definitions(plain.get(part), found)
        definitions(plain.get("fields", []), found)
    return found


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    """Draw a table of a random schema, and a datum."""
    space = draw(st.sampled_from(SPACES))
    drawn = _Schemas(draw)
    fields = [drawn.field(space, 3) for _ in range(draw(st.integers(1, 5)))]
    spelled = {"name": "Row", "namespace": space} if draw(st.booleans()) else {"name": f"{space}.Row".lstrip(".")}
    id_ = [{"name": "id", "type": "long"}]
    listed = {"type": "record", "fields": [*id_, *({"name": f"c{i}", "type": f.listed} for i, f in enumerate(fields))]}
    plain = {
        "type": "record",
        "name": "Row",
        "fields": [*id_, *({"name": f"c{i}", "type": f.plain} for i, f in enumerate(fields))],
    }
    datum = value(draw, plain, definitions(plain, {}))
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(json.dumps(plain))), datum)
    columns = {f"c{i}": f for i, f in enumerate(fields) if f.column is not None}
    ddl = "".join(f", {name} {f.column}" for name, f in columns.items())
    text = json.dumps(listed | spelled)
    row = {name: _said(f, datum[name]) for name, f in columns.items()}
    ddl = f"CREATE TABLE t (id BIGINT PRIMARY KEY{ddl}) WITH ('format'='avro', 'schema'='{text}')"
    return Sample(ddl, listed | spelled, out.getvalue(), row)


def _said(field: Field, value: Any) -> Any:
    if field.scale is None or value is None:
        return value
    return Decimal(int.from_bytes(value, "big", signed=True)).scaleb(-field.scale)
