"""What fields say, told without the product: by columns' types in DuckDB's words."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf.message_factory import GetMessageClass

from tests.tidewire.verification.input.test_proto_rows import ENUM, schema
from tidewire.verification.input.decoding import Bad, Number
from tidewire.verification.input.proto_values import proto_value
from tidewire.verification.schemas.proto_schemas import proto_schema


def said(type_: str, written: str, form: str = "plain", **values: Any) -> object:
    descriptor = proto_schema(schema(written, form)).named("shop.Row")
    return proto_value(type_, descriptor.fields_by_name["v"], GetMessageClass(descriptor)(**values))


MOMENT, DATE, DECIMAL = "google.protobuf.Timestamp", "google.type.Date", "google.type.Decimal"


@pytest.mark.parametrize(
    ("type_", "written", "value", "json"),
    [
        ("BOOLEAN", "BOOL", True, True),
        ("VARCHAR", "STRING", "1", "1"),
        ("BIGINT", "UINT64", 2**64 - 1, Number(2**64 - 1)),
        ("FLOAT", "DOUBLE", 0.5, Number("0.5")),
        ("VARCHAR", ENUM, -2, "D"),
        ("BIGINT", "google.protobuf.Int32Value", {"value": 7}, Number(7)),
        ("TIMESTAMP", MOMENT, {"seconds": -1, "nanos": 999_999_000}, "1969-12-31 23:59:59.999999"),
        ("DATE", DATE, {"year": 1, "month": 1, "day": 1}, "0001-01-01"),
        ("DECIMAL(6,2)", DECIMAL, {"value": "-5."}, Number("-5.0")),
        ("DECIMAL(6,2)", DECIMAL, {"value": "+.5e1"}, Number("0.5e1")),
        ("DECIMAL(6,2)", DECIMAL, {"value": ""}, Number("0.0")),
    ],
)
def test_values_as_json_has_them(type_: str, written: str, value: Any, json: object) -> None:
    found = said(type_, written, v=value)
    assert (found, type(found)) == (json, type(json))


@pytest.mark.parametrize(
    ("type_", "written", "value"),
    [
        ("TIMESTAMP", MOMENT, {"nanos": 10**9}),
        ("TIMESTAMP", MOMENT, {"seconds": 1, "nanos": -1_000}),
        ("DATE", MOMENT, {"seconds": 0}),
        ("VARCHAR", DATE, {"year": 2024, "month": 1, "day": 1}),
        ("DATE", DATE, {"year": 2023, "month": 2, "day": 29}),
        ("DATE", DATE, {"year": 2**31 - 1, "month": 1, "day": 1}),
        ("DOUBLE", DECIMAL, {"value": "1"}),
        ("DECIMAL(6,2)", DECIMAL, {"value": "NaN"}),
        ("DECIMAL(6,2)", DECIMAL, {"value": "1e"}),
        ("DECIMAL(6,2)", DECIMAL, {"value": "+"}),
        ("BIGINT", ENUM, 1),
        ("VARCHAR", ENUM, 99),
        ("VARCHAR", "BYTES", b"x"),
        ("VARCHAR", "google.protobuf.BytesValue", {"value": b"x"}),
        ("VARCHAR", "google.protobuf.Duration", {}),
    ],
)
def test_what_no_column_of_the_type_takes(type_: str, written: str, value: Any) -> None:
    with pytest.raises(Bad):
        said(type_, written, v=value)


def test_what_is_absent() -> None:
    assert said("BIGINT", "INT64") == Number(0)
    assert said("VARCHAR", ENUM) == "A"
    for form, written in (("optional", "INT64"), ("oneof", "STRING"), ("plain", MOMENT), ("plain", "shop.Inner")):
        assert said("BIGINT", written, form) is None
    with pytest.raises(Bad):
        said("BIGINT", "INT64", "repeated")
