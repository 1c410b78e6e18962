from __future__ import annotations

import json
import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.json.byte_layout import ByteLayout
from connectors.json.columns import read_columns
from connectors.json.plan import Plan
from connectors.json.scan import MAX_DIGITS, escape_length, scan_number, string_end, utf8_length
from tests.connectors.documents import BAD_NUMBERS, DECIMAL_STRINGS, NUMBERS, SURROGATES, WORDS
from tests.connectors.relations import STOCK
from tests.effort import examples
from tests.oracle.json_twin import DeadError, read

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def layout(data):
    return np.frombuffer(data, np.uint8) if data else np.zeros(0, np.uint8)


def is_value(data):
    """Whether a member that is no column may have this value."""
    value = ByteLayout.of([b'{"symbol":"A","x":' + data + b"}"])
    return bool(read_columns(value, np.array([0]), Plan.of_rows(STOCK), STOCK.columns, False).plain[0])


def twin_reads(data):
    try:
        read(data)
    except DeadError:
        return False
    return True


@given(VALUES, st.booleans(), st.sampled_from((None, 1)))
@settings(max_examples=examples(100), deadline=None)
def test_every_value_is_skipped(value, ascii_only, indent):
    assert is_value(json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode())


@given(VALUES, st.integers(0, 2**32))
@settings(max_examples=examples(150), deadline=None)
def test_what_is_skipped_is_json(value, seed):
    rng = random.Random(seed)
    data = bytearray(json.dumps(value, ensure_ascii=rng.random() < 0.5).encode())
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(data) + 1)
        data[at : at + rng.randrange(2)] = rng.choice(
            (b"", b",", b'"', b"\\", b"]", b"}", b"{", b"1", b"\xff", b"\x00", b"u")
        )
    data = bytes(data).strip(b" ")
    assert not is_value(data) or twin_reads(data)


def test_the_known_nasty_ones():
    for text in (
        *NUMBERS,
        *BAD_NUMBERS,
        *DECIMAL_STRINGS,
        *SURROGATES,
        *WORDS,
        '"\x1f"',
        '"\x7f"',
        '"a',
        "[1 2]",
        '{"a" 1}',
        "{1:2}",
    ):
        data = text.strip().encode()
        assert is_value(data) == twin_reads(data), text
    assert is_value(b"[" * 60 + b"]" * 60)
    assert not is_value(b"[" * 64 + b"]" * 64)


def test_utf8_is_exactly_what_python_takes():
    for first in range(0x80, 0x100):
        for second in range(0, 0x100, 3):
            for rest in (b"", b"\x80", b"\xbf\x80", b"\x80\x80", b"\x80\x7f", b"\xc0\x80"):
                data = bytes((first, second)) + rest
                length = utf8_length(layout(data), 0, len(data))
                assert length == next((n for n in (2, 3, 4) if decodes(data[:n], n)), 0), data


def decodes(data, length):
    try:
        return len(data) == length and len(data.decode()) == 1
    except UnicodeDecodeError:
        return False


def test_escapes():
    lengths = {r"\n": 2, r"\/": 2, r"\"": 2, r"\q": 0, r"\u0041": 6, r"\u00Ff": 6, r"\u00g0": 0, r"\u004": 0, "\\": 0}
    lengths |= {
        r"\ud83d\ude00": 12,
        r"\ud83d": 0,
        r"\ud83dxxxxxx": 0,
        r"\ud83d\u0041": 0,
        r"\ude00": 0,
        r"\ud83d\ud83d": 0,
    }
    for text, length in lengths.items():
        assert escape_length(layout(text.encode()), 0, len(text)) == length, text
    assert string_end(layout(b'ab\\"c"d'), 0, 7) == 5
    assert string_end(layout(b'ab\\"'), 0, 4) == -1


def test_numbers_come_in_parts():
    for text, parts in {
        "0": (0, 0, 0, False, True),
        "-120": (120, 0, 3, True, True),
        "1.50": (150, -2, 3, False, False),
        "-0.012e+5": (12, 2, 2, True, False),
        "9" * MAX_DIGITS: (int("9" * MAX_DIGITS), 0, MAX_DIGITS, False, True),
        "1e9999999": (1, 1_000_000, 1, False, False),
    }.items():
        end, mantissa, *rest = scan_number(layout(text.encode()), 0, len(text), False)
        assert (end, int(mantissa), *rest) == (len(text), *parts), text
    assert scan_number(layout(b"1" * 30), 0, 30, False)[3] == 30
    assert [scan_number(layout(b"007"), 0, 3, allowed)[0] for allowed in (True, False)] == [3, -1]
