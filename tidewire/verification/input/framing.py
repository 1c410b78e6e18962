"""The schema registry's framing: a byte 0, the schema's number in four bytes, for Protobuf a message's path, the rest.

A path is how many numbers it has, then they; each a varint, zigzag. A 0 alone is the path of one 0.
"""

from __future__ import annotations

from tidewire.verification.input.decoding import Bad

_FRAME = 5
_MOST_VARINT_BYTES = 5


def unframe(data: bytes) -> tuple[int, bytes]:
    """Return the number of the schema, and what stands behind it. Raises Bad."""
    number = framed_number(data)
    if number is None:
        raise Bad("not framed")
    return number, data[_FRAME:]


def framed_number(data: bytes | None) -> int | None:
    """Return the number of the schema, None of what is not framed."""
    return int.from_bytes(data[1:_FRAME], "big") if data and len(data) >= _FRAME and data[0] == 0 else None


def split_path(data: bytes) -> tuple[list[int], bytes]:
    """Return the path of a message, and the message. Raises Bad."""
    count, rest = _zigzag(data)
    if count == 0:
        return [0], rest
    if not 0 < count <= len(data):
        raise Bad("a path of so many numbers")
    path = []
    for _ in range(count):
        number, rest = _zigzag(rest)
        path.append(number)
    return path, rest


def _zigzag(data: bytes) -> tuple[int, bytes]:
    digits = next((i + 1 for i, byte in enumerate(data[:_MOST_VARINT_BYTES]) if byte < 0x80), None)
    if digits is None:
        raise Bad("no path of a message")
    number = sum((byte & 0x7F) << 7 * i for i, byte in enumerate(data[:digits]))
    return (-(number + 1) // 2 if number % 2 else number // 2), data[digits:]
