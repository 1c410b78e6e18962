from __future__ import annotations

import json

import pytest

from connectors.dead_letter import RecordFault
from connectors.json.document import Members
from connectors.schemas.connect_schema import Enveloped, FieldSchema, SchemaReader

PRICE = {"field": "price", "type": "bytes", "name": "Decimal", "parameters": {"scale": "-2"}}
SCHEMA = {"type": "struct", "name": "Row", "fields": [{"field": "payload", "type": "int32"}, PRICE]}
READ = FieldSchema(
    "struct", "Row", None, {"payload": FieldSchema("int32"), "price": FieldSchema("bytes", "Decimal", -2)}
)


def wrapped(payload: str, schema: object = SCHEMA) -> bytes:
    return f'{{"schema":{json.dumps(schema, separators=(",", ":"))},"payload":{payload}}}'.encode()


def test_the_second_record_of_a_schema_is_read_as_the_first():
    reader = SchemaReader()
    for number in ("1", "2", '"}"', "null", '{"payload":{"a":[]}}'):
        enveloped = reader.read(wrapped(number))
        assert enveloped.schema == READ
        assert enveloped == SchemaReader().read(wrapped(number))


def test_what_has_no_wrapper_is_its_own_payload():
    reader = SchemaReader()
    assert reader.read(b'{"schema":1}') == Enveloped(Members([("schema", "1")]), None)
    assert reader.read(b'{"payload":1,"schema":null}') == Enveloped("1", None)
    assert reader.read(b"[1]") == Enveloped(["1"], None)


@pytest.mark.parametrize("tail", [b"x}", b"1}}", b"1,}", b'1,"more":2}', b"1", b"}", b"[1}", b"NaN}", b'"\xff"}'])
def test_the_head_that_is_known_makes_nothing_legal(tail):
    head = wrapped("")[:-1]
    seen = SchemaReader()
    seen.read(head + b"1}")
    said = []
    for reader in (seen, SchemaReader()):
        try:
            said.append(reader.read(head + tail))
        except RecordFault as fault:
            said.append((fault.code, fault.message))
    assert said[0] == said[1]


def test_depth_is_that_of_the_whole_text():
    reader = SchemaReader()
    reader.read(wrapped("1"))
    reader.read(wrapped("[" * 63 + "]" * 63))
    with pytest.raises(RecordFault) as caught:
        reader.read(wrapped("[" * 64 + "]" * 64))
    assert caught.value.code == "too_deep"


@pytest.mark.parametrize(
    "schema",
    [
        1, {}, {"type": 1}, {"type": "struct"}, {"type": "struct", "fields": {}}, {"type": "struct", "fields": [1]},
        {"type": "struct", "fields": [{"type": "int32"}]}, {"type": "int32", "name": 5},
        {"type": "struct", "fields": [{"field": "a", "type": "int8"}] * 2},
        {"type": "bytes", "parameters": {"scale": "two"}}, {"type": "bytes", "parameters": {"scale": "²"}},
    ],
)  # fmt: skip
def test_schemas_that_are_none(schema):
    with pytest.raises(RecordFault) as caught:
        SchemaReader().read(wrapped("1", schema))
    assert caught.value.code == "malformed_schema"


def test_many_schemas_are_not_remembered_for_ever():
    reader = SchemaReader()
    for number in range(200):
        reader.read(wrapped("1", {"type": "struct", "name": f"v{number}", "fields": []}))
    assert len(reader._heads) <= 64
