import json

import pytest

from catalog.schema.avro_names import AvroSchemaError
from catalog.schema.avro_schema import AvroSchema
from catalog.schema.avro_type import AvroType


def type_of(written: object) -> AvroType | None:
    document = {"type": "record", "name": "R", "fields": [{"name": "v", "type": written}]}
    return AvroSchema(json.dumps(document), "").fields["v"]


def logical(type_: str, name: object, /, **more: object) -> dict[str, object]:
    return {"type": type_, "logicalType": name} | more


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("int", AvroType("int")),
        (["null", "string"], AvroType("string")),
        (["null", "int", "string"], None),
        (["null", {"type": "int", "logicalType": "date"}], AvroType("int", "date")),
        ({"type": "array", "items": "int"}, None),
        (logical("long", "local-timestamp-nanos"), AvroType("long", "local-timestamp-nanos")),
        (logical("bytes", "decimal", precision=6, scale=2), AvroType("bytes", "decimal", 2)),
        (logical("bytes", "decimal", precision=6), AvroType("bytes", "decimal", 0)),
        (logical("fixed", "decimal", name="F", size=2, precision=4), AvroType("fixed", "decimal", 0, size=2)),
        ({"type": "int", "name": ["of", "no", "use"]}, AvroType("int")),
    ],
)
def test_types_of_fields(written, found):
    assert type_of(written) == found


@pytest.mark.parametrize("text", ["", "no", "5", "[]]", '"longer"', '{"type":"record","name":"R"}'])
def test_what_is_no_schema(text):
    with pytest.raises(AvroSchemaError, match="no Avro schema"):
        AvroSchema(text, "")


NOTHING = {"type": "record", "name": "N", "namespace": "shop", "fields": [{"name": "x", "type": "null"}]}


def array(items: object) -> dict[str, object]:
    return {"type": "array", "items": items}


ENDLESS = [
    array("null"),
    array(NOTHING),
    array(NOTHING | {"type": "error"}),
    array({"type": "fixed", "name": "F", "size": 0}),
    ["null", array("null")],
    {"type": "map", "values": ["null", array("null")]},
    array(["null", array(NOTHING)]),
    {"type": "record", "name": "R", "fields": [{"name": "a", "type": NOTHING}, {"name": "b", "type": array("shop.N")}]},
    {"type": "record", "name": "shop.R", "fields": [{"name": "a", "type": NOTHING}, {"name": "b", "type": array("N")}]},
]


@pytest.mark.parametrize("document", ENDLESS)
def test_arrays_that_ten_bytes_could_make_endless_are_refused(document):
    with pytest.raises(AvroSchemaError, match=r"no Avro schema: .*items without bytes"):
        AvroSchema(json.dumps(document), "")


def tree(children: object) -> dict[str, object]:
    return {"type": "record", "name": "T", "namespace": "shop", "fields": [{"name": "children", "type": children}]}


@pytest.mark.parametrize(
    "document",
    [
        array(["null"]), array(array("int")), {"type": "map", "values": "null"}, tree(array("T")),
        tree(array("shop.T")), tree(["null", array("T")]),
        array(NOTHING | {"fields": [{"name": "x", "type": ["null", "int"]}]}),
    ],
)  # fmt: skip
def test_arrays_of_items_with_bytes_are_not(document):
    """An array has a byte itself, so what holds it has one, too."""
    assert AvroSchema(json.dumps(document), "").whole is None
