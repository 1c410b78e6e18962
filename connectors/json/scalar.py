"""One JSON scalar as the value of a column, exactly: to the order code or the text, and back to canonical JSON.

    column                  accepted JSON                                   kept as
    BOOLEAN                 true, false                                     0, 1
    SMALLINT INTEGER BIGINT integer literal within the type's bounds        itself
    REAL                    number, finite after rounding to 32 bits        code of that float
    DOUBLE                  number, finite after rounding to 64 bits        code of that float
    DECIMAL(p,s)            number, or string of the decimal grammar        unscaled integer; text where p > 18
    DATE                    string YYYY-MM-DD, years 0001 to 9999           days since 1970-01-01
    TIMESTAMP               string YYYY-MM-DD(T or blank)hh:mm:ss[.f{1,6}]  microseconds since 1970-01-01
    VARCHAR                 string                                          text
    ranges                  string of PostgreSQL's form, or of one value    text of the one form of equal ranges

Rounding to a float is that of `state/nearest_float.py`: from the decimal text in one step.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections.abc import Callable
from typing import NoReturn

from catalog.types.column_type import RANGES, ColumnType, Kind
from catalog.types.range_value import RangeRefused, read_range
from connectors.dead_letter import RecordFault
from connectors.json.document import Number, shown
from state.nearest_float import nearest_double, nearest_real
from state.order_code import code_of_double, double_of_code

Coded = int | str
INTEGER_BOUNDS = {Kind.SMALLINT: 2**15, Kind.INTEGER: 2**31, Kind.BIGINT: 2**63}
MICROSECONDS_PER_DAY = 86_400_000_000
EPOCH_ORDINAL = 719_163

_DECIMAL = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?)0*([0-9]+))?")
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_TIMESTAMP = re.compile(r"([0-9-]{10})[T ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,6}))?")
_MAX_EXPONENT_DIGITS = 6
_EXPECTED = {
    Kind.BOOLEAN: "true or false",
    Kind.SMALLINT: "an integer literal",
    Kind.INTEGER: "an integer literal",
    Kind.BIGINT: "an integer literal",
    Kind.REAL: "a number",
    Kind.DOUBLE: "a number",
    Kind.DECIMAL: "a number or a decimal string",
    Kind.DATE: 'a string "YYYY-MM-DD"',
    Kind.TIMESTAMP: 'a string "YYYY-MM-DDThh:mm:ss[.ffffff]" without a zone',
    Kind.VARCHAR: "a string",
    **dict.fromkeys(RANGES, 'a string such as "[lower,upper)"'),
}


def read_scalar(column_type: ColumnType, value: object) -> Coded:
    """Return the order code of a parsed JSON value, or its text for a column without codes.

    `value` is what `parse_document` makes, never None. Cost: about 1 us. Raises RecordFault; its message says
    what was expected and what came, and leaves it to the caller to name the column.
    """
    return _READERS[column_type.kind](column_type, value)


def scalar_text(column_type: ColumnType, coded: Coded) -> str:
    """Return the canonical JSON text of what `read_scalar` returned: one spelling for each value.

    A DECIMAL is a string at the column's scale, a float its shortest spelling in 64 bits (`-0.0` is `0.0`), a
    timestamp has its fraction left out where zero and six digits otherwise.
    """
    if isinstance(coded, str):
        return json.dumps(coded, ensure_ascii=False)
    return _WRITERS[column_type.kind](column_type, coded)


def expected(column_type: ColumnType) -> str:
    """Say what a column of this type takes, for a message."""
    return f"{_EXPECTED[column_type.kind]} for {column_type}"


_NO_DAY = ": there is no such day"


def _refuse(code: str, column_type: ColumnType, value: object, why: str = "") -> NoReturn:
    raise RecordFault(code, f"expected {expected(column_type)}, got {shown(value)}{why}")


def _boolean(column_type: ColumnType, value: object) -> int:
    if not isinstance(value, bool):
        _refuse("wrong_type", column_type, value)
    return int(value)


def _integer(column_type: ColumnType, value: object) -> int:
    if not isinstance(value, Number) or any(mark in value for mark in ".eE"):
        _refuse("wrong_type", column_type, value)
    bound = INTEGER_BOUNDS[column_type.kind]
    if len(value) > 20 or not -bound <= int(value) < bound:
        _refuse("out_of_range", column_type, value, f", beyond {-bound} to {bound - 1}")
    return int(value)


def _float(column_type: ColumnType, value: object) -> int:
    if not isinstance(value, Number):
        _refuse("wrong_type", column_type, value)
    nearest, bits = (nearest_real, 32) if column_type.kind is Kind.REAL else (nearest_double, 64)
    number = nearest(value)
    if math.isinf(number):
        _refuse("out_of_range", column_type, value, f", beyond the largest {bits}-bit float")
    return code_of_double(number)


def _decimal(column_type: ColumnType, value: object) -> Coded:
    if not isinstance(value, str):
        _refuse("wrong_type", column_type, value)
    match = _DECIMAL.fullmatch(value)
    if match is None:
        _refuse("malformed_value", column_type, value)
    unscaled = _unscaled(column_type, value, match)
    return unscaled if column_type.coded else _decimal_digits(column_type, unscaled)


def _unscaled(column_type: ColumnType, value: str, match: re.Match[str]) -> int:
    """Scale without ever making more digits than the column has: an exponent may be as long as the record."""
    sign, whole, fraction, exponent_sign, exponent = match.groups(default="")
    digits = (whole + fraction).lstrip("0")
    significant = digits.rstrip("0")
    if not significant:
        return 0
    huge = len(exponent) > _MAX_EXPONENT_DIGITS
    shift = int(exponent_sign + (exponent if not huge else "9" * _MAX_EXPONENT_DIGITS) or "0")
    zeros = len(digits) - len(significant) - len(fraction) + shift + column_type.scale
    if zeros < 0:
        _refuse("out_of_scale", column_type, value, f", which has digits beyond the scale {column_type.scale}")
    if len(significant) + zeros > column_type.precision:
        _refuse(
            "out_of_range",
            column_type,
            value,
            f", which has more than {column_type.precision - column_type.scale} digits before the point",
        )
    return int(sign + significant) * int(10**zeros)


def _date(column_type: ColumnType, value: object) -> int:
    if not isinstance(value, str) or isinstance(value, Number):
        _refuse("wrong_type", column_type, value)
    day = _days(value)
    if day is None:
        _refuse("malformed_value", column_type, value, _NO_DAY if _DATE.fullmatch(value) else "")
    return day


def _timestamp(column_type: ColumnType, value: object) -> int:
    if not isinstance(value, str) or isinstance(value, Number):
        _refuse("wrong_type", column_type, value)
    match = _TIMESTAMP.fullmatch(value)
    day = _days(match[1]) if match else None
    if match is None or day is None:
        _refuse("malformed_value", column_type, value, _NO_DAY if match else "")
    hour, minute, second = int(match[2]), int(match[3]), int(match[4])
    if hour > 23 or minute > 59 or second > 59:
        _refuse("malformed_value", column_type, value, ": there is no such time of day")
    seconds = (hour * 60 + minute) * 60 + second
    return day * MICROSECONDS_PER_DAY + seconds * 1_000_000 + int((match[5] or "").ljust(6, "0"))


def _days(text: str) -> int | None:
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    try:
        return dt.date(int(match[1]), int(match[2]), int(match[3])).toordinal() - EPOCH_ORDINAL
    except ValueError:
        return None


def _varchar(column_type: ColumnType, value: object) -> str:
    if not isinstance(value, str) or isinstance(value, Number):
        _refuse("wrong_type", column_type, value)
    return str(value)


def _range(column_type: ColumnType, value: object) -> str:
    if not isinstance(value, str) or isinstance(value, Number):
        _refuse("wrong_type", column_type, value)
    try:
        return read_range(column_type, value).text
    except RangeRefused as refused:
        _refuse("malformed_value", column_type, value, f": {refused.why}")


def _decimal_digits(column_type: ColumnType, unscaled: int) -> str:
    digits = str(abs(unscaled)).rjust(column_type.scale + 1, "0")
    cut = len(digits) - column_type.scale
    text = digits[:cut] + ("." + digits[cut:] if column_type.scale else "")
    return "-" + text if unscaled < 0 else text


def _timestamp_text(code: int) -> str:
    moment = dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=code)
    return f'"{moment.isoformat()}"'


_READERS: dict[Kind, Callable[[ColumnType, object], Coded]] = {
    Kind.BOOLEAN: _boolean,
    Kind.SMALLINT: _integer,
    Kind.INTEGER: _integer,
    Kind.BIGINT: _integer,
    Kind.REAL: _float,
    Kind.DOUBLE: _float,
    Kind.DECIMAL: _decimal,
    Kind.DATE: _date,
    Kind.TIMESTAMP: _timestamp,
    Kind.VARCHAR: _varchar,
    **dict.fromkeys(RANGES, _range),
}
_WRITERS: dict[Kind, Callable[[ColumnType, int], str]] = {
    Kind.BOOLEAN: lambda _, code: "true" if code else "false",
    Kind.SMALLINT: lambda _, code: str(code),
    Kind.INTEGER: lambda _, code: str(code),
    Kind.BIGINT: lambda _, code: str(code),
    Kind.REAL: lambda _, code: repr(double_of_code(code)),
    Kind.DOUBLE: lambda _, code: repr(double_of_code(code)),
    Kind.DECIMAL: lambda column_type, code: f'"{_decimal_digits(column_type, code)}"',
    Kind.DATE: lambda _, code: f'"{dt.date.fromordinal(code + EPOCH_ORDINAL).isoformat()}"',
    Kind.TIMESTAMP: lambda _, code: _timestamp_text(code),
}
