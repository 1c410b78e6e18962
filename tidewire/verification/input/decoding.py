"""Records to rows, by the documented rules of the format `json`, written a second time.

Nothing is shared with the product's decoder but the rules: one JSON text (RFC 8259; no NaN, no byte order mark, no lone
surrogate, at most 64 levels), an object; integers as integer literals within bounds; floats finite; decimals as
number or string, exact at the column's scale; dates and timestamps as ISO text without zone; the last of equal
members wins; the key is the primary key as an object or, for one column, the bare scalar, and agrees with the row.
Values leave as text that DuckDB casts to the declared type.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from tidewire.verification.input.column import Column
from tidewire.verification.input.declared import Table
from tidewire.verification.records.ranges import NoRange, canonical, is_range
from tidewire.verification.records.rounding import nearest_real, number_of

MAX_BYTES = 65_536
MAX_DEPTH = 64
_INTEGER = re.compile(r"-?[0-9]+")
_BOUNDS = {"SMALLINT": 2**15, "INTEGER": 2**31, "BIGINT": 2**63}
_DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_DECIMAL_TYPE = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIMESTAMP = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]{1,6})?")


class Bad(Exception):
    """Why a record is a dead letter."""


class Row(NamedTuple):
    """What a record does: upsert (`live`) or delete of the row `pk`. `values` are texts, None for NULL."""

    pk: str
    live: bool
    values: list[str | None]
    present: list[bool]


class Number(str):
    """A JSON number as it was written."""

    __slots__ = ()


Members = Mapping[str, object]
"""What a record says by member, as JSON values: None, bool, `Number`, str, list, dict."""


class Format(NamedTuple):
    """How records of a format are read. Both raise Bad. `key_in_row`: a row always has its primary key."""

    key: Callable[[Table, bytes], list[str]]
    row: Callable[[Table, bytes], Members]
    key_in_row: bool = True


def decode(table: Table, key: bytes | None, value: bytes | None, keyless: bool, by: Format | None = None) -> Row | None:
    """Return what the record does, None if it is a dead letter. `keyless`: rows without a key are taken.

    `by`: the format, JSON without it.
    """
    try:
        return _decode(table, key, value, keyless, by or JSON)
    except Bad:
        return None


def _decode(table: Table, key: bytes | None, value: bytes | None, keyless: bool, by: Format) -> Row:
    if len(key or b"") + len(value or b"") > MAX_BYTES:
        raise Bad("too large")
    stated = None if key is None else by.key(table, key)
    width = len(table.columns)
    if stated is None and (value is None or not keyless):
        raise Bad("no key")
    if value is None:
        return Row(json.dumps(stated), False, [None] * width, [False] * width)
    members = by.row(table, value)
    if by.key_in_row and not set(table.key) <= members.keys():
        raise Bad("a row without its primary key")
    values = [_column(table, column, members, stated) for column in table.columns]
    present = [column.name in members or column.name in table.key for column in table.columns]
    own = [text for column, text in zip(table.columns, values, strict=True) if column.name in table.key]
    if stated is not None and own != stated:
        raise Bad("key and row disagree")
    return Row(json.dumps(own), True, values, present)


def key_texts(table: Table, data: bytes) -> list[str]:
    """Return the values of the primary key that a Kafka key says. Raises Bad."""
    columns = [column for column in table.columns if column.name in table.key]
    document = parse_text(data)
    if not isinstance(document, dict):
        if len(columns) != 1:
            raise Bad("key of several columns is no object")
        document = {columns[0].name: document}
    if set(document) != {column.name for column in columns} or any(v is None for v in document.values()):
        raise Bad("key has not the primary key's columns")
    return [scalar(column.type, document[column.name]) for column in columns]


def _column(table: Table, column: Column, members: Members, stated: list[str] | None) -> str | None:
    if column.name in members:
        value = members[column.name]
        if value is None and not column.nullable:
            raise Bad("null")
        return None if value is None else scalar(column.type, value)
    if table.absent == "keep":
        if column.name not in table.key:
            return None
        if stated is not None:
            keys = [c.name for c in table.columns if c.name in table.key]
            return stated[keys.index(column.name)]
    if table.absent == "error" or not column.nullable:
        raise Bad("absent")
    return None


def text_of(data: bytes) -> str:
    """Return the text that bytes are. Raises Bad."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise Bad("not UTF-8") from None
    if text.startswith("\ufeff"):
        raise Bad("byte order mark")
    return text


def parse_text(data: bytes) -> Any:
    """Return one JSON text, objects as dicts. Raises Bad."""
    text = text_of(data)
    try:
        document = json.loads(text, parse_int=Number, parse_float=Number, parse_constant=_refuse)
    except (json.JSONDecodeError, RecursionError):
        raise Bad("not JSON") from None
    if text.count("[") + text.count("{") > MAX_DEPTH and _depth(text) > MAX_DEPTH:
        raise Bad("too deep")
    if "\\u" in text:
        _check_surrogates(text)
    return document


def json_members(table: Table, data: bytes) -> Members:
    """Return the members of a row. Raises Bad."""
    members = parse_text(data)
    if not isinstance(members, dict):
        raise Bad("no object")
    return members


JSON = Format(key_texts, json_members, key_in_row=False)


def _refuse(name: str) -> None:
    raise Bad(name)


def _depth(text: str) -> int:
    depth = deepest = 0
    for token in re.finditer(r'"(?:[^"\\]|\\.)*"|[][{}]', text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        deepest = max(deepest, depth)
    return deepest


def _check_surrogates(text: str) -> None:
    """Look at every string of the text, also in members that the dict has lost to a repeated name."""
    for string in _strings(json.loads(text, object_pairs_hook=list)):
        try:
            string.encode()
        except UnicodeEncodeError:
            raise Bad("lone surrogate") from None


def _strings(document: object) -> Iterator[str]:
    if isinstance(document, str):
        yield document
    elif isinstance(document, list | tuple):
        for value in document:
            yield from _strings(value)


def scalar(type: str, value: object) -> str:
    """Return one text for each value: equal values of a type give equal texts."""
    if type.startswith("DECIMAL"):
        return _decimal(type, value)
    if is_range(type):
        return _range(type, value)
    if type not in _SCALARS:
        raise Bad(f"no rule for {type}")
    return _SCALARS[type](type, value)


def _boolean(_: str, value: object) -> str:
    if not isinstance(value, bool):
        raise Bad("no boolean")
    return "true" if value else "false"


def _integer(type: str, value: object) -> str:
    if not isinstance(value, Number) or not _INTEGER.fullmatch(value):
        raise Bad("no integer")
    if len(value) > 20 or not -_BOUNDS[type] <= int(value) < _BOUNDS[type]:
        raise Bad("out of range")
    return str(int(value))


def _double(_: str, value: object) -> str:
    if not isinstance(value, Number):
        raise Bad("no number")
    number = float(value)
    if number in (float("inf"), float("-inf")):
        raise Bad("infinite")
    return repr(number + 0.0)


def _real(_: str, value: object) -> str:
    """Return the nearest 32-bit float, rounded once from the text (ties to even)."""
    if not isinstance(value, Number):
        raise Bad("no number")
    nearest = nearest_real(value)
    if math.isinf(nearest):
        raise Bad("infinite")
    return repr(nearest + 0.0)


def _decimal(type: str, value: object) -> str:
    match = _DECIMAL_TYPE.fullmatch(type)
    if match is None or not isinstance(value, str) or not _DECIMAL.fullmatch(value):
        raise Bad("no decimal")
    precision, scale = int(match[1]), int(match[2])
    number = number_of(value)
    if not number:
        return "0"
    digits = "".join(map(str, number.as_tuple().digits)).strip("0")
    if number.adjusted() >= precision - scale or number.adjusted() - len(digits) + 1 < -scale:
        raise Bad("out of range or scale")
    return format(number, "f").rstrip("0").rstrip(".") if number.as_tuple().exponent < 0 else format(number, "f")  # type: ignore[operator]


def _date(_: str, value: object) -> str:
    if not isinstance(value, str) or isinstance(value, Number) or not _DATE.fullmatch(value):
        raise Bad("no date")
    try:
        return dt.date.fromisoformat(value).isoformat()
    except ValueError:
        raise Bad("no date") from None


def _timestamp(_: str, value: object) -> str:
    match = _TIMESTAMP.fullmatch(value) if isinstance(value, str) and not isinstance(value, Number) else None
    if match is None:
        raise Bad("no timestamp")
    try:
        whole = dt.datetime.fromisoformat(f"{match[1]} {match[2]}")
    except ValueError:
        raise Bad("no timestamp") from None
    micros = int((match[3] or ".0")[1:].ljust(6, "0"))
    return whole.replace(microsecond=micros).isoformat(" ")


def _varchar(_: str, value: object) -> str:
    if not isinstance(value, str) or isinstance(value, Number):
        raise Bad("no text")
    return value


def _range(type: str, value: object) -> str:
    if not isinstance(value, str) or isinstance(value, Number):
        raise Bad("no text of a range")
    try:
        return canonical(type, value)
    except NoRange as why:
        raise Bad(str(why)) from None


_SCALARS: dict[str, Callable[[str, object], str]] = {
    "BOOLEAN": _boolean,
    "SMALLINT": _integer,
    "INTEGER": _integer,
    "BIGINT": _integer,
    "FLOAT": _real,
    "DOUBLE": _double,
    "DATE": _date,
    "TIMESTAMP": _timestamp,
    "VARCHAR": _varchar,
}
