"""The container of every stored state: named flat arrays behind magic, format version, fingerprint and checksums.

    offset  bytes  what
    0       8      magic: which structure wrote it
    8       3      format version, little endian
    11      1      layout: 1, where each section has its own checksum; 0, one of before, where there is one for all
    12      4      CRC-32 from offset 16 to the end of the header (layout 0: of everything from there on)
    16      4      h, the length of the header
    20      h      header, JSON: fingerprint, and for each section its name, dtype, shape, offset, length and CRC-32
    ...            the sections, each at a multiple of 8 bytes and checked with its padding

Opening copies nothing: arrays are `np.frombuffer` views (read-only, as the bytes are). Same sections, same bytes.
Cost: one pass for the CRC (1 ms for 2 MB) and one copy when writing; 20 us more.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from state.errors import StateError

Section = npt.NDArray[Any] | memoryview
_ALIGN = 8
_FIXED = 20
_HEADER_AT = 16
_LAYOUT_AT = 24
_LAYOUT = 1


class _Section(msgspec.Struct, array_like=True):
    name: str
    dtype: str
    shape: list[int]
    offset: int
    length: int
    crc: int = 0


class _Header(msgspec.Struct):
    fingerprint: str
    sections: list[_Section]


def write_blob(
    magic: bytes, version: int, fingerprint: str, sections: Mapping[str, bytes | memoryview | npt.NDArray[Any]]
) -> bytes:
    """Return one binary value of `sections`. `magic` is 8 bytes; arrays keep dtype and shape (C order)."""
    entries: list[_Section] = []
    parts: list[bytes] = []
    offset = 0
    for name, section in sections.items():
        array = isinstance(section, np.ndarray)
        dtype, shape = (section.dtype.str, list(section.shape)) if isinstance(section, np.ndarray) else ("", [])
        data = np.ascontiguousarray(section).tobytes() if array else bytes(section)
        padding = bytes(-len(data) % _ALIGN)
        entries.append(_Section(name, dtype, shape, offset, len(data), zlib.crc32(padding, zlib.crc32(data))))
        parts += [data, padding]
        offset += len(data) + len(padding)
    header = msgspec.json.encode(_Header(fingerprint, entries))
    header += b" " * (-(_FIXED + len(header)) % _ALIGN)
    length = len(header).to_bytes(4, "little")
    crc = zlib.crc32(header, zlib.crc32(length)).to_bytes(4, "little")
    return b"".join([magic, (version | _LAYOUT << _LAYOUT_AT).to_bytes(4, "little"), crc, length, header, *parts])


def version_of(data: bytes) -> int:
    """Return the format version that stands in `data`."""
    return int.from_bytes(data[8:11], "little")


def read_blob(data: bytes, magic: bytes, version: int, fingerprint: str) -> dict[str, Section]:
    """Return the sections of `data`: arrays as read-only views, bytes as memoryviews.

    Raises StateError, naming both sides, if magic, version or fingerprint differ or the checksum fails.
    """
    found, sections = open_blob(data, magic, version)
    if found != fingerprint:
        raise StateError(
            f"the stored state belongs to another declaration: expected {fingerprint}, found {found}; "
            "declare the table as it was, or drop and create it anew"
        )
    return sections


def open_blob(data: bytes, magic: bytes, version: int) -> tuple[str, dict[str, Section]]:
    """Return fingerprint and sections, for a caller that judges by itself whether the fingerprint evolved legally.

    Raises StateError as `read_blob` does.
    """
    header, begin = _open(data, magic, version)
    return header.fingerprint, {entry.name: _section(data, begin, entry) for entry in header.sections}


def _open(data: bytes, magic: bytes, version: int) -> tuple[_Header, int]:
    if len(data) < _FIXED or data[:8] != magic:
        raise StateError(
            f"the stored state is of another kind: expected `{magic!r}`, found `{data[:8]!r}` ({len(data)} bytes); "
            "point the engine at its own checkpoint"
        )
    found, layout = version_of(data), data[11]
    if found != version or layout > _LAYOUT:
        raise StateError(
            f"the stored state `{magic!r}` has another format: expected version {version}, found {found}; "
            "run the release that wrote it, or start a new epoch on a fresh checkpoint"
        )
    begin = _FIXED + int.from_bytes(data[16:20], "little")
    _verify(magic, memoryview(data)[_HEADER_AT : begin if layout else None], int.from_bytes(data[12:16], "little"))
    header = msgspec.json.decode(data[_FIXED:begin], type=_Header)
    if layout:
        for entry in header.sections:
            _verify(f"{magic!r}, section {entry.name}", _padded(data, begin, entry), entry.crc)
    return header, begin


def _padded(data: bytes, begin: int, entry: _Section) -> memoryview:
    start = begin + entry.offset
    return memoryview(data)[start : start + entry.length + -entry.length % _ALIGN]


def _verify(what: object, part: memoryview, stored: int) -> None:
    actual = zlib.crc32(part)
    if stored != actual:
        raise StateError(
            f"the stored state `{what}` is damaged: expected CRC {stored:#010x}, found {actual:#010x} over "
            f"{len(part)} bytes; start a new epoch on a fresh checkpoint"
        )


def _section(data: bytes, begin: int, entry: _Section) -> Section:
    start = begin + entry.offset
    if not entry.dtype:
        return memoryview(data)[start : start + entry.length]
    dtype = np.dtype(entry.dtype)
    flat = np.frombuffer(data, dtype, entry.length // dtype.itemsize, start)
    return flat.reshape(entry.shape)
