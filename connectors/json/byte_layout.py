"""Many byte strings or texts end to end in one array: how columns pass between Python, Arrow and compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from connectors.json.scan import BACKSLASH, LOWER_B, LOWER_F, LOWER_N, LOWER_R, LOWER_T, LOWER_U, U8, compiled, hex4
from state.arrow_strings import ArrowStrings
from state.change_batch import I64, Bool

_UNESCAPED = np.arange(256, dtype=np.uint8)
_UNESCAPED[[LOWER_B, LOWER_F, LOWER_N, LOWER_R, LOWER_T]] = (8, 12, 10, 13, 9)


@dataclass(slots=True)
class ByteLayout:
    """n byte strings: string i is data[offsets[i]:offsets[i + 1]]. Both arrays are read-only.

    (To numba a read-only array is another type: were both kinds to come, functions would be compiled twice.)
    """

    data: U8
    offsets: I64

    def __post_init__(self) -> None:
        self.data.flags.writeable = False
        self.offsets.flags.writeable = False

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @classmethod
    def of(cls, values: Sequence[bytes | str | None], text: bool = False) -> ByteLayout:
        """Lay out Python values; None is laid out as nothing. Cost: 30 ns each."""
        return cls._of_arrow(pa.array(values, pa.large_string() if text else pa.large_binary()))

    @classmethod
    def of_nullable(cls, values: Sequence[bytes | None]) -> tuple[ByteLayout, Bool]:
        """Lay out byte strings, and say which of them are not None. Cost: 30 ns each, nothing for ArrowStrings."""
        array = ArrowStrings.of_bytes(values).array
        return cls._of_arrow(array), np.asarray(array.is_valid().to_numpy(zero_copy_only=False), np.bool_)

    @classmethod
    def _of_arrow(cls, array: pa.Array) -> ByteLayout:
        _, offsets, data = array.buffers()
        return cls(
            np.frombuffer(data, np.uint8) if data else np.zeros(0, np.uint8),
            np.frombuffer(offsets, np.int64, len(array) + 1) if offsets else np.zeros(1, np.int64),
        )

    @classmethod
    def unescaped(cls, data: U8, starts: I64, stops: I64) -> ByteLayout:
        """Gather spans of checked JSON text, escapes resolved. Cost: 15 ns each and 1 ns a byte."""
        out = np.empty(int((stops - starts).sum()), np.uint8)
        offsets = np.zeros(len(starts) + 1, np.int64)
        _unescape(data, starts, stops, out, offsets)
        return cls(out, offsets)

    @property
    def lengths(self) -> I64:
        """The length of each string in bytes."""
        return np.diff(self.offsets)

    def texts(self, valid: Bool) -> ArrowStrings[str]:
        """Return the strings as text, None where not `valid`. Cost: nothing until they are looked at."""
        return ArrowStrings(self._arrow(pa.large_string(), valid))

    def byte_strings(self) -> list[bytes]:
        """Return the strings. Cost: 25 ns each."""
        strings: list[bytes] = self._arrow(pa.large_binary(), None).to_pylist()
        return strings

    def arrow_texts(self) -> pa.Array:
        """Return the strings as an Arrow array of text, without a copy."""
        return self._arrow(pa.large_string(), None)

    def _arrow(self, arrow_type: pa.DataType, valid: Bool | None) -> pa.Array:
        bits = None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))
        buffers = [bits, pa.py_buffer(self.offsets), pa.py_buffer(self.data)]
        return pa.Array.from_buffers(arrow_type, len(self), buffers)


def equal_strings(left: ByteLayout, at_left: I64, right: ByteLayout, at_right: I64) -> Bool:
    """Compare string at_left[i] of `left` with string at_right[i] of `right`, for each i. Cost: 10 ns each."""
    same = np.zeros(len(at_left), np.bool_)
    _compare(left.data, left.offsets, at_left, right.data, right.offsets, at_right, same)
    return same


@compiled
def _compare(
    left: U8, left_offsets: I64, at_left: I64, right: U8, right_offsets: I64, at_right: I64, same: Bool
) -> None:
    for i in range(len(at_left)):
        first, last = left_offsets[at_left[i]], left_offsets[at_left[i] + 1]
        shift = right_offsets[at_right[i]] - first
        equal = right_offsets[at_right[i] + 1] - shift == last
        while equal and first < last:
            equal = left[first] == right[first + shift]
            first += 1
        same[i] = equal


@compiled
def _put_character(point: int, out: U8, to: int) -> int:
    """Write a code point beyond ASCII as UTF-8; return the position after it."""
    if point >= 0x10000:
        out[to] = 0xF0 | point >> 18
        out[to + 1] = 0x80 | point >> 12 & 0x3F
        to += 2
    elif point >= 0x800:
        out[to] = 0xE0 | point >> 12
        to += 1
    else:
        out[to] = 0xC0 | point >> 6
        out[to + 1] = 0x80 | point & 0x3F
        return to + 2
    out[to] = 0x80 | point >> 6 & 0x3F
    out[to + 1] = 0x80 | point & 0x3F
    return to + 2


@compiled
def _put_unicode_escape(data: U8, at: int, stop: int, out: U8, to: int) -> tuple[int, int]:
    """Write what the checked \\uXXXX (or the pair) at `at` means; return (position after it, position in out)."""
    point = hex4(data, at + 2, stop)
    at += 6
    if 0xD800 <= point <= 0xDFFF:
        point = 0x10000 + ((point - 0xD800) << 10) + (hex4(data, at + 2, stop) - 0xDC00)
        at += 6
    if point < 0x80:
        out[to] = point
        return at, to + 1
    return at, _put_character(point, out, to)


@compiled
def _unescape(data: U8, starts: I64, stops: I64, out: U8, offsets: I64) -> None:
    to = 0
    for i in range(len(starts)):
        at, stop = starts[i], stops[i]
        while at < stop:
            byte = data[at]
            if byte != BACKSLASH:
                out[to] = byte
                at += 1
                to += 1
            elif data[at + 1] != LOWER_U:
                out[to] = _UNESCAPED[data[at + 1]]
                at += 2
                to += 1
            else:
                at, to = _put_unicode_escape(data, at, stop, out, to)
        offsets[i + 1] = to
