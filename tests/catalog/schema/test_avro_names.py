"""Names mean what Avro's specification has them mean, wherever a type is defined and used."""

from __future__ import annotations

import json
from typing import Any

import pytest

from catalog.schema.avro_names import AvroSchemaError, resolved
from catalog.schema.avro_schema import AvroSchema
from catalog.schema.avro_type import AvroRecord
from tidewire.verification.schemas.avro_schemas import avro_schema
from tidewire.verification.schemas.schema_fault import NoSchema


def enum(name: str, symbol: str, **more: Any) -> dict[str, Any]:
    return {"type": "enum", "name": name, "symbols": [symbol]} | more


def row(*types: Any, name: str = "a.b.R", **more: Any) -> dict[str, Any]:
    fields = [{"name": f"f{i}", "type": one} for i, one in enumerate(types)]
    return {"type": "record", "name": name, "fields": fields} | more


def symbol(document: Any) -> str:
    """The one symbol of the enum that the last field is, as both readers of schemas say."""
    schema = AvroSchema(json.dumps(document), "")
    last = list(schema.fields)[-1]
    found, judged = schema.fields[last], avro_schema(json.dumps(document))
    assert found is not None
    other = judged.scalar(dict(judged.fields or [])[last])
    assert other is not None and tuple(other["symbols"]) == found.symbols
    return found.symbols[0]


def refused(document: Any, match: str) -> None:
    with pytest.raises(AvroSchemaError, match=match):
        AvroSchema(json.dumps(document), "")
    with pytest.raises(NoSchema):
        avro_schema(json.dumps(document))


E, OTHER = enum("E", "ours"), enum("E", "other", namespace="z")
SPELLINGS = [
    (E, "E"), (E, "a.b.E"), (E, {"type": "E"}), (E, {"type": "a.b.E", "logicalType": "date"}), (E, ["null", "E"]),
    (enum("a.b.E", "ours"), "E"), (enum("a.b.E", "ours", namespace="z"), "E"),
    (enum("E", "ours", namespace="a.b"), "E"),
    (enum("E", "ours", namespace="c"), "c.E"), (enum("c.E", "ours"), "c.E"), (enum("E", "ours", namespace=None), "E"),
    (enum("record", "ours"), "record"), (enum("array", "ours"), "a.b.array"),
]  # fmt: skip


@pytest.mark.parametrize(("defined", "used"), SPELLINGS)
def test_a_name_is_found_by_each_of_its_spellings(defined: Any, used: Any) -> None:
    assert symbol(row(defined, OTHER, used)) == "ours"
    assert symbol(row(OTHER, defined, used)) == "ours"


PLACES = [
    lambda one: {"type": "array", "items": one},
    lambda one: {"type": "map", "values": one},
    lambda one: ["null", one],
    lambda one: ["null", {"type": "array", "items": {"type": "map", "values": [one, "int"]}}],
    lambda one: row(one, name="Inner"),
    lambda one: row(row(one, name="Deep"), name="Inner"),
    lambda one: {"type": "array", "items": row(one, name="Inner")},
    lambda one: row(one, name="Inner", type="error"),
]


@pytest.mark.parametrize("place", PLACES)
def test_a_type_is_known_wherever_it_is_defined(place: Any) -> None:
    assert symbol(row(place(E), "E")) == "ours"
    assert symbol(row(OTHER, place(E), "a.b.E")) == "ours"
    assert symbol(row(place(OTHER), "z.E")) == "other"
    refused(row("E", place(E)), "nothing before defines.*a.b.E")


def test_a_namespace_is_that_of_the_nearest_definition_around() -> None:
    assert symbol(row(row(E, name="c.Inner"), "c.E")) == "ours"
    assert symbol(row(row(E, name="Inner", namespace="c"), "c.E")) == "ours"
    assert symbol(row(row(E, name="c.d.Inner", namespace="e"), "c.d.E")) == "ours"
    assert symbol(row(row(E, name="Inner"), OTHER, "E")) == "ours"
    refused(row(row(E, name="c.Inner"), "E"), "nothing before defines.*a.b.E")
    within = row(row(row(enum("E", "inner"), name="Deep"), "E", name="c.Inner"), E, "E")
    assert symbol(within) == "ours"
    assert symbol(row(E, row(enum("E", "inner"), "E", name="c.Inner"), "c.E")) == "inner"


def test_the_null_namespace() -> None:
    assert symbol(row(E, "E", name="R")) == "ours"
    assert symbol(row(row(E, name="Inner", namespace=""), E | {"symbols": ["mine"]}, "E")) == "mine"
    assert symbol(row(row(E, "E", name="Inner", namespace=""), OTHER, "z.E")) == "other"
    refused(row(enum("E", "ours", namespace=""), "E"), "nothing before defines.*a.b.E")
    refused(row(E, "b.E"), "nothing before defines.*b.E")


@pytest.mark.parametrize("kind", ["null", "boolean", "int", "long", "float", "double", "bytes", "string"])
def test_primitive_types_are_in_no_namespace(kind: str) -> None:
    found = resolved(row(E, kind))
    assert isinstance(found, AvroRecord)
    assert found.fields[-1][1].name == kind
    refused(row(enum(kind, "ours")), "the name of a primitive type")
    refused(row(enum(f"c.{kind}", "ours")), "the name of a primitive type")
    refused(row(E, f"a.b.{kind}"), "nothing before defines")


@pytest.mark.parametrize("again", [E, enum("a.b.E", "x"), enum("E", "x", namespace="a.b"), row(name="E")])
def test_a_name_is_defined_once(again: Any) -> None:
    for place in (lambda one: one, *PLACES):
        refused(row(E, place(again)), "two types have the name `a.b.E`")
    refused(row(enum("R", "x")), "two types have the name `a.b.R`")


def test_aliases_are_names_of_nothing() -> None:
    refused(row(E | {"aliases": ["F", "a.b.G"]}, "F"), "nothing before defines.*a.b.F")
    assert symbol(row(E | {"aliases": ["z.E"]}, OTHER, "z.E")) == "other"


def test_what_is_meant_is_told() -> None:
    refused(row(enum("Side", "x"), "Sied"), "Did you mean `a.b.Side`")


@pytest.mark.parametrize(
    "document",
    [
        row(enum("", "x")), row({"type": "enum", "symbols": ["x"]}), row(enum("E", "x", namespace=5)),
        row({"type": "enum", "name": 5, "symbols": ["x"]}), row({"type": "enum", "name": "E"}), row(enum("E", "x-y")),
        row(enum("E", "x") | {"symbols": ["x", "x"]}), row(enum("E", "x") | {"symbols": "xy"}),
        row(enum("E", "x") | {"symbols": [5]}), row({"type": "fixed", "name": "F"}), row({"type": ["null", "int"]}),
        row({"type": {"type": "int"}}), row({"name": "E"}), row({"type": "array"}), row({"type": "map"}), row(None),
        row({"type": "record", "name": "Q"}), row({"type": "record", "name": "Q", "fields": {}}), row("record"),
        row({"type": "record", "name": "Q", "fields": [{"name": "x"}]}),
        row({"type": "record", "name": "Q", "fields": [5]}),
        row({"type": "record", "name": "Q", "fields": [{"type": "int"}]}),
    ],
)  # fmt: skip
def test_what_is_no_definition(document: Any) -> None:
    refused(document, "no Avro schema: ")


@pytest.mark.parametrize(
    "document",
    [row("R"), row(row("R", name="Q")), row(["null", row(row("Q", name="P"), name="Q")]),
     row(["null", row("R", name="Q")], "Q")],
)  # fmt: skip
def test_records_that_never_end_are_refused(document: Any) -> None:
    refused(document, "holds itself")


@pytest.mark.parametrize("size", ["2", -1, None, 2.0, True])
def test_a_fixed_of_no_size_is_no_type(size):
    with pytest.raises(AvroSchemaError, match="the size of a fixed"):
        resolved({"type": "fixed", "name": "F", "size": size})
