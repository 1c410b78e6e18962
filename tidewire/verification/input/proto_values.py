"""A field of a Protobuf message in the words of JSON, as far as a column of its name can take it.

A field with presence that is absent is null, one without says its default. Enums are the names of their numbers, the
types of Google's wrappers what is in them; timestamps, dates and decimals are what they mean. What JSON would not say
in the column's place is refused, as is what has no one value: bytes, repeated fields, maps, other messages.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from typing import Any

from tidewire.verification.input.binary_values import decimal_number, float_number, moment_text
from tidewire.verification.input.decoding import Bad, Number

_WRAPPER = re.compile(r"google\.protobuf\.(Bool|Bytes|Double|Float|Int32|Int64|String|UInt32|UInt64)Value")
_DECIMAL = re.compile(r"([+-]?)(?=\.?[0-9])([0-9]*)(\.([0-9]*))?([eE][+-]?[0-9]+)?")
_SECOND = 10**9


def proto_value(type: str, field: Any, message: Any) -> object:
    """Return what `message` says in `field` for a column of `type`. Raises Bad."""
    if field.has_presence and not _is_set(field, message):
        return None
    if field.is_repeated:
        raise Bad("repeated")
    return _said(type, field, getattr(message, field.name))


def _is_set(field: Any, message: Any) -> bool:
    """Ask the class: a field of the message may be called HasField."""
    return bool(type(message).HasField(message, field.name))


def _said(type: str, field: Any, value: Any) -> object:
    if field.message_type is not None:
        return _of_message(type, field.message_type, value)
    if field.enum_type is not None:
        return _enum_name(type, field.enum_type, value)
    if isinstance(value, bool | str):
        return value
    if isinstance(value, float):
        return float_number(type, value)
    if isinstance(value, int):
        return Number(value)
    raise Bad("bytes")


def _of_message(type: str, descriptor: Any, value: Any) -> object:
    if _WRAPPER.fullmatch(descriptor.full_name):
        return _said(type, descriptor.fields_by_name["value"], value.value)
    column, read = _MESSAGES.get(descriptor.full_name, ("", _nothing))
    if type.partition("(")[0] != column:
        raise Bad(f"a message {descriptor.full_name}")
    return read(type, value)


def _enum_name(type: str, enum: Any, number: int) -> str:
    names = [one.name for one in enum.values if one.number == number]
    if type != "VARCHAR" or not names:
        raise Bad("an enum, or none of its numbers")
    return str(names[0])


def _timestamp(_: str, value: Any) -> str:
    if not 0 <= value.nanos < _SECOND:
        raise Bad("nanoseconds beyond a second")
    return moment_text(value.seconds * _SECOND + value.nanos)


def _date(_: str, value: Any) -> str:
    try:
        return dt.date(value.year, value.month, value.day).isoformat()
    except (ValueError, OverflowError):
        raise Bad("no date") from None


def _decimal(_: str, value: Any) -> Number:
    if not isinstance(value.value, str):
        raise Bad("no UTF-8")
    match = _DECIMAL.fullmatch(value.value or "0")
    if match is None:
        raise Bad("no decimal")
    return Number(f"{match[1].strip('+')}{match[2] or 0}.{match[4] or 0}{match[5] or ''}")


def _unscaled(type: str, value: Any) -> Number:
    return decimal_number(type, value.value, value.scale)


def _nothing(_: str, __: Any) -> object:
    return None


_MESSAGES: dict[str, tuple[str, Callable[[str, Any], object]]] = {
    "google.protobuf.Timestamp": ("TIMESTAMP", _timestamp),
    "google.type.Date": ("DATE", _date),
    "google.type.Decimal": ("DECIMAL", _decimal),
    "confluent.type.Decimal": ("DECIMAL", _unscaled),
}
