"""Values of every column type: to order code and back, to JSON and back. Exact: what does not fit is refused.

    type          value          JSON                                order code
    BOOLEAN       bool           true, false                         0, 1
    integers      int            integer                             itself
    REAL          float          number, rounded to 32 bits once     that of the double it equals
    DOUBLE        float          number                              sign-magnitude flip; -0.0 is 0.0
    DECIMAL(p,s)  Decimal        "10.25" (also read from a number)   unscaled value; none if p > 18
     whole        Decimal        integer of up to 38 digits          none; only in views, as sums of integers
    DATE          date           "2026-03-01", years 0001-9999       days since 1970-01-01
    TIMESTAMP     datetime       "2026-03-01T23:59:59.999990"        microseconds since 1970
    VARCHAR       str            string                              none
    ranges        str            string, PostgreSQL's form           none; of their ends (range_value.py)

A TIMESTAMP has no zone and is read with `T` or one blank, with at most 6 digits of fraction; it is written with
`T`, and with a fraction of 6 digits only where that is not zero. A REAL is written as the double that it equals.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal

import msgspec

from catalog.types.column_type import RANGES, ColumnType, JsonValue, Kind, Value
from catalog.types.range_value import RangeRefused, read_range
from state.errors import UserError
from state.nearest_float import nearest_double, nearest_real
from state.order_code import code_of_double, double_of_code

_EPOCH_DAY = dt.date(1970, 1, 1).toordinal()
_EPOCH = dt.datetime(1970, 1, 1)
_MICROSECOND = dt.timedelta(microseconds=1)
_MOMENT = ColumnType(Kind.TIMESTAMP)
_INTEGERS = (Kind.SMALLINT, Kind.INTEGER, Kind.BIGINT)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIMESTAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ](?:[01][0-9]|2[0-3]):[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?")
_DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,6})?")
_LONGEST_DECIMAL = 100


class ValueRefused(UserError):
    """A value is not one of the column's type. Fields: `type`, `value`."""

    code = "bad_value"

    def __init__(self, type_: ColumnType, value: object, why: str) -> None:
        self.type = type_
        self.value = value
        shown = repr(value)
        shown = shown if len(shown) <= 80 else shown[:77] + "..."
        super().__init__(f"{shown} is no {type_}: {why}")


def code_of(type_: ColumnType, value: Value) -> int:
    """Return the order code of `value`.

    Raises ValueRefused if it is not a value of the type, or the type has no codes.

    >>> code_of(ColumnType(Kind.DECIMAL, 12, 2), Decimal("10.25"))
    1025
    """
    if not type_.coded:
        raise ValueRefused(type_, value, "the type has no order code")
    value = _checked(type_, value)
    match value:
        case float():
            return code_of_double(value)
        case Decimal():
            return _unscaled(value, type_.scale)
        case dt.datetime():
            return (value - _EPOCH) // _MICROSECOND
        case dt.date():
            return value.toordinal() - _EPOCH_DAY
    return int(value)


def value_of(type_: ColumnType, code: int) -> Value:
    """Return the value whose order code is `code`; the inverse of `code_of`.

    Raises ValueRefused if no value of the type has this code.
    """
    if not type_.coded:
        raise ValueRefused(type_, code, "the type has no order code")
    low, high = type_.reach
    if not low <= code <= high:
        raise ValueRefused(type_, code, f"its order codes are {low} to {high}")
    return _FROM_CODE[type_.kind](type_, code)


def to_json(type_: ColumnType, value: Value | None) -> JsonValue:
    """Return `value` in its JSON form (None is null).

    >>> to_json(ColumnType(Kind.TIMESTAMP), dt.datetime(2026, 3, 1, 9, 30))
    '2026-03-01T09:30:00'
    """
    match value:
        case Decimal() if type_.whole:
            return int(value)
        case Decimal():
            return decimal_text(value, type_.scale)
        case dt.datetime() | dt.date():
            return value.isoformat()
    return value


def json_of_code(type_: ColumnType, code: int) -> JsonValue:
    """Return the JSON form of the value whose order code is `code`: `to_json` of `value_of`, for decimals at once.

    >>> json_of_code(ColumnType(Kind.DECIMAL, 12, 2), -50)
    '-0.50'

    Raises ValueRefused if no value of the type has this code.
    """
    if type_.kind is Kind.DECIMAL and type_.coded:
        low, high = type_.reach
        if low <= code <= high:
            return _scaled_text(code, type_.scale)
    return to_json(type_, value_of(type_, code))


def moment_text(micros: int) -> str:
    """Return microseconds since 1970 as a TIMESTAMP is written.

    >>> moment_text(1_772_323_200_000_000)
    '2026-03-01T00:00:00'
    """
    return str(json_of_code(_MOMENT, micros))


def json_texts_of_codes(type_: ColumnType, codes: Sequence[int]) -> list[str]:
    """Return the JSON text of each value: `json_of_code`, encoded.

    Cost: 0.3 us each for decimals that are not negative, 1-2 us for others. Raises ValueRefused.
    """
    if type_.kind is not Kind.DECIMAL or not type_.coded or not type_.scale or not codes:
        return [msgspec.json.encode(json_of_code(type_, code)).decode() for code in codes]
    if min(codes) < 0 or max(codes) > type_.reach[1]:
        return [f'"{json_of_code(type_, code)}"' for code in codes]
    unit, scale = 10**type_.scale, type_.scale
    return [f'"{code // unit}.{code % unit:0{scale}d}"' for code in codes]


def from_json(type_: ColumnType, json: object) -> Value | None:
    """Return the value that the JSON value `json` stands for (null is None).

    Numbers may come as int, float or Decimal; a float is taken as its shortest text.
    Raises ValueRefused: wrong JSON type, out of range, digits beyond the scale, NaN, Infinity, a zone, no such day.
    """
    return None if json is None else _FROM_JSON[type_.kind](type_, json)


def decimal_text(value: Decimal, scale: int) -> str:
    """Return `value` with exactly `scale` digits after the point; it must have no more.

    >>> decimal_text(Decimal("-0.5"), 2)
    '-0.50'
    """
    return _scaled_text(_unscaled(value, scale), scale)


def _scaled_text(unscaled: int, scale: int) -> str:
    text = str(unscaled)
    if scale and len(text) > scale + 1:
        return f"{text[:-scale]}.{text[-scale:]}"
    digits = str(abs(unscaled)).rjust(scale + 1, "0")
    sign = "-" if unscaled < 0 else ""
    return f"{sign}{digits[:-scale]}.{digits[-scale:]}" if scale else sign + digits


def _unscaled(value: Decimal, scale: int) -> int:
    sign, digits, exponent = value.as_tuple()
    shift = int(exponent) + scale
    magnitude: int = int("".join(map(str, digits)))
    magnitude = magnitude * 10**shift if shift >= 0 else magnitude // 10**-shift
    return -magnitude if sign else magnitude


def _checked(type_: ColumnType, value: Value) -> Value:
    """Return `value` if it is one of the type's Python class and range."""
    match type_.kind, value:
        case (Kind.DATE, dt.date()) | (Kind.TIMESTAMP, dt.datetime()):
            if isinstance(value, dt.datetime) and (type_.kind is Kind.DATE or value.tzinfo is not None):
                raise ValueRefused(type_, value, "expected a date, or a timestamp without zone")
            return value
        case (Kind.DATE | Kind.TIMESTAMP, _):
            raise ValueRefused(type_, value, "expected a date or datetime")
    checked = from_json(type_, value)
    assert checked is not None
    return checked


def _boolean(type_: ColumnType, json: object) -> Value:
    if not isinstance(json, bool):
        raise ValueRefused(type_, json, "expected true or false")
    return json


def _integer(type_: ColumnType, json: object) -> Value:
    if not isinstance(json, int) or isinstance(json, bool):
        raise ValueRefused(type_, json, "expected an integer")
    low, high = type_.reach
    if not low <= json <= high:
        raise ValueRefused(type_, json, f"it must be between {low} and {high}")
    return json


def _float(type_: ColumnType, json: object) -> Value:
    if isinstance(json, bool) or not isinstance(json, int | float | Decimal):
        raise ValueRefused(type_, json, "expected a number")
    if isinstance(json, int) and json.bit_length() > 1024:
        raise ValueRefused(type_, "an integer of more than 1024 bits", "it is beyond the type's range")
    text = str(json)
    value = nearest_real(text) + 0.0 if type_.kind is Kind.REAL else nearest_double(text) + 0.0
    if not math.isfinite(value):
        raise ValueRefused(type_, json, "it must be finite and within the type's range")
    return value


def _decimal(type_: ColumnType, json: object) -> Value:
    value = _decimal_number(type_, json)
    if not value.is_finite():
        raise ValueRefused(type_, json, "it must be finite")
    if value and value.adjusted() >= type_.precision - type_.scale:
        raise ValueRefused(type_, json, f"it has more than {type_.precision - type_.scale} digits before the point")
    sign, digits, exponent = value.as_tuple()
    shift = int(exponent) + type_.scale if value else 0
    if shift < 0 and any(digits[shift:]):
        raise ValueRefused(type_, json, f"it has more than {type_.scale} digits after the point")
    exact = digits[:shift] if shift < 0 else digits + (0,) * shift
    return Decimal((sign if value else 0, exact, -type_.scale))


def _decimal_number(type_: ColumnType, json: object) -> Decimal:
    match json:
        case bool():
            pass
        case Decimal():
            return json
        case float():
            return Decimal(repr(json))
        case int():
            return Decimal(json)
        case str() if len(json) <= _LONGEST_DECIMAL and _DECIMAL.fullmatch(json):
            return Decimal(json)
    raise ValueRefused(type_, json, 'expected a decimal such as "10.25"')


def _date(type_: ColumnType, json: object) -> Value:
    if isinstance(json, str) and _DATE.fullmatch(json):
        try:
            return dt.date.fromisoformat(json)
        except ValueError:
            raise ValueRefused(type_, json, "there is no such day") from None
    raise ValueRefused(type_, json, 'expected "YYYY-MM-DD"')


def _timestamp(type_: ColumnType, json: object) -> Value:
    if isinstance(json, str) and _TIMESTAMP.fullmatch(json):
        try:
            return dt.datetime.fromisoformat(json)
        except ValueError:
            raise ValueRefused(type_, json, "there is no such day or time") from None
    raise ValueRefused(type_, json, 'expected "YYYY-MM-DDTHH:MM:SS", a fraction of at most 6 digits, no zone')


def _text(type_: ColumnType, json: object) -> Value:
    if not isinstance(json, str):
        raise ValueRefused(type_, json, "expected a string")
    return json


def _range(type_: ColumnType, json: object) -> Value:
    if not isinstance(json, str):
        raise ValueRefused(type_, json, 'expected a range such as "[lower,upper)"')
    try:
        return read_range(type_, json).text
    except RangeRefused as refused:
        raise ValueRefused(type_, json, refused.why) from None


_FROM_JSON: dict[Kind, Callable[[ColumnType, object], Value]] = {
    Kind.BOOLEAN: _boolean,
    Kind.SMALLINT: _integer,
    Kind.INTEGER: _integer,
    Kind.BIGINT: _integer,
    Kind.REAL: _float,
    Kind.DOUBLE: _float,
    Kind.DECIMAL: _decimal,
    Kind.DATE: _date,
    Kind.TIMESTAMP: _timestamp,
    Kind.VARCHAR: _text,
    **dict.fromkeys(RANGES, _range),
}

_FROM_CODE: dict[Kind, Callable[[ColumnType, int], Value]] = {
    Kind.BOOLEAN: lambda _, code: bool(code),
    Kind.SMALLINT: lambda _, code: code,
    Kind.INTEGER: lambda _, code: code,
    Kind.BIGINT: lambda _, code: code,
    Kind.REAL: lambda _, code: double_of_code(code),
    Kind.DOUBLE: lambda _, code: double_of_code(code),
    Kind.DECIMAL: lambda type_, code: Decimal(code).scaleb(-type_.scale),
    Kind.DATE: lambda _, code: dt.date.fromordinal(code + _EPOCH_DAY),
    Kind.TIMESTAMP: lambda _, code: _EPOCH + code * _MICROSECOND,
}
