"""Envelopes of Debezium's to events: what each operation does, how values are written, and what is a dead letter.

`tests/connectors/formats/test_debezium_record.py` compares random ones with the product's reading.
"""

from __future__ import annotations

import base64
import datetime as dt
import json
from decimal import Decimal
from functools import cache
from typing import Any

import pytest

from tests.tidewire.verification.scratch import SCRATCH
from tidewire.verification.input.debezium import MAX_ENVELOPE, NOTHING, Event, decode
from tidewire.verification.input.debezium_units import PLACEHOLDER
from tidewire.verification.input.declared import Declared, Table
from tidewire.verification.input.decoding import Bad
from tidewire.verification.records.journal import Record

COLUMNS = "id BIGINT PRIMARY KEY, doc VARCHAR, price DECIMAL(8,2), day DATE, at TIMESTAMP"
NAMES = ["id", "doc", "price", "day", "at"]
KEY = b'{"id":1}'
BEFORE, AFTER = {"id": 1, "doc": "b"}, {"id": 1, "doc": "a"}


@cache
def table(
    more: str = "", columns: str = COLUMNS, units: str = "'decimal'='string', 'date'='days', 'timestamp'='micros'"
) -> Table:
    options = ", ".join(one for one in ("'format'='debezium-json'", units, more) if one)
    ddl = f"CREATE TABLE t ({columns}) WITH ({options})"
    return Declared([Record(0, 0, 0, None, ddl.encode())], scratch=SCRATCH).at(0)["t"]


TABLE, INLINE = table(), table(units="'schema'='inline'")
KEEP, ERROR = table("'absent'='keep'"), table("'absent'='error'")


def read(payload: Any, key: bytes | None = KEY, of: Table = TABLE, keyless: bool = False) -> Event:
    value = None if payload is None else payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return decode(of, key, value, keyless)


def bad(payload: Any, key: bytes | None = KEY, of: Table = TABLE, keyless: bool = False) -> str:
    with pytest.raises(Bad) as caught:
        read(payload, key, of, keyless)
    return str(caught.value)


@pytest.mark.parametrize("op", ["c", "r", "u"])
def test_what_is_put(op: str) -> None:
    event = read({"op": op, "after": AFTER})
    assert (event.kind, event.pk, event.values) == ("upsert", '["1"]', ("1", "a", None, None, None))
    assert event.kept == event.unknown == (False,) * 5 and event.origin is None


def test_what_goes() -> None:
    assert read({"op": "d", "before": BEFORE}).kind == "delete"
    assert read(None) == Event("delete", '["1"]')
    assert read({"op": "d", "before": {"id": 7}}, key=None, keyless=True) == Event("delete", '["7"]')
    assert bad({"op": "d"}, key=None, keyless=True) == "no image"


def test_what_says_nothing_of_rows() -> None:
    others: list[Any] = [
        {"op": "m"}, {"ts_ms": 5}, {"ts_ms": 5, "ts_us": 5, "ts_ns": 5}, {"status": "BEGIN", "id": "7"},
        {"source": {}, "ddl": "x"}, {"source": {}, "tableChanges": []},
    ]  # fmt: skip
    assert all(read(one) == NOTHING for one in others) and read(None, key=None) == NOTHING
    assert read({"op": "t"}).kind == "truncate"


@pytest.mark.parametrize(
    "payload",
    [b"{", b"[]", b"5", {}, {"op": "x"}, {"op": 1}, {"op": None}, {"ts_ms": 5, "more": 1}, {"op": "c"},
     {"op": "c", "after": []}, {"op": "u", "after": {"doc": "a"}}, {"op": "c", "after": {"id": None}},
     {"op": "c", "after": {"id": 2}},
     {"op": "c", "after": {**AFTER, "doc": 5}}, {"status": "BEGIN"}, {"source": {}}],
)  # fmt: skip
def test_what_is_no_envelope_or_no_row(payload: Any) -> None:
    assert bad(payload)


@pytest.mark.parametrize("key", [b"{", b"1", b"{}", b'{"id":null}', b'{"id":1,"more":2}', b'{"id":"1"}', b"\xff"])
def test_a_key_has_the_columns_of_the_key_and_no_other(key: bytes) -> None:
    assert bad(None, key) and bad({"op": "c", "after": AFTER}, key)


def test_a_record_without_key_is_taken_where_the_topic_has_none() -> None:
    assert bad({"op": "c", "after": AFTER}, key=None) == "no key"
    assert read({"op": "c", "after": AFTER}, key=None, keyless=True).pk == '["1"]'
    moved = {"op": "u", "before": {"id": 7}, "after": AFTER}
    assert read(moved, key=None, keyless=True).origin == '["7"]'
    assert read({**moved, "before": BEFORE}, key=None, keyless=True).origin is None
    assert read({**moved, "op": "r"}, key=None, keyless=True).origin is None
    assert read(moved, key=KEY).origin is None


def test_how_large_a_record_may_be() -> None:
    fits = b'{"op":"m"}' + b" " * (MAX_ENVELOPE - len(KEY) - 10)
    assert read(fits) == NOTHING and bad(fits + b" ") == "too large"


def test_what_is_not_said_of_a_row() -> None:
    assert read({"op": "c", "after": {"id": 1}}).values == ("1", None, None, None, None)
    assert read({"op": "c", "after": {"id": 1}}, of=KEEP).kept == (False, True, True, True, True)
    assert read({"op": "c", "after": {"id": 1, "doc": None}}, of=KEEP).kept[1] is False
    assert bad({"op": "c", "after": {"id": 1}}, of=ERROR) == "absent"
    strict = table(columns="id BIGINT PRIMARY KEY, doc VARCHAR NOT NULL", units="")
    assert bad({"op": "c", "after": {"id": 1}}, of=strict) == "absent"
    assert bad({"op": "c", "after": {"id": 1, "doc": None}}, of=strict) == "null"


def test_a_placeholder_stands_for_what_is_stored() -> None:
    event = read({"op": "u", "after": {"id": 1, "doc": PLACEHOLDER, "price": PLACEHOLDER}})
    assert event.values == ("1", None, None, None, None)
    assert event.kept == event.unknown == (False, True, True, False, False)
    own = table("'placeholder'='?'")
    assert read({"op": "u", "after": {"id": 1, "doc": "?"}}, of=own).unknown[1]
    assert read({"op": "u", "after": {"id": 1, "doc": PLACEHOLDER}}, of=own).values[1] == PLACEHOLDER


def stored(name: str, value: Any, unit: str) -> str | None:
    """Return what is stored of a value that is written in a unit."""
    of = table(
        units=", ".join(
            f"'{kind}'='{unit if name == column else default}'"
            for kind, column, default in (
                ("decimal", "price", "string"),
                ("date", "day", "days"),
                ("timestamp", "at", "micros"),
            )
        )
    )
    return read({"op": "c", "after": {"id": 1, name: value}}, of=of).values[NAMES.index(name)]


@pytest.mark.parametrize("micros", [0, 1, -1, 1_772_409_599_999_999, -62_135_596_800_000_000, 253_402_300_799_999_999])
def test_times_are_so_far_from_1970(micros: int) -> None:
    moment = dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=micros)
    assert stored("at", micros, "micros") == moment.isoformat(" ")
    if abs(micros) < 2**63 // 1_000:
        assert stored("at", micros * 1_000, "nanos") == moment.isoformat(" ")
    assert stored("at", micros // 1_000, "millis") == (
        moment.replace(microsecond=moment.microsecond // 1_000 * 1_000)
    ).isoformat(" ")
    assert stored("day", micros // 86_400_000_000, "days") == moment.date().isoformat()


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-01T12:00:00Z", "2026-03-01 12:00:00"), ("2026-03-01T12:00:00.5+01:00", "2026-03-01 11:00:00.500000"),
        ("2026-03-01T00:30:00-01:45", "2026-03-01 02:15:00"),
        ("2026-03-01T00:30:00.123456000+01:00", "2026-02-28 23:30:00.123456"),
        ("2026-03-01T12:00:00-18:00", "2026-03-02 06:00:00"),
    ],
)  # fmt: skip
def test_zoned_times_are_of_utc(text: str, moment: str) -> None:
    assert stored("at", text, "zoned") == moment
    assert dt.datetime.fromisoformat(text).astimezone(dt.UTC).isoformat(" ") == f"{moment}+00:00"


@pytest.mark.parametrize(
    ("name", "value", "unit"),
    [
        ("at", 1, "nanos"), ("at", 1.5, "micros"), ("at", "5", "micros"), ("at", 253_402_300_800_000_000, "micros"),
        ("at", -62_135_596_800_000_001, "micros"), ("at", 10**30, "millis"), ("at", "2026-03-01T12:00:00", "zoned"),
        ("at", "2026-03-01 12:00:00Z", "zoned"), ("at", "2026-03-01T12:00:00.0000001Z", "zoned"), ("at", 5, "zoned"),
        ("at", "2026-03-01T12:00:00.Z", "zoned"), ("at", "2026-03-01T12:00:00+19:00", "zoned"),
        ("at", "0001-01-01T00:00:00+01:00", "zoned"),
        ("at", "2026-02-30T12:00:00Z", "zoned"), ("at", "2026-03-01T12:00:00+01:60", "zoned"),
        ("day", "2026-02-30", "iso"),
        ("day", 20_000, "iso"), ("day", 10**9, "days"), ("day", 1.0, "days"), ("price", 1.5, "string"),
        ("price", "1.5", "number"),
        ("price", "1.555", "string"), ("price", "1000000", "string"), ("price", "!", "base64"),
        ("price", "", "base64"), ("price", 5, "base64"),
        ("price", "AB", "base64"), ("price", "BNI", "base64"),
    ],
)  # fmt: skip
def test_values_that_are_none(name: str, value: Any, unit: str) -> None:
    with pytest.raises(Bad):
        stored(name, value, unit)


def test_days_and_decimals() -> None:
    assert stored("day", "2026-03-01Z", "iso") == stored("day", "2026-03-01", "iso") == "2026-03-01"
    assert stored("price", "1.5", "string") == stored("price", 1.5, "number") == "1.5"


@pytest.mark.parametrize("cents", [0, 1, -1, 127, 128, -128, -129, 32_767, 32_768, 99_999_999, -99_999_999])
def test_whole_units_in_bytes(cents: int) -> None:
    for more in (0, 1):
        data = cents.to_bytes(max(cents, ~cents).bit_length() // 8 + 1 + more, "big", signed=True)
        assert Decimal(stored("price", base64.b64encode(data).decode(), "base64") or "") == Decimal(cents).scaleb(-2)


@pytest.mark.parametrize("cents", [100_000_000, -100_000_000, 2**70])
def test_more_digits_than_there_are(cents: int) -> None:
    with pytest.raises(Bad):
        stored("price", base64.b64encode(cents.to_bytes(12, "big", signed=True)).decode(), "base64")


def inline(name: str, value: Any, schema: dict[str, Any]) -> Event:
    fields = [{"field": "id", "type": "int64"}, {"field": name, **schema}]
    image = {"field": "after", "type": "struct", "fields": fields}
    document = {
        "schema": {"type": "struct", "fields": [image]},
        "payload": {"op": "c", "after": {"id": 1, name: value}},
    }
    return read(document, of=INLINE)


CONNECT, TIME = "org.apache.kafka.connect.data.", "io.debezium.time."
VARIABLE = {"type": "struct", "name": "io.debezium.data.VariableScaleDecimal", "fields": []}


@pytest.mark.parametrize(
    ("name", "value", "schema", "stored"),
    [
        ("at", 1_500, {"type": "int64", "name": TIME + "Timestamp"}, "1970-01-01 00:00:01.500000"),
        ("at", 1_500, {"type": "int64", "name": CONNECT + "Timestamp"}, "1970-01-01 00:00:01.500000"),
        ("at", 1_500, {"type": "int64", "name": TIME + "MicroTimestamp"}, "1970-01-01 00:00:00.001500"),
        ("at", 2_000, {"type": "int64", "name": TIME + "NanoTimestamp"}, "1970-01-01 00:00:00.000002"),
        ("at", "1970-01-01T01:00:00+01:00", {"type": "string", "name": TIME + "ZonedTimestamp"}, "1970-01-01 00:00:00"),
        ("day", 59, {"type": "int32", "name": TIME + "Date"}, "1970-03-01"),
        ("day", 59, {"type": "int32", "name": CONNECT + "Date"}, "1970-03-01"),
        ("day", "1970-03-01", {"type": "string", "name": TIME + "IsoDate"}, "1970-03-01"),
        ("price", "BNI=", {"type": "bytes", "name": CONNECT + "Decimal", "parameters": {"scale": "2"}}, "12.34"),
        ("price", "BNI=", {"type": "bytes", "name": CONNECT + "Decimal", "parameters": {"scale": "-1"}}, "12340"),
        ("price", 1.25, {"type": "bytes", "name": CONNECT + "Decimal"}, "1.25"),
        ("price", {"scale": 1, "value": "BNI="}, VARIABLE, "123.4"),
        ("price", "1.25", {"type": "string"}, "1.25"), ("price", 1.25, {"type": "double"}, "1.25"),
    ],
)  # fmt: skip
def test_schemas_say_how_values_are_written(name: str, value: Any, schema: dict[str, Any], stored: str) -> None:
    assert inline(name, value, schema).values[NAMES.index(name)] == stored


@pytest.mark.parametrize(
    ("name", "value", "schema"),
    [
        ("at", 5, {"type": "int32", "name": TIME + "Date"}),
        ("day", 5, {"type": "int64", "name": TIME + "MicroTimestamp"}),
        ("price", "1.25", {"type": "double"}), ("price", 1.25, {"type": "string"}), ("price", 1, {"type": "boolean"}),
        ("price", "BNI=", {"type": "bytes", "name": CONNECT + "Decimal"}), ("doc", "BNI=", {"type": "bytes"}),
        ("doc", "a", {}),
        ("price", "BNI=", {"type": "bytes", "name": CONNECT + "Decimal", "parameters": {"scale": "x"}}),
        ("doc", "a", {"type": "string", "name": 5}),
        ("price", {"value": "BNI="}, VARIABLE),
    ],
)  # fmt: skip
def test_schemas_that_do_not_fit(name: str, value: Any, schema: dict[str, Any]) -> None:
    with pytest.raises(Bad):
        inline(name, value, schema)


def test_without_a_schema_nobody_knows_the_unit() -> None:
    assert bad({"op": "c", "after": {"id": 1, "at": 5}}, of=INLINE) == "no schema and no unit"
    assert read({"op": "c", "after": AFTER}, of=INLINE).values[1] == "a"


SOURCE = {"connector": "postgresql", "name": "pg", "sequence": '["5","7"]', "ts_ms": 3}


@pytest.mark.parametrize(
    ("source", "position"),
    [
        (SOURCE, ("pg", 5, 7, 3_000)),
        ({**SOURCE, "ts_us": 3_456}, ("pg", 5, 7, 3_456)),
        ({**SOURCE, "sequence": '[null,"7"]'}, ("pg", 0, 7, 3_000)),
        ({**SOURCE, "sequence": '["5", "7"]'}, None),
        ({**SOURCE, "sequence": '["5",7]'}, None),
        ({**SOURCE, "sequence": '["-5","7"]'}, None),
        ({**SOURCE, "sequence": '["5","1234567890123456789"]'}, None),
        ({**SOURCE, "connector": "mysql"}, None),
        ({**SOURCE, "name": 5}, None),
        ({**SOURCE, "ts_ms": "3"}, None),
        ({"connector": "postgresql"}, None),
    ],
)
def test_where_a_change_stands(source: dict[str, Any], position: tuple[str, int, int, int] | None) -> None:
    for op, more in (("c", {"after": AFTER}), ("d", {}), ("t", {})):
        event = read({"op": op, "source": source, **more})
        assert event.position == position
        assert (event.moment is None) is (op == "t")
    assert read({"op": "r", "source": source, "after": AFTER}).position is None, "a snapshot stands nowhere"
