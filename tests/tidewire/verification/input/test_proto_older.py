"""Messages of the older syntax: what is required is there, and an enum's number has a name, as the product has it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.connectors.proto_files import text_of
from tests.effort import examples
from tests.tidewire.verification.two_readers import TwoReaders

OLDER = """
syntax = "proto2";
package p;
enum E { A = 1; B = 2; NEGATIVE = -5; }
message Deep { required int32 x = 1; }
message In { optional Deep deep = 1; optional E e = 2; extensions 100 to 110; }
extend In { optional Deep more = 100; }
message R {
  required int64 id = 1;
  optional E e = 3;
  required string z = 4;
  optional In in = 5;
  repeated In ins = 6;
  map<string, In> by_name = 7;
  map<string, int32> plain = 8;
  oneof one { E oe = 9; Deep od = 10; }
  optional group G = 11 { required int32 y = 1; optional int32 e = 3; }
  optional E with_default = 12 [default = B];
}
"""
DDL = (
    "CREATE TABLE t (id BIGINT PRIMARY KEY, e VARCHAR, oe VARCHAR, with_default VARCHAR, z VARCHAR) "
    f"WITH ('format'='protobuf', 'message'='p.R', 'schema'='{text_of(OLDER)}')"
)
READERS = TwoReaders(DDL)
NAMES = {1: "A", 2: "B", -5: "NEGATIVE"}


def varint(number: int) -> bytes:
    rest, out = number % 2**64, bytearray()
    while rest > 127:
        out.append(rest & 127 | 128)
        rest >>= 7
    return bytes([*out, rest])


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def inner(field: int, data: bytes) -> bytes:
    return varint(field << 3 | 2) + varint(len(data)) + data


DEEP, NO_DEEP = number(1, 5), b""
IN, NOT_IN = inner(1, DEEP), inner(1, NO_DEEP)
GROUP, NO_GROUP = b"\x5b" + number(1, 5) + b"\x5c", b"\x5b" + number(3, 99) + b"\x5c"
WHOLE = [
    b"", number(8, 99), inner(5, IN), inner(5, b""), inner(6, IN) + inner(6, b""),
    inner(7, inner(1, b"k") + inner(2, IN)),
    inner(7, inner(1, b"k")), inner(8, inner(1, b"k")), inner(10, DEEP), GROUP, inner(5, inner(100, DEEP)),
    inner(5, NOT_IN) + inner(5, IN), inner(10, NO_DEEP) + number(9, 1), inner(99, b"?"), b"\x9d\x06abcd",
    b"\x99\x06abcdefgh",
    inner(10, NO_DEEP) + inner(10, DEEP),
]  # fmt: skip
LACKING = [
    inner(5, NOT_IN), inner(6, IN) + inner(6, NOT_IN), inner(7, inner(1, b"k") + inner(2, NOT_IN)), inner(10, NO_DEEP),
    NO_GROUP, inner(5, inner(100, NO_DEEP)), number(9, 1) + inner(10, NO_DEEP),
]  # fmt: skip
ROW = number(1, 7) + inner(4, b"z")


@pytest.mark.parametrize("more", WHOLE)
def test_a_message_with_all_that_is_required_is_a_row(more: bytes) -> None:
    assert READERS.read(None, ROW + more) is not None
    assert READERS.read(None, more + ROW) is not None


@pytest.mark.parametrize("data", [b"", number(1, 7), inner(4, b"z"), *(ROW + more for more in LACKING)])
def test_a_message_that_lacks_something_required_is_none(data: bytes) -> None:
    assert READERS.read(None, data) is None
    code, message = READERS.refusal(None, data) or ("", "")
    assert code == "malformed_protobuf"
    assert "is required, and absent" in message


@pytest.mark.parametrize("inside", [IN, NOT_IN])
def test_a_map_under_a_key_that_is_no_text(inside: bytes) -> None:
    """The library names what is missing there with a crash of the process."""
    row = READERS.read(None, ROW + inner(7, inner(1, b"\xbc") + inner(2, inside)))
    assert (row is None) == (inside is NOT_IN)
    lost = READERS.read(None, inner(7, inner(1, b"\xbc") + inner(2, inside)))
    assert lost is None


ENUM_NUMBERS = st.one_of(
    st.sampled_from([0, 1, 2, 3, -1, -5, 99, 2**31 - 1, -(2**31), 2**32 + 1, 2**32 + 3]),
    st.integers(-(2**63), 2**63 - 1),
)


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(st.tuples(st.sampled_from([3, 9, 12]), ENUM_NUMBERS), max_size=3), st.sampled_from(WHOLE))
def test_numbers_without_a_name_are_refused(numbers: list[tuple[int, int]], more: bytes) -> None:
    row = READERS.read(None, ROW + b"".join(number(*one) for one in numbers) + more)
    meant = [(field, NAMES.get((value + 2**31) % 2**32 - 2**31)) for field, value in numbers]
    if None in [name for _, name in meant]:
        assert row is None
        assert (READERS.refusal(None, ROW + b"".join(number(*one) for one in numbers)) or "")[0] == "malformed_value"
    else:
        assert row is not None
        found: dict[int, Any] = dict(meant)
        expected = [found.get(3), found.get(12)]
        assert [row.values[1], row.values[3]] == expected
        assert row.values[2] == ("A" if more.endswith(number(9, 1)) else None if more[:1] == b"\x52" else found.get(9))


PIECES = st.one_of(st.sampled_from([*WHOLE, *LACKING, ROW, number(3, 99), number(3, 1)]), st.binary(max_size=3))


@settings(max_examples=examples(400), deadline=None)
@given(st.lists(PIECES, max_size=5).map(b"".join))
def test_odd_messages_are_read_alike(data: bytes) -> None:
    READERS.read(None, data)


@pytest.mark.parametrize("name", ["IsInitialized", "FindInitializationErrors", "HasField", "ListFields", "DESCRIPTOR"])
def test_fields_and_messages_with_the_names_of_methods(name: str) -> None:
    odd = f'syntax = "proto2"; message Odd {{ required int64 id = 1; optional string {name} = 2; }}'
    ddl = f"CREATE TABLE t (id BIGINT PRIMARY KEY) WITH ('format'='protobuf', 'schema'='{text_of(odd)}')"
    assert TwoReaders(ddl).read(None, number(1, 7) + inner(2, b"x")) is not None
    assert TwoReaders(ddl).read(None, inner(2, b"x")) is None
