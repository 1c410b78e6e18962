"""Schemas are what the product takes them for, by the same names and places."""

from __future__ import annotations

import base64
from itertools import product

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from catalog.schema.proto_schema import ProtoSchema, ProtoSchemaError
from tests.catalog.types.test_value_messages import UNLIKE, own
from tests.connectors.proto_files import LATER, OLD, TRADE, text_of
from tidewire.verification.schemas.proto_schemas import proto_schema
from tidewire.verification.schemas.schema_fault import NoSchema


def half_an_option() -> str:
    """A set whose file cannot be written again: a required part of its options is missing."""
    made = FileDescriptorSet()
    made.file.add(name="a").options.uninterpreted_option.add().name.add()
    return base64.b64encode(made.SerializePartialToString()).decode()


def text(*files: tuple[str, list[str], list[str]]) -> str:
    """A set of files: name, imports, messages; a message `A:x.B` has a field of the type `x.B`."""
    made = FileDescriptorSet()
    for name, imports, messages in files:
        file = made.file.add(name=name, package="p", dependency=imports)
        for one in messages:
            own, _, type_ = one.partition(":")
            message = file.message_type.add(name=own)
            if type_:
                message.field.add(name="f", number=1, label=1, type=11, type_name=f".{type_}")
    return base64.b64encode(made.SerializeToString()).decode()


def damaged(name: str) -> str:
    """A set of which the name of a file is no UTF-8."""
    data = base64.b64decode(text(("a", ["bcd"], ["A"]), ("other", [], [])))
    return base64.b64encode(data.replace(name.encode(), b"\xff" + name[1:].encode())).decode()


TEXTS = [
    *map(text_of, (TRADE, LATER, OLD)),
    text(("a", [], ["A"])),
    text(("a", ["b"], ["A:p.B"]), ("b", [], ["B"])),
    text(("b", [], ["B"]), ("a", ["b"], ["A:p.B"])),
    text(("a", ["b"], ["A"])),
    text(("a", ["b"], ["A:p.B"])),
    text(("a", [], ["A"]), ("b", [], ["B"])),
    text(("a", ["a"], ["A"])),
    text(("a", ["b"], ["A"]), ("b", ["a"], ["B"])),
    text(("a", ["google/protobuf/struct.proto"], ["A:google.protobuf.Value"])),
    text(("a", ["google/protobuf/no.proto"], ["A:google.protobuf.Value"])),
    text(("a", ["google/type/date.proto", "confluent/type/decimal.proto"], ["A:google.type.Date"])),
    text(("a", ["google/type/decimal.proto"], ["A:google.type.Decimal"])),
    text(("a", [], ["A", "A"])),
    text(("", [], ["A"])),
    text(),
    "no",
    "{}",
    base64.b64encode(b"\xff").decode(),
    half_an_option(),
    damaged("bcd"),
    damaged("a"),
    *(own(name, fields) for name, fields, _ in UNLIKE),
    own("google.type.Decimal", {"value": "STRING"}, label=3),
    own("google.type.Decimal", {"more": "BYTES", "value": "STRING"}),
    own("google.protobuf.Timestamp", {"nanos": "INT32", "seconds": "INT64"}),
    own("confluent.type.Decimal", {"value": "BYTES", "scale": "INT32"}),
    own("google.protobuf.Duration", {}),
]  # fmt: skip


@pytest.mark.parametrize("schema", TEXTS)
def test_the_product_takes_the_same_texts(schema: str) -> None:
    try:
        expected = ProtoSchema(schema, "")
    except ProtoSchemaError:
        with pytest.raises(NoSchema):
            proto_schema(schema)
        return
    ours = proto_schema(schema)
    for name in ("", "A", "p.A", "shop.Trade", "shop.Values.Inner", "shop.Values.AMapEntry", "shop.Side", "shop.Row"):
        assert named(expected, name) == ours_named(schema, name), name
    for length in range(4):
        for path in product((0, 1, 2, 3), repeat=length):
            assert at(expected, path) == ours_at(schema, path), path
    assert ours is proto_schema(schema)


def named(schema: ProtoSchema, name: str) -> str | None:
    try:
        return schema.message(name).name
    except ProtoSchemaError:
        return None


def ours_named(schema: str, name: str) -> str | None:
    try:
        return str(proto_schema(schema).named(name).full_name)
    except NoSchema:
        return None


def at(schema: ProtoSchema, path: tuple[int, ...]) -> str | None:
    try:
        found = schema.message_at(path)
    except ProtoSchemaError:
        return "none"
    return found and found.name


def ours_at(schema: str, path: tuple[int, ...]) -> str | None:
    try:
        found = proto_schema(schema).at(path)
    except NoSchema:
        return "none"
    return found and str(found.full_name)


def test_what_googles_library_has_is_there() -> None:
    found = proto_schema(TEXTS[11]).named("p.A")
    assert found.fields_by_name["f"].message_type.full_name == "google.protobuf.Value"
    assert FileDescriptorProto.FromString(found.file.serialized_pb).dependency == ["google/protobuf/struct.proto"]
