import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.dead_letter import RecordFault
from connectors.schemas.schema_frame import read_path, unframe


def varint(number: int) -> bytes:
    """Zigzag, then seven bits a byte."""
    value = (number << 1) ^ (number >> 31)
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def test_frames() -> None:
    assert unframe(b"\0\xff\0\0\1rest") == (0xFF000001, b"rest")
    for bad in (b"", b"\0\0\0\0", b"\1\0\0\0\7x"):
        with pytest.raises(RecordFault, match="byte 0"):
            unframe(bad)


@given(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=5), st.binary(max_size=5))
def test_paths(path: list[int], rest: bytes) -> None:
    written = varint(len(path)) + b"".join(map(varint, path))
    assert read_path(written + rest) == (tuple(path), rest)
    with pytest.raises(RecordFault, match="path"):
        read_path(written[:-1])


def test_the_short_path() -> None:
    assert read_path(b"\0rest") == ((0,), b"rest")
