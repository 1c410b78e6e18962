"""What Protobuf's older syntax demands and Google's library for Python passes over: required fields, closed enums.

The library makes a field that is absent of an enum's number without a name. So the numbers are looked up in the bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tidewire.verification.input.decoding import Bad

_VARINT, _EIGHT_BYTES, _BYTES, _GROUP, _GROUP_END, _FOUR_BYTES = range(6)


def is_whole(message: Any) -> bool:
    """Return whether a message, and all that is in it, has each field that is required."""
    kind = type(message)  # of the class: a field of the message may be called HasField
    if any(one.is_required and not kind.HasField(message, one.name) for one in kind.DESCRIPTOR.fields):
        return False
    try:
        return all(is_whole(inner) for field, value in kind.ListFields(message) for inner in _messages(field, value))
    except UnicodeDecodeError:  # a map's key is no text, and there is no other way to what is in the map
        return bool(kind.IsInitialized(message))


def _messages(field: Any, value: Any) -> Iterator[Any]:
    if field.message_type is None:
        return
    if not field.is_repeated:
        yield value
    elif not field.message_type.GetOptions().map_entry:
        yield from value
    elif field.message_type.fields_by_name["value"].message_type is not None:
        yield from value.values()


def check_names(field: Any, data: bytes) -> None:
    """Check that each number which the bytes of a message have for an enum has a name. Raises Bad."""
    named = {value.number % 2**32 for value in field.enum_type.values}
    for number, wire, value in _fields(data):
        if (number, wire) == (field.number, _VARINT) and value % 2**32 not in named:
            raise Bad("an enum's number without a name")


def _fields(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield number, form and, of a varint, value of each field that is in no group; the library has read the bytes."""
    at = groups = 0
    while at < len(data):
        tag, at = _varint(data, at)
        number, wire = divmod(tag, 8)
        value = 0
        if wire in (_VARINT, _BYTES):
            value, at = _varint(data, at)
        groups += {_GROUP: 1, _GROUP_END: -1}.get(wire, 0)
        at += {_EIGHT_BYTES: 8, _FOUR_BYTES: 4, _BYTES: value}.get(wire, 0)
        if groups == 0:
            yield number, wire, value


def _varint(data: bytes, at: int) -> tuple[int, int]:
    end = next(i for i in range(at, len(data)) if data[i] < 128)
    return sum((byte & 127) << 7 * i for i, byte in enumerate(data[at : end + 1])), end + 1
