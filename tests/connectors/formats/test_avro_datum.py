"""Datums are read strictly, whatever their schema, and as another reader reads them."""

from __future__ import annotations

import json
import struct
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.connectors.avro_samples import Sample, samples
from tests.effort import deep_examples
from tests.tidewire.verification.two_readers import TwoReaders


def said(text: str | None, expected: Any) -> Any:
    """What a column's text says, in the type of what is expected."""
    if text is None or isinstance(expected, str):
        return text
    if isinstance(expected, bool):
        return {"true": True, "false": False}[text.lower()]
    return type(expected)(Decimal(text)) if expected is not None else text


def says_what_was_written(sample: Sample) -> None:
    row = TwoReaders(sample.ddl).read(None, sample.data)
    assert row is not None
    for text, expected in zip(row.values[1:], sample.row.values(), strict=True):
        assert said(text, expected) == expected


@pytest.mark.deep
@settings(max_examples=deep_examples(300), deadline=None)
@given(samples())
def test_a_datum_says_what_was_written(sample: Sample) -> None:
    says_what_was_written(sample)


ODD_BYTES = st.one_of(
    st.sampled_from([b"\0", b"\1", b"\2", b"\3", b"\4", b"\x7f", b"\x80", b"\xff", b"\xff" * 9 + b"\1"]),
    st.sampled_from([b"\xff" * 9 + b"\2", b"\x80" * 10 + b"\0", b"\x80\0", b"\1\2", b"\3\4\0"]),
    st.binary(max_size=3),
)
CUTS = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 3), ODD_BYTES), min_size=1, max_size=3)


def damaged(data: bytes, cuts: list[tuple[float, int, bytes]]) -> bytes:
    for place, length, piece in cuts:
        at = round(place * len(data))
        data = data[:at] + piece + data[at + length :]
    return data


def both_read_alike(drawn: tuple[Sample, list[tuple[float, int, bytes]]]) -> None:
    """Whatever a datum has become: both readers refuse it, or both say the same."""
    sample, cuts = drawn
    TwoReaders(sample.ddl).read(None, damaged(sample.data, cuts))


DAMAGED = st.tuples(samples(), CUTS)


@pytest.mark.deep
@settings(max_examples=deep_examples(400), deadline=None)
@given(DAMAGED)
def test_damaged_datums_are_read_alike(drawn: tuple[Sample, list[tuple[float, int, bytes]]]) -> None:
    both_read_alike(drawn)


def zigzag(number: int) -> bytes:
    """A number as Avro writes it, however large."""
    rest, out = number * 2 if number >= 0 else -number * 2 - 1, bytearray()
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([*out, rest])


def told(written: Any, data: bytes, column: str = "VARCHAR") -> str:
    """Read a record of 1 and a field `v` of `data`; return the code and message of the refusal, '' of a row."""
    fields = [{"name": "id", "type": "int"}, {"name": "v", "type": written}]
    schema = json.dumps({"type": "record", "name": "R", "fields": fields})
    ddl = f"CREATE TABLE t (id BIGINT PRIMARY KEY, v {column}) WITH ('format'='avro', 'schema'='{schema}')"
    readers = TwoReaders(ddl)
    readers.read(None, b"\2" + data)
    return " ".join(readers.refusal(None, b"\2" + data) or ("",))


ENUM = {"type": "enum", "name": "E", "symbols": ["A", "B"]}
LIST = {"type": "array", "items": "int"}
DICT = {"type": "map", "values": "boolean"}
PAIR = {"type": "record", "name": "P", "fields": [{"name": "a", "type": ENUM}, {"name": "b", "type": ["null", "int"]}]}
FIXED = {"type": "fixed", "name": "F", "size": 3}


def nested(inner: Any) -> list[Any]:
    """The type where no column reads it: in an array, a map, a record, a union."""
    record = {"type": "record", "name": "Q", "fields": [{"name": "q", "type": inner}]}
    return [{"type": "array", "items": inner}, {"type": "map", "values": inner}, record, ["null", record]]


NESTED_BYTES = (b"\2%s\0", b"\2\2k%s\0", b"%s", b"\2%s")
SCALARS = [
    *((ENUM, zigzag(number), "no number") for number in (-1, 2, 63, -(2**31), 2**62)),
    *((["null", "int"], zigzag(number), "no number") for number in (-1, 2, -(2**63), 2**63 - 1)),
    *(("boolean", bytes([byte]), "a boolean of 0 or 1") for byte in (2, 3, 0x7F, 0x80, 0xFF)),
    *(("int", zigzag(number), "an int of 32 bits") for number in (2**31, -(2**31) - 1, 2**63 - 1)),
    *(("long", zigzag(number), "64 bits") for number in (2**63, -(2**63) - 1, 2**70)),
    *((kind, b"\x80" * 10 + b"\1", "10 bytes") for kind in ("int", "long")),
    *((kind, zigzag(-1), "a length") for kind in ("string", "bytes")),
    *((kind, zigzag(2**40) + b"x", "a length") for kind in ("string", "bytes")),
    ("string", b"\4\xc3\x28", "not UTF-8"),
    ("string", b"\6\xed\xa0\x80", "not UTF-8"),
]


@pytest.mark.parametrize(("written", "data", "what"), SCALARS)
def test_what_no_writer_writes_is_refused_wherever_it_stands(written: Any, data: bytes, what: str) -> None:
    code = "invalid_utf8" if "UTF-8" in what else "malformed_avro"
    assert told(written, data).startswith(f"{code} not a datum of its schema: field `v`: byte 1: ") or "invalid" in code
    for type_, around in zip(nested(written), NESTED_BYTES, strict=True):
        found = told(type_, around.replace(b"%s", data))
        assert found.startswith(code) and what in found


TRUNCATED = [
    ("boolean", b""), ("int", b""), ("int", b"\x80"), ("long", b"\xff" * 9), ("float", b"abc"), ("double", b"abcdefg"),
    ("string", b""), ("string", b"\4a"), ("bytes", b"\2"), (FIXED, b"ab"), (ENUM, b""), (["null", "int"], b""),
    (["null", "int"], b"\2"), (LIST, b""), (LIST, b"\2\2"), (DICT, b"\2\2k"), (DICT, b"\2"), (PAIR, b"\0"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "data"), TRUNCATED)
def test_what_ends_too_early_is_refused(written: Any, data: bytes) -> None:
    found = told(written, data)
    assert found.startswith("malformed_avro not a datum of its schema: field `v`: ")
    for type_, around in zip(nested(written), NESTED_BYTES, strict=True):
        assert told(type_, around.partition(b"%s")[0] + data).startswith("malformed_avro")


@pytest.mark.parametrize("written", ["null", "boolean", "int", "string", ENUM, FIXED, LIST, DICT, PAIR])
def test_bytes_behind_a_datum_are_refused(written: Any) -> None:
    data = {"null": b"", "string": b"\2x"}.get(written if isinstance(written, str) else "", b"\0" * 2)
    data = {"boolean": b"\1", "int": b"\2"}.get(written if isinstance(written, str) else "", data)
    if written in (ENUM, LIST, DICT):
        data = b"\0"
    data = b"abc" if written is FIXED else data
    assert "bytes stand behind" not in told(written, data)
    assert told(written, data + b"\0").startswith("malformed_avro not a datum of its schema: 1 bytes stand behind")


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"\3\4\2\2\0", ""),
        (b"\3\4\2\2\1\2\2\0", ""),
        (b"\4\2\2\3\4\2\2\0", ""),
        (b"\3\2\2\2\0", "a block says"),
        (b"\3\6\2\2\0", "a block says"),
        (b"\3\0\2\2\0", "a block says"),
        (b"\3\1\2\2\0", "a block says"),
        (b"\3" + zigzag(2**60) + b"\2\2\0", "a block says"),
        (zigzag(2**60), "a block of"),
        (zigzag(-(2**60)) + b"\2", "a block of"),
        (zigzag(-(2**63)) + b"\2", "a block of"),
        (b"\6\2\2", "a block of 3 items in 2 bytes"),
    ],
)
def test_blocks_hold_what_they_say(data: bytes, what: str) -> None:
    found = told(LIST, data)
    assert found.startswith("malformed_avro" if what else "wrong_type")
    assert what in found


def test_every_spelling_of_a_number_that_fits_is_taken() -> None:
    assert told("int", b"\x82\x80\x80\x80\x80\0", "INTEGER") == ""
    assert told("long", b"\xfe" + b"\xff" * 8 + b"\1", "BIGINT") == ""
    assert told("double", struct.pack("<d", 1.5), "DOUBLE") == ""


TREE = {"type": "record", "name": "T", "fields": [{"name": "next", "type": ["null", "T"]}]}
ALL = {"type": "record", "name": "A", "fields": [{"name": "all", "type": {"type": "array", "items": "A"}}]}
MAPS = {"type": "record", "name": "M", "fields": [{"name": "all", "type": {"type": "map", "values": "M"}}]}


@pytest.mark.parametrize(
    ("written", "level", "end", "most"),
    [(TREE, b"\2", b"\0", 62), (ALL, b"\2", b"\0", 31), (MAPS, b"\2\2k", b"\0", 31)],
)
def test_what_is_nested_too_deep_is_refused_and_ends_nothing(written: Any, level: bytes, end: bytes, most: int) -> None:
    closing = b"" if written is TREE else b"\0"
    for depth, code in ((most - 1, "wrong_type"), (most + 1, "too_deep"), (5_000, "too_deep"), (16_000, "too_deep")):
        assert told(written, level * depth + end + closing * depth).startswith(code)
