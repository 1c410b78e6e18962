import pytest

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from connectors.formats.protobuf_format import ProtobufFormat
from connectors.json.scalar import scalar_text
from tests.catalog.types.test_value_messages import own
from tests.connectors.proto_files import TRADE, message, text_of
from tests.connectors.relations import records


def decoded(column: str, field: str, data: bytes, schema: str = "", name: str = "shop.Values") -> str:
    """The value as JSON, NULL, or the code of the refusal."""
    options = f"'format'='protobuf', 'schema'='{schema or text_of(TRADE)}', 'message'='{name}'"
    ddl = f"CREATE TABLE t (id BIGINT PRIMARY KEY, {field} {column}) WITH ({options})"
    relation = apply_ddl(Catalog(), ddl, 0).relations["t"]
    found = ProtobufFormat(relation, keyless=True).decode(records([(None, data)]))
    if found.dead:
        assert f"schema `{name}`" in found.dead[0].message
        return found.dead[0].code
    changes = found.changes
    if not changes.valid[1, 0]:
        return "NULL"
    coded = changes.texts[1][0] if 1 in changes.texts else int(changes.codes[1, 0])
    return scalar_text(relation.columns[1].type, coded)


@pytest.mark.parametrize(
    ("column", "field", "value", "result"),
    [
        ("BOOLEAN", "a_bool", True, "true"),
        ("BOOLEAN", "an_int32", 1, "wrong_type"),
        ("BIGINT", "a_bool", True, "wrong_type"),
        ("SMALLINT", "an_int32", -32768, "-32768"),
        ("SMALLINT", "a_sint32", 32768, "out_of_range"),
        ("INTEGER", "a_uint32", 2**31, "out_of_range"),
        ("INTEGER", "a_fixed32", 2**31 - 1, "2147483647"),
        ("INTEGER", "a_sfixed32", -(2**31), "-2147483648"),
        ("BIGINT", "an_int64", -(2**63), "-9223372036854775808"),
        ("BIGINT", "a_sint64", 2**63 - 1, "9223372036854775807"),
        ("BIGINT", "a_uint64", 2**63, "out_of_range"),
        ("BIGINT", "a_fixed64", 7, "7"),
        ("BIGINT", "a_sfixed64", -7, "-7"),
        ("BIGINT", "a_double", 5.0, "wrong_type"),
        ("BIGINT", "a_string", "5", "wrong_type"),
        ("BIGINT", "an_enum", 1, "wrong_type"),
        ("BIGINT", "many", [1], "wrong_type"),
        ("BIGINT", "a_map", {"x": 1}, "wrong_type"),
        ("BIGINT", "inner", {"id": 1}, "wrong_type"),
        ("BIGINT", "a_wrapped", {"value": 0}, "0"),
        ("SMALLINT", "a_wrapped", {"value": 99999}, "out_of_range"),
        ("BIGINT", "either", 0, "0"),
        ("DOUBLE", "a_float", 0.1, "0.10000000149011612"),
        ("DOUBLE", "a_double", -0.0, "0.0"),
        ("DOUBLE", "an_int64", 7, "7.0"),
        ("DOUBLE", "a_double", float("nan"), "out_of_range"),
        ("REAL", "a_double", 0.1, "0.10000000149011612"),
        ("REAL", "a_double", 1e39, "out_of_range"),
        ("DECIMAL(12,2)", "a_double", 1.5, "wrong_type"),
        ("DECIMAL(12,2)", "an_int64", 7, '"7.00"'),
        ("DECIMAL(12,2)", "a_string", "1e1", '"10.00"'),
        ("DECIMAL(12,2)", "a_string", "", "malformed_value"),
        ("DECIMAL(12,2)", "some_bytes", b"\4\xd2", "wrong_type"),
        ("DECIMAL(12,2)", "a_decimal", {"value": "+2.5e1"}, '"25.00"'),
        ("DECIMAL(12,2)", "a_decimal", {"value": "-.5"}, '"-0.50"'),
        ("DECIMAL(12,2)", "a_decimal", {"value": "5."}, '"5.00"'),
        ("DECIMAL(12,2)", "a_decimal", {}, '"0.00"'),
        ("DECIMAL(12,2)", "a_decimal", {"value": "."}, "malformed_value"),
        ("DECIMAL(12,2)", "a_decimal", {"value": "1.005"}, "out_of_scale"),
        ("DECIMAL(12,2)", "a_decimal", {"value": "NaN"}, "malformed_value"),
        ("DECIMAL(12,2)", "an_unscaled", {"value": b"\4\xd2", "scale": 2}, '"12.34"'),
        ("DECIMAL(38,2)", "an_unscaled", {"value": b"\xff\xff\xff"}, '"-1.00"'),
        ("DECIMAL(12,2)", "an_unscaled", {"value": b"\4\xd2", "scale": 3}, "out_of_scale"),
        ("DECIMAL(12,2)", "an_unscaled", {"value": b"\4\xd2", "scale": -(2**31)}, "out_of_range"),
        ("DECIMAL(12,2)", "an_unscaled", {"value": b""}, "malformed_value"),
        ("DATE", "a_date", {"year": 2026, "month": 1, "day": 1}, '"2026-01-01"'),
        ("DATE", "a_date", {"year": 2026, "month": 1}, "malformed_value"),
        ("DATE", "a_date", {"year": 10000, "month": 1, "day": 1}, "malformed_value"),
        ("DATE", "an_int32", 20454, "wrong_type"),
        ("DATE", "a_string", "2026-01-01", '"2026-01-01"'),
        ("TIMESTAMP", "a_timestamp", {"seconds": 1772409599, "nanos": 999_999_000}, '"2026-03-01T23:59:59.999999"'),
        ("TIMESTAMP", "a_timestamp", {"seconds": -1, "nanos": 1000}, '"1969-12-31T23:59:59.000001"'),
        ("TIMESTAMP", "a_timestamp", {}, '"1970-01-01T00:00:00"'),
        ("TIMESTAMP", "a_timestamp", {"nanos": 1}, "out_of_scale"),
        ("TIMESTAMP", "a_timestamp", {"nanos": 10**9}, "malformed_value"),
        ("TIMESTAMP", "a_timestamp", {"seconds": 2**62}, "out_of_range"),
        ("TIMESTAMP", "an_int64", 5, "wrong_type"),
        ("VARCHAR", "a_timestamp", {"seconds": 5}, "wrong_type"),
        ("VARCHAR", "a_string", "é", '"é"'),
        ("VARCHAR", "an_enum", 2, '"SELL"'),
        ("VARCHAR", "an_enum", 9, "malformed_value"),
        ("VARCHAR", "some_bytes", b"x", "wrong_type"),
        ("VARCHAR", "wrapped_bytes", {"value": b"x"}, "wrong_type"),
        ("VARCHAR", "an_int64", 5, "wrong_type"),
        ("VARCHAR", "other", "", '""'),
    ],
)  # fmt: skip
def test_values(column, field, value, result):
    assert decoded(column, field, message(TRADE, "shop.Values", id=1, **{field: value})) == result


@pytest.mark.parametrize(
    ("column", "field", "result"),
    [
        ("BIGINT", "an_int64", "0"), ("DOUBLE", "a_double", "0.0"), ("VARCHAR", "a_string", '""'),
        ("VARCHAR", "an_enum", '"UNKNOWN"'), ("BOOLEAN", "a_bool", "false"), ("VARCHAR", "maybe", "NULL"),
        ("BIGINT", "a_wrapped", "NULL"), ("TIMESTAMP", "a_timestamp", "NULL"), ("VARCHAR", "other", "NULL"),
        ("VARCHAR", "inner", "NULL"), ("VARCHAR", "some_bytes", "wrong_type"),
    ],
)  # fmt: skip
def test_fields_that_are_absent(column, field, result):
    assert decoded(column, field, message(TRADE, "shop.Values", id=1)) == result


def test_texts_of_the_older_syntax_may_be_no_utf8():
    schema = own("google.type.Decimal", {"value": "STRING"})
    assert decoded("DECIMAL(12,2)", "v", b"\x08\1\x12\3\x0a\1\xff", schema, "shop.Row") == "invalid_utf8"
    assert decoded("DECIMAL(12,2)", "v", b"\x08\1\x12\3\x0a\0017", schema, "shop.Row") == '"7.00"'


def test_fields_may_have_the_names_of_what_every_message_has():
    """A message has `HasField` as a method; a nested one is an attribute of its class."""
    proto = """syntax = "proto3"; package shop;
        message Odd { int64 id = 1; int64 HasField = 2; optional int64 v = 3; message FromString {} }"""
    data = b"\x08\1\x10\2"
    assert decoded("BIGINT", "v", data, text_of(proto), "shop.Odd") == "NULL"
    assert decoded("BIGINT", "v", data + b"\x18\3", text_of(proto), "shop.Odd") == "3"
    assert decoded("BIGINT", '"HasField"', data, text_of(proto), "shop.Odd") == "2"
