"""Datums are read as the product reads them, by another way."""

from __future__ import annotations

import datetime as dt
import io
import json
import struct
from typing import Any

import fastavro
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import deep_examples
from tests.tidewire.verification.two_readers import two_readers

LONGS = st.one_of(st.integers(-(2**63), 2**63 - 1), st.sampled_from([0, 1, 20_000, 1_772_409_599_000, 2**31, -(2**31)]))
INTS = st.one_of(st.integers(-(2**31), 2**31 - 1), st.sampled_from([0, -719_162, -719_163, 2_932_896, 2_932_897]))
DOUBLES = st.one_of(st.floats(), st.sampled_from([1.0, 3.4028235677973366e38, 1.401298464324817e-45, 16_777_217.0]))
TEXTS = st.sampled_from(["", "x", "1", "1.5", "true", "2026-03-01", "2026-03-01T12:00:00.5", "é"])
BYTES = st.one_of(st.binary(max_size=6), st.sampled_from([b"\x04\xe2", b"\xff", b"\x7f" * 20, b"\0" * 1_501]))
TWO_BYTES = {"type": "fixed", "name": "F", "size": 2, "logicalType": "decimal", "precision": 4, "scale": 1}
WRITTEN: list[tuple[Any, st.SearchStrategy[Any]]] = [
    ("boolean", st.booleans()),
    ("int", INTS),
    ("long", LONGS),
    ("float", st.floats(width=32)),
    ("double", DOUBLES),
    ("bytes", BYTES),
    ("string", TEXTS),
    ({"type": "string", "logicalType": "uuid"}, TEXTS),
    ({"type": "int", "logicalType": "date"}, INTS),
    ({"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}, BYTES),
    ({"type": "bytes", "logicalType": "decimal", "precision": 6}, BYTES),
    ({"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": "2"}, BYTES),
    ({"type": "long", "logicalType": "timestamp-picos"}, LONGS),
    ({"type": "float", "logicalType": "date"}, st.floats(width=32)),
    ({"type": "long", "logicalType": "date"}, LONGS),
    ({"type": "bytes", "logicalType": "date"}, BYTES),
    ({"type": "double", "logicalType": "timestamp-micros"}, DOUBLES),
    ({"type": "int", "logicalType": "local-timestamp-millis"}, INTS),
    ({"type": "int", "logicalType": "decimal", "precision": 6, "scale": 2}, INTS),
    ({"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 7}, BYTES),
    (TWO_BYTES | {"precision": 5}, st.binary(min_size=2, max_size=2)),
    (TWO_BYTES, st.binary(min_size=2, max_size=2)),
    ({"type": "enum", "name": "E", "symbols": ["x", "y"]}, st.sampled_from(["x", "y"])),
    ({"type": "array", "items": "int"}, st.lists(st.just(1), max_size=2)),
    *(
        ({"type": "long", "logicalType": f"{local}timestamp-{unit}"}, LONGS)
        for local in ("", "local-")
        for unit in ("millis", "micros", "nanos")
    ),
]  # fmt: skip
TYPES = [
    "BOOLEAN", "SMALLINT", "INTEGER", "BIGINT", "REAL", "DOUBLE", "DECIMAL(6,2)", "DATE", "TIMESTAMP", "VARCHAR",
    "INTEGER NOT NULL",
]  # fmt: skip


def datum(schema: Any, value: Any, number: int | None = None) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), value)
    return (b"" if number is None else struct.pack(">bI", 0, number)) + out.getvalue()


def without_logical(schema: Any) -> Any:
    """As the writer of raw numbers: fastavro would want datetimes."""
    return {k: v for k, v in schema.items() if k != "logicalType"} if isinstance(schema, dict) else schema


def record(type_: Any, *more: Any) -> dict[str, Any]:
    fields = [{"name": "id", "type": "long"}, *({"name": "v", "type": one} for one in (type_, *more))]
    return {"type": "record", "name": "Row", "fields": fields}


def ddl(type_: str, options: str) -> str:
    return f"CREATE TABLE t (id BIGINT PRIMARY KEY, v {type_}, w DOUBLE) WITH ('format'='avro', {options})"


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, bytes | None, bytes | None]:
    """A table of one schema or of listed ones, and a record of it, sometimes damaged."""
    written, values = draw(st.sampled_from(WRITTEN))
    raw, value = without_logical(written), draw(values)
    form = draw(st.sampled_from(["plain", "nullable", "null", "several", "missing"]))
    wrap = {
        "nullable": lambda one: ["null", one],
        "null": lambda one: ["null", one],
        "several": lambda one: [one, "null", {"type": "map", "values": "int"}],
    }
    full, bare = (record(wrap.get(form, lambda one: one)(one)) for one in (written, raw))
    if form == "missing":
        full = bare = {"type": "record", "name": "Row", "fields": full["fields"][:1]}
    listed = draw(st.booleans())
    options = f"'schema{'.7' if listed else ''}'='{json.dumps(full)}'" + (""", 'schema.9'='"long"'""" if listed else "")
    absent = draw(st.sampled_from(["", ", 'absent'='keep'", ", 'absent'='error'"]))
    row = {"id": 5} | ({} if form == "missing" else {"v": None if form == "null" else value})
    data = datum(bare, row, 7 if listed else None)
    damage = draw(st.sampled_from([b"", b"", b"", b"\0", b"cut"]))
    data = data[:-1] if damage == b"cut" else data + damage
    keys = [
        None,
        b"5",
        b'{"id":5}',
        b"6",
        datum("long", 5, 9),
        datum("long", 5, 8),
        b"\0",
    ]
    body = draw(st.sampled_from([data, data, data, None, datum("long", 5, 9), b""]))
    return ddl(draw(st.sampled_from(TYPES)), options + absent), draw(st.sampled_from(keys)), body


@pytest.mark.deep
@settings(max_examples=deep_examples(200), deadline=None)
@given(cases(), st.booleans())
def test_datums_are_read_as_the_product_reads_them(case: tuple[str, bytes | None, bytes | None], keyless: bool) -> None:
    text, key, value = case
    two_readers(text).read(key, value, keyless)


MICROS = {"type": "long", "logicalType": "timestamp-micros"}
NANOS = {"type": "long", "logicalType": "local-timestamp-nanos"}
MONEY = {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}


@pytest.mark.parametrize(
    ("type_", "written", "value", "text"),
    [
        ("TIMESTAMP", MICROS, 1_500_000, "1970-01-01 00:00:01.500000"),
        ("TIMESTAMP", NANOS, 1_000, "1970-01-01 00:00:00.000001"),
        ("TIMESTAMP", NANOS, 1, None),
        ("TIMESTAMP", "long", 1, None),
        ("DATE", {"type": "int", "logicalType": "date"}, -719_162, "0001-01-01"),
        ("DATE", {"type": "int", "logicalType": "date"}, -719_163, None),
        ("DATE", {"type": "float", "logicalType": "date"}, 1.0, None),
        ("DATE", {"type": "bytes", "logicalType": "date"}, b"x", None),
        ("TIMESTAMP", {"type": "int", "logicalType": "timestamp-millis"}, 1, None),
        ("TIMESTAMP", {"type": "double", "logicalType": "timestamp-millis"}, 1.0, None),
        ("DECIMAL(6,2)", MONEY, b"\x04\xe2", "12.5"),
        ("DECIMAL(6,2)", MONEY, b"", None),
        ("DECIMAL(6,2)", MONEY | {"size": "of no use"}, b"\x04\xe2", "12.5"),
        ("DECIMAL(6,2)", MONEY | {"scale": "2"}, b"\x04\xe2", None),
        ("DECIMAL(6,2)", MONEY | {"scale": 7}, b"\x04\xe2", None),
        ("DECIMAL(6,2)", MONEY | {"type": "int"}, 7, "7"),
        ("DECIMAL(6,2)", TWO_BYTES, b"\x04\xe2", "125"),
        ("DECIMAL(6,2)", TWO_BYTES | {"precision": 5}, b"\x04\xe2", None),
        ("DECIMAL(6,2)", "string", "12.50", "12.5"),
        ("DECIMAL(6,2)", "double", 12.5, None),
        ("BIGINT", "double", 1.0, None),
        ("DOUBLE", "long", 3, "3.0"),
        ("DOUBLE", "double", float("nan"), None),
        ("REAL", "double", 0.1, repr(struct.unpack("<f", struct.pack("<f", 0.1))[0])),
        ("VARCHAR", "bytes", b"x", None),
    ],
)
def test_what_datums_say(type_: str, written: Any, value: Any, text: str | None) -> None:
    options = f"'schema'='{json.dumps(record(written))}'"
    row = two_readers(ddl(type_, options)).read(None, datum(record(without_logical(written)), {"id": 5, "v": value}))
    assert (row and row.values) == (text and ["5", text, None])
    assert text is None or type_ != "DATE" or dt.date.fromisoformat(text)


def test_keys_of_records_and_of_one_value() -> None:
    key = {"type": "record", "name": "K", "fields": [{"name": "id", "type": ["null", "int"]}]}
    other = {"type": "record", "name": "K", "fields": [{"name": "no", "type": "int"}]}
    options = ", ".join(f"'schema.{n}'='{json.dumps(one)}'" for n, one in ((1, key), (2, other), (3, "string")))
    readers = two_readers(ddl("BIGINT", options))
    row = readers.read(datum(key, {"id": 5}, 1), None)
    assert row is not None and (row.pk, row.live) == ('["5"]', False)
    refused = (
        datum(key, {"id": None}, 1),
        datum(other, {"no": 5}, 2),
        datum("string", "5", 3),
        datum(key, {"id": 5}, 4),
    )
    assert [readers.read(one, None) for one in refused] == [None] * 4
