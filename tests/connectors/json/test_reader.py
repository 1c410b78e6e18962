"""JSON that people write: exact, bounded, one kind of refusal; and the short way says what the long way says."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from connectors.json import reader as json_reader
from connectors.json.reader import MAX_BYTES, MAX_DIGITS, JsonReader, UnreadableJson, read_json, read_number
from tests.connectors.json_texts import documents
from tests.effort import deep_examples


def outcome(data: bytes, read: Callable[[bytes], Any] = read_json) -> Any:
    """What a text says, types included, or why it is refused."""
    try:
        return repr(read(data))
    except UnreadableJson as error:
        assert 0 < len(str(error)) < 700 and str(error).encode()
        return error.code, str(error)


def the_long_way(data: bytes, read: Callable[[bytes], Any] = read_json) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_reader, "MAX_DEPTH", -1)
        return outcome(data, read)


class Form(msgspec.Struct, forbid_unknown_fields=True):
    """Has members of every kind that matters."""

    a: int | None = None
    b: str | None = None
    id: list[Any] | None = None


FORM = JsonReader(Form)


@pytest.mark.deep
@settings(max_examples=deep_examples(1_000), deadline=None)
@given(documents)
@example(b'{"a":1.0}')
@example(b'{"a":1e2}')
@example(b'{"a":99999999999999999999999}')
@example(b'{"a":-0}')
@example(b'{"a":5,"a":1.5}')
@example(b'{"a":1.5,"a":5}')
@example(b'{"a":"5"}')
@example(b'{"id":[1.5,{"a":1e7}],"b":"x"}')
def test_a_form_is_read_alike_by_both_ways(data: bytes) -> None:
    assert outcome(data, FORM.read) == the_long_way(data, FORM.read)


@pytest.mark.deep
@settings(max_examples=deep_examples(2_000), deadline=None)
@given(st.one_of(documents, st.binary(max_size=12)))
@example(b'{"a":1e1000000000000000000}')
@example(b"[" * 30_000 + b"]" * 30_000)
@example(b'{"a":1,"a":1e9999999}')
@example(b'{"a":1e9999999,"a":1}')
def test_every_text_is_read_alike_by_both_ways_or_refused(data: bytes) -> None:
    assert outcome(data) == the_long_way(data)


def test_numbers_stay_as_they_were_written() -> None:
    read = read_json(b"[12345678901234567890.12, 1e400, 1.10, -0.0, 5, 123456789012345678901234567890, -0, 1E2]")
    assert list(map(str, read)) == [
        "12345678901234567890.12", "1E+400", "1.10", "-0.0", "5", "123456789012345678901234567890", "0", "1E+2",
    ]  # fmt: skip
    assert [type(number) for number in read[:5]] == [Decimal] * 4 + [int]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"1e99999999999999999999", "the number 1e99999999999999999999 has an exponent beyond 999,999"),
        (b'{"a":[0,{"b":1e1000000}]}', r"the number 1e1000000 .*\(at `a\[1\]\.b`\)"),
        (b"9" * 4_001, "has more than 4,000 digits"),
        (b"0." + b"1" * 4_000, "has more than 4,000 digits"),
        (b"[" * 65 + b"]" * 65, "nested more than 64 deep"),
        (b'{"a":' * 10_000, "nested more than 64 deep"),
        (b'"\xff"', "byte 1 is not UTF-8"),
        (b"\xef\xbb\xbf1", "byte order mark"),
        (b'"\\ud800"', r"the escape \\ud800"),
        (b"[NaN]", "NaN is not a JSON value"),
        (b"-Infinity", "-Infinity is not a JSON value"),
        (b"{", "ends too early, at character 1"),
        (b"", "ends too early, at character 0"),
        (b'"' + b"x" * MAX_BYTES + b'"', "longer than 2,097,152 bytes"),
    ],
)
def test_refusals_say_what_is_wrong_and_where(data: bytes, said: str) -> None:
    with pytest.raises(UnreadableJson, match=said):
        read_json(data)


def test_what_is_just_within_the_bounds_is_read() -> None:
    assert read_json(b"9" * MAX_DIGITS) == 10**MAX_DIGITS - 1
    assert read_number("-1e-0000999999") == Decimal("-1e-999999")
    assert read_json(b"[" * 64 + b"]" * 64)
    long = b'["' + b"x" * 5_000 + b'", 1.10]'
    assert read_json(long)[1] == Decimal("1.10")
