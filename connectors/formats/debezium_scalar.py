"""One value of a Debezium image as the value of a column, exactly: by the record's schema, else by the declared unit.

    column      schema                                          unit      JSON              is
    DECIMAL     bytes org.apache.kafka.connect.data.Decimal     base64    "BNI="            two's complement
                struct io.debezium.data.VariableScaleDecimal              {scale, value}    the same
                string                                          string    "12.34"           as in format json
                double, float, int8 .. int64, Decimal           number    12.34             as in format json
    DATE        int32 io.debezium.time.Date, Connect Date       days      20454             days since 1970
                string io.debezium.time.IsoDate                 iso       "2026-01-01Z"
    TIMESTAMP   int64 io.debezium.time.MicroTimestamp           micros    1772409599000000
                int64 io.debezium.time.Timestamp, Connect's     millis    1772409599000
                int64 io.debezium.time.NanoTimestamp            nanos     whole microseconds only
                string io.debezium.time.ZonedTimestamp, Iso..   zoned     "2026-03-01T23:59:59.5+01:00", kept in UTC
    REAL DOUBLE float                                                     0.1               the 32-bit float
                double, none                                              0.1               as in format json
    others      any but bytes                                             as in format json

Two's complement is big-endian, at the scale that the schema says; by unit, at the column's.
Never by what a value looks like: 1772409599000 may count micros or millis, and "1234" is base64, too.
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import math
import re
from collections.abc import Callable

from catalog.types.column_type import ColumnType, Kind
from connectors.dead_letter import RecordFault
from connectors.json.document import Members, Number, shown
from connectors.json.scalar import Coded, read_scalar
from connectors.schemas.connect_schema import FieldSchema
from state.nearest_float import nearest_real
from state.order_code import code_of_double

Unit = FieldSchema | str | None
"""What says how a value is written: the record's schema, the declared unit, or None where nothing must."""

_DECIMAL = "org.apache.kafka.connect.data.Decimal"
_VARIABLE = "io.debezium.data.VariableScaleDecimal"
_DATES = {
    "io.debezium.time.Date": "days",
    "org.apache.kafka.connect.data.Date": "days",
    "io.debezium.time.IsoDate": "iso",
}
_TIMESTAMPS = {
    "io.debezium.time.MicroTimestamp": "micros",
    "io.debezium.time.Timestamp": "millis",
    "org.apache.kafka.connect.data.Timestamp": "millis",
    "io.debezium.time.NanoTimestamp": "nanos",
    "io.debezium.time.ZonedTimestamp": "zoned",
    "io.debezium.time.IsoTimestamp": "zoned",
}
_NUMBERS = ("double", "float", "float64", "float32", "int8", "int16", "int32", "int64")
_FLOATS = ("float", "float32")
_LONGEST_BASE64 = 2_000
_LONGEST_INTEGER = 20
_ZONED = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,9}))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))"
)
_INTEGER = re.compile(r"-?[0-9]+")


def read_debezium(column_type: ColumnType, value: object, unit: Unit) -> Coded:
    """Return the order code or text of `value`, which is not null.

    Cost: 1-3 us. Raises RecordFault, which leaves it to the caller to name the column.
    """
    reader = _READERS.get(column_type.kind)
    if reader is not None:
        return reader(column_type, value, unit)
    if isinstance(unit, FieldSchema):
        if unit.type == "bytes":
            raise RecordFault("wrong_type", f"expected {column_type}, got bytes (schema: {unit})")
        if column_type.kind in (Kind.REAL, Kind.DOUBLE) and unit.type in _FLOATS:
            return _float(column_type, value)
    return read_scalar(column_type, value)


def _float(column_type: ColumnType, value: object) -> Coded:
    """Read what was a 32-bit float: its text is the shortest that names it, as a 64-bit one it has another."""
    if not isinstance(value, Number):
        return read_scalar(column_type, value)
    number = nearest_real(value)
    if math.isinf(number):
        raise RecordFault(
            "out_of_range", f"expected {column_type}, got {shown(value)}, beyond the largest 32-bit float"
        )
    return code_of_double(number)


def _decimal(column_type: ColumnType, value: object, unit: Unit) -> Coded:
    if not isinstance(unit, FieldSchema):
        return _decimal_of_unit(column_type, value, unit)
    if unit.name == _VARIABLE:
        members = dict(value) if isinstance(value, Members) else {}
        scale = members.get("scale")
        if not isinstance(scale, Number) or not _INTEGER.fullmatch(scale) or len(scale) > 6:
            raise RecordFault("malformed_value", f"expected {{scale, value}} for {column_type}, got {shown(value)}")
        return _unscaled(column_type, members.get("value"), int(scale))
    if unit.name == _DECIMAL:
        if isinstance(value, Number):
            return read_scalar(column_type, value)
        if unit.scale is None:
            raise RecordFault("malformed_schema", "the schema of a Decimal has no scale")
        return _unscaled(column_type, value, unit.scale)
    if unit.type == "string":
        return _decimal_of_unit(column_type, value, "string")
    if unit.type in _NUMBERS:
        return _decimal_of_unit(column_type, value, "number")
    raise _unfit(column_type, unit)


def _decimal_of_unit(column_type: ColumnType, value: object, unit: str | None) -> Coded:
    if unit == "base64":
        return _unscaled(column_type, value, column_type.scale)
    if isinstance(value, Number) != (unit == "number"):
        wanted = "a number" if unit == "number" else "a decimal string"
        raise RecordFault("wrong_type", f"expected {wanted} for {column_type}, got {shown(value)}")
    return read_scalar(column_type, value)


def _unscaled(column_type: ColumnType, value: object, scale: int) -> Coded:
    """Read base64 of a two's complement integer, in units of 10 ** -scale."""
    if not isinstance(value, str) or isinstance(value, Number):
        raise RecordFault("wrong_type", f"expected base64 for {column_type}, got {shown(value)}")
    if len(value) > _LONGEST_BASE64:
        raise RecordFault("out_of_range", f"expected {column_type}, got {len(value)} characters of base64")
    try:
        data = base64.b64decode(value.encode(), validate=True)
    except (binascii.Error, ValueError):
        data = b""
    if not data or base64.b64encode(data).decode() != value:
        raise RecordFault("malformed_value", f"expected base64 for {column_type}, got {shown(value)}")
    return read_scalar(column_type, Number(f"{int.from_bytes(data, 'big', signed=True)}e{-scale}"))


def _date(column_type: ColumnType, value: object, unit: Unit) -> Coded:
    if _named(column_type, unit, _DATES) == "days":
        return _within(column_type, _integer(column_type, value), value)
    if isinstance(value, str) and not isinstance(value, Number):
        return read_scalar(column_type, value.removesuffix("Z"))
    return read_scalar(column_type, value)


def _timestamp(column_type: ColumnType, value: object, unit: Unit) -> Coded:
    word = _named(column_type, unit, _TIMESTAMPS)
    if word == "zoned":
        return _zoned(column_type, value)
    number = _integer(column_type, value)
    if word == "millis":
        number *= 1_000
    elif word == "nanos":
        number, rest = divmod(number, 1_000)
        if rest:
            raise RecordFault("out_of_scale", f"expected {column_type} in whole microseconds, got {shown(value)} ns")
    return _within(column_type, number, value)


def _zoned(column_type: ColumnType, value: object) -> Coded:
    if not isinstance(value, str) or isinstance(value, Number):
        raise RecordFault("wrong_type", f"expected a time with its zone for {column_type}, got {shown(value)}")
    match = _ZONED.fullmatch(value)
    hours, minutes = (int(match[4] or 0), int(match[5] or 0)) if match else (0, 0)
    if match is None or hours > 18 or minutes > 59:
        raise RecordFault("malformed_value", f"expected a time with its zone for {column_type}, got {shown(value)}")
    fraction = (match[2] or "").ljust(6, "0")
    if fraction[6:].strip("0"):
        raise RecordFault("out_of_scale", f"expected {column_type} in whole microseconds, got {shown(value)}")
    local = int(read_scalar(column_type, match[1])) + int(fraction[:6])
    ahead = dt.timedelta(hours=hours, minutes=minutes) // dt.timedelta(microseconds=1)
    return _within(column_type, local + ahead if match[3] == "-" else local - ahead, value)


def _named(column_type: ColumnType, unit: Unit, words: dict[str, str]) -> str:
    if not isinstance(unit, FieldSchema):
        assert unit is not None  # a table without units takes no record without schema
        return unit
    if unit.name not in words:
        raise _unfit(column_type, unit)
    return words[unit.name]


def _integer(column_type: ColumnType, value: object) -> int:
    if not isinstance(value, Number) or not _INTEGER.fullmatch(value):
        raise RecordFault("wrong_type", f"expected an integer literal for {column_type}, got {shown(value)}")
    if len(value) > _LONGEST_INTEGER:
        raise RecordFault("out_of_range", f"expected {column_type}, got {shown(value)}")
    return int(value)


def _within(column_type: ColumnType, code: int, value: object) -> int:
    lowest, highest = column_type.reach
    if not lowest <= code <= highest:
        raise RecordFault("out_of_range", f"expected {column_type} of the years 0001 to 9999, got {shown(value)}")
    return code


def _unfit(column_type: ColumnType, schema: FieldSchema) -> RecordFault:
    return RecordFault("wrong_type", f"expected {column_type}, got a value whose schema says {schema}")


_READERS: dict[Kind, Callable[[ColumnType, object, Unit], Coded]] = {
    Kind.DECIMAL: _decimal,
    Kind.DATE: _date,
    Kind.TIMESTAMP: _timestamp,
}
