"""Texts are schemas where the product takes them for such, and arrays that would never end are none."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings

from catalog.schema.avro_names import AvroSchemaError
from catalog.schema.avro_schema import AvroSchema
from tests.catalog.schema.test_avro_schema import ENDLESS, array, tree
from tests.connectors.avro_samples import Sample, samples
from tests.effort import examples
from tidewire.verification.schemas.avro_schemas import avro_schema
from tidewire.verification.schemas.schema_fault import NoSchema

EMPTY = {"type": "record", "name": "N", "fields": []}
TREE = {"type": "record", "name": "T", "fields": [{"name": "next", "type": ["null", "T"]}]}
LOOP = {"type": "record", "name": "L", "fields": [{"name": "all", "type": {"type": "array", "items": "L"}}]}
TEXTS = [
    "", "no", "5", "[]", "{}", '"long"', '"longer"', '{"type":"record","name":"R"}', '{"type":{"type":"int"}}',
    *map(json.dumps, [
        *ENDLESS, tree(array("T")), tree(["null", array("shop.T")]),
        EMPTY, TREE, LOOP, ["null", "int"], {"type": "array", "items": EMPTY}, {"type": "array", "items": TREE},
        {"type": "array", "items": ["null"]}, {"type": "array", "items": []},
        {"type": "array", "items": {"type": "null"}},
        {"type": "map", "values": {"type": "array", "items": "null"}}, {"type": "enum", "name": "E", "symbols": ["A"]},
        {"type": "array", "items": {"type": "enum", "name": "E", "symbols": ["A"]}},
        {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}, {"name": "a", "type": "int"}]},
        {"type": "bytes", "logicalType": "decimal", "precision": -1}, {"type": "int", "logicalType": ["date"]},
        {"type": "int", "name": ["of no use"]}, {"type": "fixed", "name": "F", "size": "2", "logicalType": "decimal"},
    ]),
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_the_product_takes_the_same_texts(text: str) -> None:
    try:
        expected = AvroSchema(text, "")
    except AvroSchemaError:
        with pytest.raises(NoSchema):
            avro_schema(text)
        return
    found = avro_schema(text)
    assert {name for name, _ in found.fields or ()} == set(expected.fields)
    assert (found.fields is not None) == expected.is_record


@settings(max_examples=examples(200), deadline=None)
@given(samples())
def test_fields_are_of_the_same_types(sample: Sample) -> None:
    text = json.dumps(sample.schema)
    ours, product = avro_schema(text), AvroSchema(text, "")
    for name, type_ in ours.fields or ():
        found, expected = ours.scalar(type_), product.fields[name]
        assert (found is None) == (expected is None)
        if found is not None and expected is not None:
            assert (found["type"], found.get("logicalType", "")) == (expected.name, expected.logical)
            assert (tuple(found.get("symbols", ())), found.get("size", 0)) == (expected.symbols, expected.size)
