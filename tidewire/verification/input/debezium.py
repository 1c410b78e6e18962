"""Records of format `debezium-json` to events, by the documented rules, written a second time.

Nothing is shared with the product's decoder but the rules. What an event does to rows is worked out by
`tidewire/verification/input/rows.py`.
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import json
from typing import Any, NamedTuple

from tidewire.verification.input.column import Column
from tidewire.verification.input.debezium_units import PLACEHOLDER, UNITS, kind_of
from tidewire.verification.input.declared import Table
from tidewire.verification.input.decoding import MAX_BYTES, Bad, Number, parse_text, scalar
from tidewire.verification.records.ranges import is_range

MAX_ENVELOPE = 1 << 20
_LONGEST_BASE64 = 2_000
_CONNECT = "org.apache.kafka.connect.data."
_TIME = "io.debezium.time."
_LOGICAL = {
    _TIME + "MicroTimestamp": ("timestamp", "micros"),
    _TIME + "Timestamp": ("timestamp", "millis"),
    _CONNECT + "Timestamp": ("timestamp", "millis"),
    _TIME + "NanoTimestamp": ("timestamp", "nanos"),
    _TIME + "ZonedTimestamp": ("timestamp", "zoned"),
    _TIME + "IsoTimestamp": ("timestamp", "zoned"),
    _TIME + "Date": ("date", "days"),
    _CONNECT + "Date": ("date", "days"),
    _TIME + "IsoDate": ("date", "iso"),
}
_EPOCH = dt.datetime(1970, 1, 1)
_MICRO = dt.timedelta(microseconds=1)


class Event(NamedTuple):
    """What a record does: `kind` is upsert, delete, truncate or nothing.

    kept: the value stays as stored. unknown: and must be stored, since a placeholder stands for it.
    origin: the row's key before, if another. moment: where the change stands in the source's log; position: the
    connector, two numbers that ascend with all that it puts into a partition, and the time of the commit.
    """

    kind: str
    pk: str = ""
    values: tuple[str | None, ...] = ()
    kept: tuple[bool, ...] = ()
    unknown: tuple[bool, ...] = ()
    origin: str | None = None
    moment: str | None = None
    position: tuple[str, int, int, int] | None = None


NOTHING = Event("nothing")


def decode(table: Table, key: bytes | None, value: bytes | None, keyless: bool) -> Event:
    """Return what a record does. Raises Bad for a dead letter."""
    if len(key or b"") + len(value or b"") > MAX_ENVELOPE:
        raise Bad("too large")
    if value is None:
        return NOTHING if key is None else Event("delete", _key(table, key))
    payload, schema = _unwrap(parse_text(value))
    if not isinstance(payload, dict):
        raise Bad("no object")
    if "op" not in payload:
        return _beside(payload)
    op = payload["op"]
    if op == "m" and not isinstance(op, Number):
        return NOTHING
    source = payload.get("source")
    position = _position(source) if isinstance(source, dict) and op != "r" else None
    if op == "t" and not isinstance(op, Number):
        return Event("truncate", position=position)
    if op not in ("c", "r", "u", "d") or isinstance(op, Number):
        raise Bad("op")
    stated = None if key is None else _key(table, key)
    if stated is None and not keyless:
        raise Bad("no key")
    moment = json.dumps(source) if isinstance(source, dict) else None
    if op == "d":
        return _deleted(table, stated, payload, schema, moment)._replace(position=position)
    return _changed(table, stated, payload, schema, moment, op == "u")._replace(position=position)


def _deleted(table: Table, stated: str | None, payload: Any, schema: Any, moment: str | None) -> Event:
    if stated is not None:
        return Event("delete", stated, moment=moment)
    return Event("delete", _own_key(table, payload.get("before"), _fields(schema, "before")))


def _changed(table: Table, stated: str | None, payload: Any, schema: Any, moment: str | None, may_move: bool) -> Event:
    row, fields = payload.get("after"), _fields(schema, "after")
    if not isinstance(row, dict):
        raise Bad("no image")
    placeholder = table.option("placeholder") or PLACEHOLDER
    unknown = tuple(
        type(row.get(column.name)) is str and row[column.name] == placeholder and column.name not in table.key
        for column in table.columns
    )
    values = tuple(
        None if known_not else _column(table, column, row, fields)
        for column, known_not in zip(table.columns, unknown, strict=True)
    )
    if sum(len(v.encode()) for v, c in zip(values, table.columns, strict=True) if v and _is_text(c)) > MAX_BYTES:
        raise Bad("too large")
    kept = tuple(
        u or (table.absent == "keep" and c.name not in row) for u, c in zip(unknown, table.columns, strict=True)
    )
    own = _own_key(table, row, fields)
    if stated is not None and own != stated:
        raise Bad("key and row disagree")
    origin = None
    before = payload.get("before")
    if stated is None and may_move and isinstance(before, dict):
        found = _own_key(table, before, _fields(schema, "before"))
        origin = None if found == own else found
    return Event("upsert", own, values, kept, unknown, origin, moment)


def _position(source: dict[str, Any]) -> tuple[str, int, int, int] | None:
    """Return (connector, commit before, place, time) of a change of PostgreSQL's."""
    try:
        commit, place = json.loads(source["sequence"])
        micros = isinstance(source.get("ts_us"), Number)
        time = scalar("BIGINT", source["ts_us"] if micros else source["ts_ms"])
    except (KeyError, TypeError, ValueError, Bad):
        return None
    digits = [commit if commit is not None else "0", place]
    if source.get("connector") != "postgresql" or not all(_is_place(one) for one in [*digits, time]):
        return None
    name = source.get("name")
    if type(name) is not str or source["sequence"] != json.dumps([commit, place], separators=(",", ":")):
        return None
    at = int(time) * (1 if micros else 1_000)
    return (name, int(digits[0]), int(place), at) if at < 10**18 else None


def _is_place(text: Any) -> bool:
    return type(text) is str and text.isascii() and text.isdecimal() and len(text) <= 18


def _is_text(column: Column) -> bool:
    digits = column.type.removeprefix("DECIMAL(").partition(",")[0]
    return column.type == "VARCHAR" or is_range(column.type) or (column.type.startswith("DECIMAL") and int(digits) > 18)


def _column(table: Table, column: Column, row: dict[str, Any], fields: dict[str, Any]) -> str | None:
    if column.name not in row:
        strict = column.name in table.key or table.absent == "error"
        if strict or (table.absent == "null" and not column.nullable):
            raise Bad("absent")
        return None
    if row[column.name] is None and column.nullable:
        return None
    return _value(table, column, row, fields)


def _own_key(table: Table, row: Any, fields: dict[str, Any]) -> str:
    if not isinstance(row, dict):
        raise Bad("no image")
    return json.dumps([_value(table, column, row, fields) for column in table.columns if column.name in table.key])


def _key(table: Table, data: bytes) -> str:
    payload, schema = _unwrap(parse_text(data))
    if not isinstance(payload, dict) or set(payload) != set(table.key):
        raise Bad("key")
    return _own_key(table, payload, _names(schema))


def _beside(payload: dict[str, Any]) -> Event:
    """Heartbeats, boundaries of transactions and changes of schema say nothing about rows."""
    names = set(payload)
    heartbeat = "ts_ms" in names and not names - {"ts_ms", "ts_us", "ts_ns"}
    if heartbeat or {"status", "id"} <= names or ("source" in names and names & {"ddl", "tableChanges"}):
        return NOTHING
    raise Bad("no envelope")


def _unwrap(document: Any) -> tuple[Any, Any]:
    if not isinstance(document, dict) or set(document) != {"schema", "payload"}:
        return document, None
    if document["schema"] is not None:
        _check_schema(document["schema"])
    return document["payload"], document["schema"]


def _check_schema(schema: Any) -> None:
    if not isinstance(schema, dict) or type(schema.get("type")) is not str:
        raise Bad("schema")
    if schema.get("name") is not None and type(schema["name"]) is not str:
        raise Bad("schema")
    parameters = schema.get("parameters")
    if isinstance(parameters, dict) and parameters.get("scale") is not None:
        _scale(parameters["scale"])
    if schema["type"] == "struct":
        fields = schema.get("fields")
        if not isinstance(fields, list) or not all(isinstance(f, dict) and type(f.get("field")) is str for f in fields):
            raise Bad("schema")
        if len({f["field"] for f in fields}) < len(fields):
            raise Bad("schema")
        for one in fields:
            _check_schema(one)


def _scale(written: Any) -> int:
    digits = written.removeprefix("-") if isinstance(written, str) else ""
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 6):
        raise Bad("scale")
    return int(written)


def _names(schema: Any) -> dict[str, Any]:
    """Return the fields of a struct's schema by name."""
    if not isinstance(schema, dict) or schema["type"] != "struct":
        return {}
    return {one["field"]: one for one in schema["fields"]}


def _fields(schema: Any, image: str) -> dict[str, Any]:
    return _names(_names(schema).get(image))


def _value(table: Table, column: Column, row: dict[str, Any], fields: dict[str, Any]) -> str:
    value, schema, kind = row.get(column.name), fields.get(column.name), kind_of(column.type)
    if value is None:
        raise Bad("null")
    if kind in UNITS:
        if schema is None and column.name not in table.units:
            raise Bad("no schema and no unit")
        if kind == "decimal":
            return _decimal(column.type, value, schema, table.units.get(column.name))
        logical = _LOGICAL.get(schema.get("name") or "", ("", "")) if schema is not None else None
        if logical is not None and logical[0] != kind:
            raise Bad("schema of another type")
        return _time(kind, value, logical[1] if logical is not None else table.units[column.name])
    if schema is not None and schema["type"] == "bytes":
        raise Bad("bytes")
    if schema is not None and schema["type"] in ("float", "float32") and column.type == "DOUBLE":
        return scalar("FLOAT", value)
    return scalar(column.type, value)


def _decimal(type: str, value: Any, schema: Any, unit: str | None) -> str:
    if schema is not None:
        name = schema.get("name") or ""
        if name == "io.debezium.data.VariableScaleDecimal":
            scale = value.get("scale") if isinstance(value, dict) else None
            if not isinstance(scale, Number) or not scale.removeprefix("-").isdecimal() or len(scale) > 6:
                raise Bad("no scale")
            return _base64(type, value.get("value"), int(scale))
        if name == _CONNECT + "Decimal":
            if isinstance(value, Number):
                return scalar(type, value)
            parameters = schema.get("parameters")
            return _base64(type, value, _scale(parameters.get("scale") if isinstance(parameters, dict) else None))
        unit = "string" if schema["type"] == "string" else "number"
        if unit == "number" and schema["type"] not in (
            "double", "float", "float32", "float64", "int8", "int16", "int32", "int64",
        ):  # fmt: skip
            raise Bad("schema of another type")
    if unit == "base64":
        return _base64(type, value, int(type.partition(",")[2].rstrip(")")))
    if isinstance(value, Number) != (unit == "number"):
        raise Bad("no decimal")
    return scalar(type, value)


def _base64(type: str, value: Any, scale: int) -> str:
    if not isinstance(value, str) or isinstance(value, Number) or len(value) > _LONGEST_BASE64:
        raise Bad("no base64")
    try:
        data = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise Bad("no base64") from None
    if not data or base64.b64encode(data) != value.encode():
        raise Bad("no base64")
    return scalar(type, Number(f"{_signed(data)}E{-scale}"))


def _signed(data: bytes) -> int:
    number = 0
    for byte in data:
        number = number * 256 + byte
    return number - (256 ** len(data) if data[0] & 0x80 else 0)


def _time(kind: str, value: Any, unit: str) -> str:
    if unit == "iso":
        return scalar(
            "DATE", value if isinstance(value, Number) or not isinstance(value, str) else value.removesuffix("Z")
        )
    if unit == "zoned":
        return _zoned(value)
    number = scalar("BIGINT", value) if isinstance(value, Number) and len(value) <= 20 else None
    if number is None:
        raise Bad("no integer")
    micros = {"days": 86_400_000_000, "millis": 1_000, "micros": 1, "nanos": 0}[unit] * int(number)
    if unit == "nanos":
        micros, rest = divmod(int(number), 1_000)
        if rest:
            raise Bad("nanoseconds")
    return _moment(kind, micros)


def _zoned(value: Any) -> str:
    if not isinstance(value, str) or isinstance(value, Number) or not value.isascii() or len(value) < 20:
        raise Bad("no zoned time")
    zone = "+00:00" if value.endswith("Z") else value[-6:]
    local = value.removesuffix("Z") if value.endswith("Z") else value[:-6]
    whole, _, fraction = local.partition(".")
    if len(zone) != 6 or zone[0] not in "+-" or zone[3] != ":" or not (zone[1:3] + zone[4:]).isdecimal():
        raise Bad("no zone")
    if int(zone[1:3]) > 18 or int(zone[4:]) > 59 or whole[10:11] != "T":
        raise Bad("no zone")
    if "." in local and not (fraction.isdecimal() and len(fraction) <= 9):
        raise Bad("no fraction")
    if fraction[6:].strip("0"):
        raise Bad("nanoseconds")
    instant = dt.datetime.fromisoformat(scalar("TIMESTAMP", whole))
    ahead = (int(zone[1:3]) * 60 + int(zone[4:])) * 60_000_000 * (-1 if zone[0] == "-" else 1)
    return _moment("timestamp", (instant - _EPOCH) // _MICRO + int(fraction[:6].ljust(6, "0")) - ahead)


def _moment(kind: str, micros: int) -> str:
    try:
        instant = _EPOCH + dt.timedelta(days=micros // 86_400_000_000, microseconds=micros % 86_400_000_000)
    except OverflowError:
        raise Bad("out of range") from None
    return instant.date().isoformat() if kind == "date" else instant.isoformat(" ")
