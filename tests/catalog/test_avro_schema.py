import json

import pytest

from catalog.avro_schema import AvroSchema, AvroSchemaError, AvroType


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
        (logical("fixed", "decimal", name="F", size=2, precision=4), AvroType("fixed", "decimal", 0)),
        ({"type": "int", "name": ["of", "no", "use"]}, AvroType("int")),
    ],
)
def test_types_of_fields(written, found):
    assert type_of(written) == found


@pytest.mark.parametrize(
    "written",
    [
        logical("float", "date"), logical("long", "date"), logical("string", "date"), logical("bytes", "date"),
        logical("boolean", "date"), logical("int", "timestamp-millis"), logical("double", "timestamp-micros"),
        logical("bytes", "local-timestamp-nanos"), logical("int", "decimal", precision=6, scale=2),
        logical("string", "decimal", precision=6, scale=2), logical("int", ["date"]), logical("int", {}),
    ],
)  # fmt: skip
def test_a_logical_type_that_does_not_fit_its_type_is_none(written):
    assert type_of(written) == AvroType(str(written["type"]))


@pytest.mark.parametrize(
    "more",
    [
        {}, {"scale": 2}, {"precision": 0}, {"precision": -1}, {"precision": "6", "scale": 2}, {"precision": True},
        {"precision": 6, "scale": "2"}, {"precision": 6, "scale": 7}, {"precision": 6, "scale": -1},
        {"precision": 6, "scale": 1.0}, {"precision": 6, "scale": None},
    ],
)  # fmt: skip
def test_a_decimal_that_is_not_whole_is_none(more):
    assert type_of(logical("bytes", "decimal", **more)) == AvroType("bytes")


@pytest.mark.parametrize(("size", "most"), [(1, 2), (2, 4), (3, 6), (4, 9), (8, 18), (16, 38), (10**12, 10**9)])
def test_a_fixed_decimal_has_no_more_digits_than_its_bytes_can_say(size, most):
    fits = logical("fixed", "decimal", name="F", size=size, precision=most)
    assert type_of(fits) == AvroType("fixed", "decimal")
    if size <= 16:
        assert type_of(fits | {"precision": most + 1}) == AvroType("fixed")


@pytest.mark.parametrize("size", ["2", 0, -1, None])
def test_a_fixed_of_no_size_is_no_decimal(size):
    assert type_of(logical("fixed", "decimal", name="F", size=size, precision=1)) == AvroType("fixed")


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
