"""The schema registry's framing: a byte 0, four bytes of the schema's number, then the datum."""

from __future__ import annotations

from connectors.dead_letter import RecordFault

_FRAME = 5


def unframe(data: bytes) -> tuple[int, bytes]:
    """Return the schema's number, and what stands behind the frame. Raises RecordFault."""
    if len(data) < _FRAME or data[0] != 0:
        raise RecordFault("malformed_frame", "expected a byte 0 and a schema's id of 4 bytes before the datum")
    return int.from_bytes(data[1:_FRAME], "big"), data[_FRAME:]


def read_path(data: bytes) -> tuple[tuple[int, ...], bytes]:
    """Return the path of a Protobuf message, and what stands behind it. Raises RecordFault.

    Written is how many numbers it has, then they, each as a zigzag varint; a single byte 0 stands for the path (0).
    """
    length, at = _number(data, 0)
    if length == 0:
        return (0,), data[at:]
    if not 0 < length <= len(data):
        raise RecordFault("malformed_frame", f"expected the path of a message, got one of {length} numbers")
    path: list[int] = []
    for _ in range(length):
        number, at = _number(data, at)
        path.append(number)
    return tuple(path), data[at:]


def _number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 35:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), at
        shift += 7
    raise RecordFault("malformed_frame", "expected the path of a message behind the schema's id")
