"""Messages are read as the product reads them, by another way."""

from __future__ import annotations

import base64
import struct
from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet
from google.protobuf.message_factory import GetMessageClass
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.catalog.types.test_value_messages import own
from tests.effort import deep_examples
from tests.tidewire.verification.two_readers import two_readers
from tidewire.verification.input.decoding import Row
from tidewire.verification.schemas.proto_schemas import proto_schema, small_files

SIGNED = {"INT32": 31, "SINT32": 31, "SFIXED32": 31, "INT64": 63, "SINT64": 63, "SFIXED64": 63}
UNSIGNED = {"UINT32": 32, "FIXED32": 32, "UINT64": 64, "FIXED64": 64}
FLOATS = ["DOUBLE", "FLOAT"]
SCALARS = [*SIGNED, *UNSIGNED, *FLOATS, "BOOL", "STRING", "BYTES"]
WRAPPED = {f"google.protobuf.{name}Value": name.upper() for name in
           ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")}  # fmt: skip
MEANT = {
    "google.protobuf.Timestamp": ["TIMESTAMP"],
    "google.type.Date": ["DATE"],
    "google.type.Decimal": ["DECIMAL(6,2)", "DECIMAL(30,2)"],
    "confluent.type.Decimal": ["DECIMAL(6,2)", "DECIMAL(30,2)"],
}
ENUM = "shop.E"
KINDS = {
    "signed": [*SIGNED, "google.protobuf.Int64Value", "google.protobuf.Int32Value"],
    "unsigned": [*UNSIGNED, "google.protobuf.UInt64Value", "google.protobuf.UInt32Value"],
    "floats": [*FLOATS, "google.protobuf.DoubleValue", "google.protobuf.FloatValue"],
    "booleans": ["BOOL", "google.protobuf.BoolValue"],
    "texts": ["STRING", "STRING", "google.protobuf.StringValue"],
    **{name.rpartition("google.")[2]: [name] for name in MEANT},
    "enums": [ENUM],
    "no values": ["BYTES", "google.protobuf.BytesValue", "shop.Inner", "google.protobuf.Duration"],
}
TYPES = [
    "BOOLEAN", "SMALLINT", "INTEGER", "BIGINT", "REAL", "DOUBLE", "DECIMAL(6,2)", "DECIMAL(30,2)", "DATE", "TIMESTAMP",
    "VARCHAR", "INTEGER NOT NULL",
]  # fmt: skip
TEXTS = {
    "VARCHAR": ["", "x", "1", "true", "2026-03-01", "é", "\0"],
    "DECIMAL(6,2)": ["1", "-1.5", "007.10", "1e2", "25e-1", "0e99"],
    "DECIMAL(30,2)": ["1", "-1.5", "12345678901234567890.12", "1e27"],
    "DATE": ["2026-03-01", "0001-01-01", "9999-12-31", "2024-02-29"],
    "TIMESTAMP": ["2026-03-01T12:00:00.5", "0001-01-01 00:00:00", "9999-12-31T23:59:59.999999"],
}
ODD_TEXTS = [
    "",
    "+1",
    ".5",
    "5.",
    ".",
    "1e999999",
    "NaN",
    " 1",
    "2026-02-29",
    "2026-03-01 24:00:00",
    "2026-03-01T12:00",
]


def fitting(written: str) -> list[str]:
    """The types of columns that take a field, all of them if none does."""
    scalar = WRAPPED.get(written, written)
    if scalar in (*SIGNED, *UNSIGNED):
        return [one for one in TYPES if one not in ("BOOLEAN", "DATE", "TIMESTAMP", "VARCHAR")]
    if scalar in FLOATS:
        return ["REAL", "DOUBLE"]
    known = {"BOOL": ["BOOLEAN"], "STRING": list(TEXTS), ENUM: ["VARCHAR"], **MEANT}
    return known.get(scalar, TYPES)


def usual(written: str, type_: str) -> st.SearchStrategy[Any]:
    """Values of a field, most of which the column takes if it takes any."""
    if written in WRAPPED:
        return usual(WRAPPED[written], type_).map(lambda value: {"value": value})
    if written in (*SIGNED, *UNSIGNED):
        return st.sampled_from([0, 1, 7, 100, 9_999] + [-1, -9_999] * (written in SIGNED))
    if written in FLOATS:
        some = st.floats(width=32, allow_nan=False, allow_infinity=False)
        return some | st.sampled_from([0.1, -0.0, 16_777_217.0, 1.401298464324817e-45])
    if written == "STRING":
        return st.sampled_from(TEXTS.get(type_, TEXTS["VARCHAR"]))
    if written == "google.protobuf.Timestamp":
        seconds = st.sampled_from([0, 1, -1, 1_772_409_599, -62_135_596_800, 253_402_300_799])
        nanos = st.sampled_from([0, 500_000_000, 1_000, 999_999_000])
        return st.fixed_dictionaries({"seconds": seconds, "nanos": nanos})
    if written == "google.type.Date":
        return st.dates().map(lambda day: {"year": day.year, "month": day.month, "day": day.day})
    if written == "google.type.Decimal":
        return st.sampled_from(["", "1", "-1.5", "+1", ".5", "-.5", "5.", "1e2"]).map(lambda value: {"value": value})
    if written == "confluent.type.Decimal":
        parts = {"value": st.sampled_from([b"\x04\xe2", b"\xff", b"\0\1"]), "scale": st.sampled_from([0, 1, 2, -1])}
        return st.fixed_dictionaries(parts)
    known = {"BOOL": st.booleans(), "BYTES": st.binary(max_size=4), ENUM: st.sampled_from([0, 1, -2])}
    return known.get(written, st.just({}))


def odd(written: str, type_: str) -> st.SearchStrategy[Any]:
    """Values of a field at the bounds of what it can say and of what columns take."""
    if written in WRAPPED:
        return odd(WRAPPED[written], type_).map(lambda value: {"value": value})
    if written in SIGNED:
        end = 2 ** SIGNED[written]
        return st.integers(-end, end - 1) | st.sampled_from([32_767, 32_768, 10_000, 2**24 + 1, end - 1, -end])
    if written in UNSIGNED:
        end = 2 ** UNSIGNED[written]
        return st.integers(0, end - 1) | st.sampled_from([2**31 - 1, 2**31, end // 2 - 1, end // 2, end - 1])
    if written == "DOUBLE":
        return st.floats() | st.sampled_from([3.4028235677973366e38, 7.006492321624085e-46, 2.0**-1074])
    if written == "FLOAT":
        return st.floats(width=32)
    seconds = st.sampled_from([0, -62_135_596_801, 253_402_300_800, 2**40])
    nanos, small = st.sampled_from([0, 1, -1, -1_000, 1_000_000_000]), st.sampled_from([0, 1, 2, 13, 29, 31, 2023, -1])
    unscaled = st.one_of(st.binary(max_size=4), st.sampled_from([b"", b"\0" * 1_500, b"\0" * 1_501]))
    known: dict[str, st.SearchStrategy[Any]] = {
        "STRING": st.sampled_from(ODD_TEXTS),
        "google.protobuf.Timestamp": st.fixed_dictionaries({"seconds": seconds, "nanos": nanos}),
        "google.type.Date": st.fixed_dictionaries({"year": small | st.just(10_000), "month": small, "day": small}),
        "google.type.Decimal": st.sampled_from(ODD_TEXTS).map(lambda value: {"value": value}),
        "confluent.type.Decimal": st.fixed_dictionaries(
            {"value": unscaled, "scale": st.sampled_from([0, 3, -5, 2**31 - 1, -(2**31)])}
        ),
    }
    return known.get(written, usual(written, type_))


WHOLE = ["google/protobuf/timestamp.proto", "google/protobuf/duration.proto", "google/protobuf/wrappers.proto"]


def schema(written: str, form: str = "plain", syntax: str = "proto3", types: str = "imported") -> str:
    """The text of a file with `Key {id}`, `Row {id, v}`, `Inner`; `types`: how dates and decimals come."""
    file = FileDescriptorProto(name="root.proto", package="shop", syntax=syntax, dependency=[*WHOLE, "absent.proto"])
    file.dependency.extend(one.name for one in small_files())
    for name in ("Key", "Row", "Inner"):
        file.message_type.add(name=name).field.add(name="id", number=1, label=1, type=FieldDescriptorProto.TYPE_INT64)
    values = file.enum_type.add(name="E", options={"allow_alias": True}).value
    for name, number in (("A", 0), ("B", 1), ("C", 1), ("D", -2)):
        values.add(name=name, number=number)
    row = file.message_type[1]
    if form != "missing":
        field = row.field.add(name="v", number=2, label=3 if form == "repeated" else 1)
        if written in SCALARS:
            field.type = FieldDescriptorProto.Type.Value(f"TYPE_{written}")
        else:
            field.type, field.type_name = (14 if written == ENUM else 11), f".{written}"
        if form == "oneof" or (form == "optional" and syntax == "proto3"):
            row.oneof_decl.add(name="_v")
            field.oneof_index, field.proto3_optional = 0, form == "optional"
    brought = small_files() if types == "brought" else []
    return base64.b64encode(FileDescriptorSet(file=[file, *brought]).SerializeToString()).decode()


def message(text: str, name: str, **values: Any) -> bytes:
    return bytes(GetMessageClass(proto_schema(text).named(name))(**values).SerializeToString())


def frame(number: int, path: bytes, data: bytes) -> bytes:
    return struct.pack(">bI", 0, number) + path + data


def ddl(type_: str, options: str, more: str = ", w DOUBLE") -> str:
    return f"CREATE TABLE t (id BIGINT PRIMARY KEY, v {type_}{more}) WITH ('format'='protobuf', {options})"


KEY_AT, ROW_AT = b"\0", b"\2\2"
ODD_TABLES = ["type", "type", "repeated", "missing", "message", "absent"]
ODD_RECORDS = ["value", "value", "value", "unset", "id", "damage", "damage", "path", "key", "body", "body"]
DAMAGE = [b"\x12\1\xff", b"\x10\x63", b"\x10\1", b"\x12\0", b"\x1a\1x", b"\x08\7", b"\xff", b"cut"]
PATHS = [KEY_AT, b"\2\0", b"\2\4", b"\2\6", b"\2\1", b"\4\2\0", b"\1", b"\x80\0", b"\xff" * 6]


def mostly(nothing: int, oddities: list[str]) -> st.SearchStrategy[str]:
    """One of the oddities, or '' in `nothing` of ten cases."""
    return st.integers(0, 9).flatmap(lambda n: st.just("") if n < nothing else st.sampled_from(oddities))


@st.composite
def cases(draw: st.DrawFn, kind: str) -> tuple[str, list[tuple[bytes | None, bytes | None]]]:
    """A table of one schema or of listed ones, and records of it; some of both are odd."""
    written, oddity, listed = draw(st.sampled_from(KINDS[kind])), draw(mostly(8, ODD_TABLES)), draw(st.booleans())
    form = oddity if oddity in ("repeated", "missing") else draw(st.sampled_from(["plain", "optional", "oneof"]))
    type_ = draw(st.sampled_from(TYPES if oddity == "type" else fitting(written)))
    text = schema(
        written, form, draw(st.sampled_from(["proto2", "proto3"])), draw(st.sampled_from(["imported", "brought"]))
    )
    options = f"'schema{'.7' if listed else ''}'='{text}'"
    if not listed or draw(st.booleans()):
        options += f", 'message'='shop.{'Key' if oddity == 'message' else 'Row'}'"
    absent = draw(st.sampled_from(["null", "keep", "error"]))
    more = ", w DOUBLE" if (absent == "error") == (oddity == "absent") else ""
    many = st.lists(pairs(text, written, form, listed, type_), min_size=5, max_size=20)
    return ddl(type_, f"{options}, 'absent'='{absent}'", more), draw(many)


@st.composite
def pairs(
    draw: st.DrawFn, text: str, written: str, form: str, listed: bool, type_: str
) -> tuple[bytes | None, bytes | None]:
    oddity = draw(mostly(7, ODD_RECORDS))
    row: dict[str, Any] = {"id": draw(st.sampled_from([0, 6])) if oddity == "id" else 5}
    if form != "missing" and oddity != "unset":
        value = draw(odd(written, type_) if oddity == "value" else usual(written, type_))
        row["v"] = [value] if form == "repeated" else value
    data = message(text, "shop.Row", **row)
    if oddity == "damage":
        damage = draw(st.sampled_from(DAMAGE))
        data = data[:-1] if damage == b"cut" else data + damage
    path = draw(st.sampled_from(PATHS)) if oddity == "path" else ROW_AT
    body: bytes | None = frame(7, path, data) if listed else data
    if oddity == "body":
        body = draw(st.sampled_from([frame(9, path, data), None, None, b"", draw(st.binary())]))
    key = frame(7, KEY_AT, message(text, "shop.Key", id=5))
    keys: list[bytes | None] = [b"5", b'{"id":5}', *([key] if listed else [])]
    if oddity == "key":
        keys = [None, b"6", frame(7, ROW_AT, key[6:]), frame(8, KEY_AT, key[6:]), key[:-1], b"\0"]
    return draw(st.sampled_from(keys)), body


@pytest.mark.deep
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=deep_examples(20), deadline=None)  # of tables of each kind
@given(st.data(), st.booleans())
def test_messages_are_read_as_the_product_reads_them(kind: str, data: st.DataObject, keyless: bool) -> None:
    text, records = data.draw(cases(kind))
    for key, value in records:
        two_readers(text).read(key, value, keyless)


def read(type_: str, written: str, form: str = "plain", damage: bytes = b"", **value: Any) -> Row | None:
    text = schema(written, form)
    data = message(text, "shop.Row", id=5, **value) + damage
    return two_readers(ddl(type_, f"'schema'='{text}', 'message'='shop.Row'")).read(None, data)


@pytest.mark.parametrize(
    ("type_", "written", "value", "said"),
    [
        ("TIMESTAMP", "google.protobuf.Timestamp", {"seconds": 1, "nanos": 500_000_000}, "1970-01-01 00:00:01.500000"),
        ("TIMESTAMP", "google.protobuf.Timestamp", {"seconds": -62_135_596_800}, "0001-01-01 00:00:00"),
        ("TIMESTAMP", "google.protobuf.Timestamp", {"nanos": 1}, None),
        ("TIMESTAMP", "google.protobuf.Timestamp", {"nanos": -1_000}, None),
        ("TIMESTAMP", "INT64", 1, None),
        ("DATE", "google.type.Date", {"year": 2024, "month": 2, "day": 29}, "2024-02-29"),
        ("DATE", "google.type.Date", {"year": 2024, "month": 2}, None),
        ("DATE", "STRING", "2024-02-29", "2024-02-29"),
        ("DECIMAL(6,2)", "google.type.Decimal", {"value": "+.5"}, "0.5"),
        ("DECIMAL(6,2)", "google.type.Decimal", {}, "0"),
        ("DECIMAL(6,2)", "google.type.Decimal", {"value": "."}, None),
        ("DECIMAL(6,2)", "confluent.type.Decimal", {"value": b"\x04\xe2", "scale": 2}, "12.5"),
        ("DECIMAL(6,2)", "confluent.type.Decimal", {}, None),
        ("DECIMAL(6,2)", "STRING", "+1", None),
        ("BIGINT", "google.protobuf.Int64Value", {"value": 7}, "7"),
        ("BIGINT", "UINT64", 2**63, None),
        ("BIGINT", "DOUBLE", 1.0, None),
        ("DOUBLE", "DOUBLE", float("inf"), None),
        ("VARCHAR", ENUM, 1, "B"),
        ("VARCHAR", ENUM, 9, None),
        ("BIGINT", ENUM, 1, None),
        ("VARCHAR", "BYTES", b"x", None),
        ("VARCHAR", "shop.Inner", {}, None),
    ],
)
def test_what_messages_say(type_: str, written: str, value: Any, said: str | None) -> None:
    row = read(type_, written, v=value)
    assert (row and row.values) == (said and ["5", said, None])


def test_presence() -> None:
    assert [(row := read("BIGINT", "INT64", form)) and row.values[1] for form in ("plain", "optional", "oneof")] == [
        "0",
        None,
        None,
    ]
    assert (row := read("VARCHAR", "shop.Inner")) and row.values[1] is None
    assert read("BIGINT", "INT64", "repeated") is None
    missing = read("BIGINT", "INT64", "missing")
    assert missing is not None and missing.present == [True, False, False]


def test_what_the_schema_does_not_know_is_ignored_and_what_is_no_message_refused() -> None:
    assert (row := read("BIGINT", "INT64", damage=b"\x1a\1x")) and row.values[1] == "0"
    assert read("VARCHAR", "STRING", damage=b"\x12\1\xff") is None
    assert read("BIGINT", "INT64", damage=b"\x10") is None


def test_texts_of_the_older_syntax_may_be_no_utf8() -> None:
    options = f"'schema'='{own('google.type.Decimal', {'value': 'STRING'})}', 'message'='shop.Row'"
    readers = two_readers(ddl("DECIMAL(6,2)", options))
    assert (row := readers.read(None, b"\x08\5\x12\3\x0a\0017")) and row.values[1] == "7"
    assert readers.read(None, b"\x08\5\x12\3\x0a\1\xff") is None


def test_fields_may_have_the_names_of_what_every_message_has() -> None:
    files = FileDescriptorSet.FromString(base64.b64decode(schema("INT64", "optional")))
    files.file[0].message_type[1].field.add(name="HasField", number=3, label=1, type=3)
    options = f"'schema'='{base64.b64encode(files.SerializeToString()).decode()}', 'message'='shop.Row'"
    assert (row := two_readers(ddl("BIGINT", options)).read(None, b"\x08\5\x18\1")) and row.values[1] is None


def test_keys_are_messages_of_exactly_the_primary_key() -> None:
    text = schema("INT64")
    readers, key = two_readers(ddl("BIGINT", f"'schema.7'='{text}'")), message(text, "shop.Key", id=5)
    for path in (KEY_AT, b"\2\0", b"\2\4"):
        row = readers.read(frame(7, path, key), None)
        assert row is not None and (row.pk, row.live) == ('["5"]', False)
    for refused in (frame(7, ROW_AT, key), frame(8, KEY_AT, key), frame(7, b"\2\6", key), frame(7, b"", b""), key):
        assert readers.read(refused, None) is None
    value = frame(7, ROW_AT, message(text, "shop.Row", id=5, v=1))
    assert readers.read(frame(7, KEY_AT, key), value) is not None
    assert readers.read(frame(7, KEY_AT, message(text, "shop.Key", id=6)), value) is None
