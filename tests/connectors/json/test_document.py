from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.dead_letter import RecordFault
from connectors.json.document import MAX_DEPTH, Members, Number, parse_document, shown
from tests.effort import examples
from tests.oracle.json_twin import DeadError, Numeral, read

PIECES = st.sampled_from(
    [
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b'"a"',
        b'"',
        b"\\",
        b"\\ud83d",
        b"\\ude00",
        b"1",
        b"-",
        b".",
        b"e",
        b"0",
        b" ",
        b"\n",
        b"true",
        b"null",
        b"NaN",
        b"\xc3\xa9",
        b"\xff",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\x00",
        b"\x1f",
        b"\xef\xbb\xbf",
    ]
)


def code(data):
    with pytest.raises(RecordFault) as fault:
        parse_document(data)
    assert len(fault.value.message) < 200
    return fault.value.code


def test_numbers_stay_as_they_were_written():
    document = parse_document(b'{"a":1.10,"b":[12345678901234567890,-0],"a":"1.10"}')
    assert document == Members([("a", "1.10"), ("b", ["12345678901234567890", "-0"]), ("a", "1.10")])
    assert [type(document[0][1]), type(document[1][1][0]), type(document[2][1])] == [Number, Number, str]
    assert type(parse_document(b"1" * 60_000)) is Number  # beyond the digits that Python turns into an int


@pytest.mark.parametrize(
    "text", ["", " ", "nul", "1.", "01", "+1", ".5", "1e", "[1,]", "{,}", '{"a"}', "'a'", '"\t"', "NaN", "-Infinity"]
)
def test_what_is_not_json_is_refused(text):
    assert code(text.encode()) == "malformed_json"


def test_bytes_that_are_not_utf8_are_refused():
    for data in (
        b'"\xff"',
        b'"\xc0\x80"',
        b'"\xed\xa0\x80"',
        b'"\xf4\x90\x80\x80"',
        b'"\xe2\x82"',
        '"é"'.encode("latin-1"),
    ):
        assert code(data) == "invalid_utf8"
    assert code('"é"'.encode("utf-16")) == "invalid_utf8"
    assert code(b"\xef\xbb\xbf1") == "byte_order_mark"
    assert parse_document(b'"\xef\xbb\xbf"') == "\ufeff"


def test_half_a_surrogate_pair_is_refused_wherever_it_stands():
    for text in ('"\\ud800"', '{"\\uDFFF":1}', '{"a":[{"b":"x\\udc00"}]}', '"\\ud800\\ud800"', '{"a":"\\ud800","a":1}'):
        assert code(text.encode()) == "lone_surrogate"
    assert parse_document(b'"\\ud83d\\ude00"') == "😀"
    assert parse_document(rb'"\\ud800"') == "\\ud800"


def test_the_depth_is_limited_and_brackets_in_strings_do_not_count():
    assert parse_document(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)
    assert code(b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1)) == "too_deep"
    assert code(b'{"a":' * 30_000) == "too_deep"
    assert parse_document(json.dumps(["[{" * 100, '"[' * 100, 1]).encode())
    assert parse_document(b"[" + b",".join([b"[]"] * 100) + b"]")
    assert code(b"[" + b"[]," * 65 + b'"' + b'\\"' * 30_000) == "malformed_json"  # in linear time


def test_messages_show_a_value_in_bounded_length():
    shows = [shown(value) for value in (None, True, False, Members(), [], Number("1e5"), 'a"', "x" * 100)]
    assert shows[:7] == ["null", "true", "false", "an object", "an array", "the number 1e5", 'the string "a\\""']
    assert shows[7] == 'the string "' + "x" * 60 + '…"'


def plain(document):
    """A document with objects as dicts, for comparison with the twin's."""
    if isinstance(document, Members):
        return {name: plain(value) for name, value in document}
    if isinstance(document, list):
        return [plain(value) for value in document]
    return Numeral(str(document)) if isinstance(document, Number) else document


@given(st.lists(PIECES, max_size=8).map(b"".join) | st.binary(max_size=6) | st.text(max_size=6).map(str.encode))
@settings(max_examples=examples(200), deadline=None)
def test_reads_what_the_grammar_says(data):
    try:
        expected = read(data)
    except DeadError:
        code(data)
    else:
        assert plain(parse_document(data)) == expected
