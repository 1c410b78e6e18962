from __future__ import annotations

import io
import json
import re
import struct

import fastavro
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from catalog.schema.relation import Relation
from connectors.formats.avro_format import AvroFormat
from connectors.json.scalar import scalar_text
from tests.connectors.relations import records
from tests.effort import examples

ONE = {
    "type": "record", "name": "shop.Trade", "fields": [
        {"name": "id", "type": "long"},
        {"name": "v", "type": ["null", "int"], "default": None},
        {"name": "more", "type": {"type": "array", "items": "string"}},
    ],
}  # fmt: skip
KEY = {"type": "record", "name": "Key", "fields": [{"name": "id", "type": "int"}]}


def table(type_: str, **schemas: object) -> Relation:
    options = ", ".join(f"'{name.replace('_', '.')}'='{json.dumps(schema)}'" for name, schema in schemas.items())
    ddl = f"CREATE TABLE t (id BIGINT PRIMARY KEY, v {type_}) WITH ('format'='avro', {options})"
    return apply_ddl(Catalog(), ddl, 0).relations["t"]


def datum(schema: object, value: object, number: int | None = None) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), value)
    return (b"" if number is None else struct.pack(">bI", 0, number)) + out.getvalue()


def one(relation: Relation, key: bytes | None, value: bytes | None):
    decoded = AvroFormat(relation, keyless=True).decode(records([(key, value)]))
    return (decoded.dead[0].code, decoded.dead[0].message) if decoded.dead else decoded.changes


def test_rows_by_the_schema_that_wrote_them():
    later = ONE | {"fields": [*ONE["fields"], {"name": "w", "type": "string"}]}
    relation = table("INTEGER", schema_7=ONE, schema_9=later, schema_3=KEY, schema_4="long")
    row = {"id": 5, "v": -3, "more": ["x"]}
    for key in (None, b"5", b'{"id":5}', datum(KEY, {"id": 5}, 3), datum("long", 5, 4)):
        for value in (datum(ONE, row, 7), datum(later, row | {"w": "z"}, 9)):
            changes = one(relation, key, value)
            assert (changes.keys, changes.codes.tolist(), changes.live.tolist()) == ([b'{"id":5}'], [[5], [-3]], [True])
    assert not one(relation, datum("long", 5, 4), None).live[0]
    assert not one(relation, b"5", datum(ONE, row | {"v": None}, 7)).valid[1, 0]


@pytest.mark.parametrize(
    ("key", "value", "code", "said"),
    [
        (None, datum(ONE, {"id": 5, "v": 1, "more": []}, 8), "unknown_schema", "schema 8 wrote it"),
        (None, b"", "malformed_frame", "byte 0"),
        (None, b'{"id":1}', "malformed_frame", "byte 0"),
        (None, datum(ONE, {"id": 5, "v": 1, "more": []}, 7)[:-1], "malformed_avro", "schema 7 `shop.Trade`"),
        (None, datum(ONE, {"id": 5, "v": 1, "more": []}, 7) + b"\0", "malformed_avro", "1 bytes stand behind"),
        (None, datum(ONE, {"id": 5, "v": 70000, "more": []}, 7), "out_of_range", "column `v`.*schema 7 `shop.Trade`"),
        (b"6", datum(ONE, {"id": 5, "v": 1, "more": []}, 7), "key_disagrees", ""),
        (b"x", datum(ONE, {"id": 5, "v": 1, "more": []}, 7), "malformed_key", ""),
        (datum(KEY, {"id": 5}, 3)[:-1], None, "malformed_key", "schema 3 `Key`"),
        (datum("long", 5, 5), None, "unknown_schema", "the Kafka key: schema 5"),
        (None, datum("long", 5, 4), "not_an_object", "schema 4"),
        (None, None, "missing_key", ""),
    ],
)
def test_refusals_say_which_schema_wrote_the_record(key, value, code, said):
    found = one(table("SMALLINT", schema_7=ONE, schema_3=KEY, schema_4="long"), key, value)
    assert found[0] == code
    assert re.search(said, found[1])


def logical(type_: str, logical: str, **more: object) -> dict:
    return {"type": type_, "logicalType": logical} | more


@pytest.mark.parametrize(
    ("column", "written", "value", "result"),
    [
        ("DOUBLE", "float", 0.1, "0.10000000149011612"),
        ("DOUBLE", "double", -0.0, "0.0"),
        ("DOUBLE", "long", 7, "7.0"),
        ("DOUBLE", "double", float("nan"), "out_of_range"),
        ("REAL", "double", 0.1, "0.10000000149011612"),
        ("REAL", "double", 1e39, "out_of_range"),
        ("DECIMAL(12,2)", logical("bytes", "decimal", precision=9, scale=3), b"\x04\xd2", "out_of_scale"),
        ("DECIMAL(12,2)", logical("bytes", "decimal", precision=9, scale=2), b"\x04\xd2", '"12.34"'),
        ("DECIMAL(12,2)", logical("bytes", "decimal", precision=9, scale=2), b"", "malformed_value"),
        ("DECIMAL(38,2)", logical("fixed", "decimal", name="F", size=3, precision=5), b"\xff\xff\xff", '"-1.00"'),
        ("DECIMAL(12,2)", "string", "1e1", '"10.00"'),
        ("DECIMAL(12,2)", "double", 1.5, "wrong_type"),
        ("DECIMAL(12,2)", "bytes", b"1", "wrong_type"),
        ("DATE", logical("int", "date"), 20454, '"2026-01-01"'),
        ("DATE", logical("int", "date"), -719163, "out_of_range"),
        ("DATE", "int", 5, "wrong_type"),
        ("DATE", logical("float", "date"), 1.5, "wrong_type"),
        ("DATE", logical("bytes", "date"), b"x", "wrong_type"),
        ("DATE", logical("string", "date"), "2026-01-01", '"2026-01-01"'),
        ("TIMESTAMP", logical("int", "timestamp-millis"), 5, "wrong_type"),
        ("TIMESTAMP", logical("bytes", "timestamp-millis"), b"x", "wrong_type"),
        ("DECIMAL(12,2)", logical("int", "decimal", precision=6, scale=2), 7, '"7.00"'),
        ("DECIMAL(12,2)", logical("bytes", "decimal", precision=6, scale="2"), b"\x04\xd2", "wrong_type"),
        ("DATE", "string", "2026-01-01", '"2026-01-01"'),
        ("TIMESTAMP", logical("long", "timestamp-millis"), 1772409599999, '"2026-03-01T23:59:59.999000"'),
        ("TIMESTAMP", logical("long", "local-timestamp-micros"), 1, '"1970-01-01T00:00:00.000001"'),
        ("TIMESTAMP", logical("long", "timestamp-nanos"), 1001, "out_of_scale"),
        ("TIMESTAMP", logical("long", "timestamp-nanos"), -1000, '"1969-12-31T23:59:59.999999"'),
        ("TIMESTAMP", logical("long", "timestamp-micros"), 2**62, "out_of_range"),
        ("TIMESTAMP", "long", 5, "wrong_type"),
        ("VARCHAR", "string", "é", '"é"'),
        ("VARCHAR", {"type": "enum", "name": "E", "symbols": ["A", "B"]}, "B", '"B"'),
        ("VARCHAR", "bytes", b"x", "wrong_type"),
        ("VARCHAR", {"type": "array", "items": "string"}, ["x"], "wrong_type"),
        ("BOOLEAN", "boolean", True, "true"),
        ("BOOLEAN", "int", 1, "wrong_type"),
        ("BIGINT", "boolean", True, "wrong_type"),
        ("BIGINT", ["int", "string"], 5, "wrong_type"),
        ("BIGINT", "double", 5.0, "wrong_type"),
    ],
)
def test_values(column, written, value, result):
    fields = [{"name": "id", "type": "int"}, {"name": "v", "type": written}]
    schema = {"type": "record", "name": "R", "fields": fields}
    plain = {"type": "record", "name": "R", "fields": [fields[0], {"name": "v", "type": unlogical(written)}]}
    relation = table(column, schema=schema)
    found = one(relation, None, datum(plain, {"id": 1, "v": value}))
    if isinstance(found, tuple):
        assert found[0] == result
        return
    coded = found.texts[1][0] if 1 in found.texts else int(found.codes[1, 0])
    assert scalar_text(relation.column("v").type, coded) == result


def unlogical(written):
    return {k: v for k, v in written.items() if k != "logicalType"} if isinstance(written, dict) else written


@pytest.mark.parametrize(
    "schema",
    [
        "no", {"type": "record"}, 5, {"type": "array", "items": "null"}, {"type": "record", "name": "R", "fields": [5]},
        {"type": "array", "items": {"type": "record", "name": "E", "fields": []}}, None,
    ],
)  # fmt: skip
def test_schemas_that_are_refused(schema):
    with pytest.raises(ValueError, match="no Avro schema"):
        table("INTEGER", schema=schema)


def test_a_table_lists_more_schemas_later_and_changes_none():
    ddl = "CREATE TABLE t (id BIGINT PRIMARY KEY) WITH ('format'='avro', 'schema.1'='\"long\"'{})"
    before = apply_ddl(Catalog(), ddl.format(""), 0)
    after = apply_ddl(before, ddl.format(", 'schema.2'='\"int\"'"), 1)
    assert [name for name, _ in after.relations["t"].options] == ["schema.1", "schema.2"]
    with pytest.raises(ValueError, match=r"option schema\.1"):
        apply_ddl(before, ddl.format("").replace("long", "int"), 1)
    with pytest.raises(ValueError, match="neither or both"):
        apply_ddl(Catalog(), "CREATE TABLE t (id BIGINT PRIMARY KEY) WITH ('format'='avro')", 0)


TEXT = {"name": "v", "type": ["null", "string"]}
PLAIN = ONE | {"fields": [ONE["fields"][0], TEXT, ONE["fields"][2]]}
FUZZED = table("VARCHAR", schema_1=PLAIN)


@settings(max_examples=examples(200), deadline=None)
@given(st.one_of(st.binary(max_size=40), st.binary(max_size=30).map(lambda data: b"\0\0\0\0\1" + data)), st.booleans())
def test_no_bytes_raise(data, as_key):
    decoded = AvroFormat(FUZZED, keyless=True).decode(records([(data, data) if as_key else (None, data)]))
    assert len(decoded.changes) + len(decoded.dead) == 1


SOME = ["SMALLINT", "INTEGER", "BIGINT", "BOOLEAN", "VARCHAR", "DECIMAL(6,2)", "DATE", "REAL"]


@pytest.mark.parametrize("type_", SOME)
@pytest.mark.parametrize("written", ["float", "double"])
@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
def test_what_is_no_number_is_refused_in_every_column(type_, written, value):
    schema = {"type": "record", "name": "T", "fields": [{"name": "id", "type": "long"}, {"name": "v", "type": written}]}
    code, _ = one(table(type_, schema=schema), None, datum(schema, {"id": 5, "v": value}))
    assert code == ("out_of_range" if type_ == "REAL" else "wrong_type")
