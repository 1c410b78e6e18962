"""The rules of the record format, written a second time: they must say what the product's decoder says."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from connectors.dead_letter import RecordFault
from connectors.json.record import JsonRecordDecoder
from state.order_code import double_of_code
from tests.effort import examples
from tidewire.verification.input.declared import Declared
from tidewire.verification.input.decoding import decode
from tidewire.verification.records.journal import Record

DDL = """CREATE TABLE t (k VARCHAR PRIMARY KEY, b BOOLEAN, s SMALLINT, i INTEGER, l BIGINT, r REAL, d DOUBLE,
  m DECIMAL(6,2), day DATE, at TIMESTAMP, v VARCHAR, must INTEGER NOT NULL)"""
PAIR = "CREATE TABLE p (a DECIMAL(6,2), b DATE, x INTEGER, PRIMARY KEY (a, b)) WITH ('absent'='keep')"
TABLES = Declared([Record(0, 0, 0, None, f"{DDL};{PAIR}".encode())]).at(0)
RELATIONS = apply_ddl(Catalog(), f"{DDL};{PAIR}", 0).relations


def both(table: str, key: bytes | None, value: bytes | None, keyless: bool = False) -> tuple[bool, bool]:
    """Return whether each of the two takes the record."""
    ours = decode(TABLES[table], key, value, keyless)
    try:
        JsonRecordDecoder(RELATIONS[table], keyless).decode(key, value)
        theirs = True
    except RecordFault:
        theirs = False
    return ours is not None, theirs


def agree(table: str, key: bytes | None, value: bytes | None, keyless: bool = False) -> bool:
    ours, theirs = both(table, key, value, keyless)
    assert ours == theirs, (key, value, ours, theirs)
    return ours


VALUES = [
    ("b", ["true", "false", "1", '"true"', "null"]),
    ("s", ["0", "-32768", "32767", "32768", "1.0", "1e2", '"1"', "-0", "null", "true"]),
    ("l", ["9223372036854775807", "9223372036854775808", "-9223372036854775808", "1" * 400]),
    ("r", ["3.4028235e38", "3.4028236e38", "3.5e38", "1e-400", "-0.0", '"1"', "1"]),
    ("d", ["1e400", "-1e400", "1.7976931348623157e308", "NaN", "Infinity", "-Infinity", "0.1", "1e-999"]),
    (
        "m",
        [
            "1.5",
            '"1.50"',
            '"1.500"',
            "1.505",
            '"9999.99"',
            '"10000"',
            "1e3",
            "1e4",
            '"1e-2"',
            '"1e-3"',
            '"+1"',
            '".5"',
            '"1."',
            '" 1"',
            "0e999999999",
            '"0.000"',
            "true",
            "1e99999999999999999999",
        ],
    ),
    (
        "day",
        [
            '"2024-02-29"',
            '"2023-02-29"',
            '"0001-01-01"',
            '"0000-01-01"',
            '"2024-2-9"',
            "20240229",
            '"2024-02-29T00:00:00"',
        ],
    ),
    (
        "at",
        [
            '"2024-02-29T23:59:59.999999"',
            '"2024-02-29 00:00:00"',
            '"2024-02-29T24:00:00"',
            '"2024-02-29T00:00:60"',
            '"2024-02-29T00:00:00Z"',
            '"2024-02-29T00:00"',
            '"2024-02-29T00:00:00.1234567"',
            '"2024-02-29T00:00:00."',
        ],
    ),
    ("v", ['"x"', '""', "1", "[]", '"\\ud83d\\ude00"', '"\\ud800"', '"\\u0000"', '"a\tb"']),
    ("must", ["1", "null"]),
]


@pytest.mark.parametrize(("column", "text"), [(c, text) for c, texts in VALUES for text in texts])
def test_each_kind_of_value(column: str, text: str) -> None:
    others = {"k": "a", "must": 1}
    others.pop(column, None)
    row = json.dumps(others)[:-1] + f', "{column}": {text}}}'
    agree("t", b'"a"', row.encode())


ROWS = [
    b'{"k":"a","must":1}',
    b'{"k":"a"}',
    b'{"k":"a","must":1,"must":2,"unknown":[{"x":"\\ud800"}]}',
    b'{"k":"a","must":1,"unknown":' + b"[" * 63 + b"]" * 63 + b"}",
    b'{"k":"a","must":1,"unknown":' + b"[" * 64 + b"]" * 64 + b"}",
    b'{"k":"a","must":1,"unknown":"' + b"[" * 100 + b'"}',
    b'{"k":"a","must":1} x',
    b'{"k":"a","must":1',
    b"{'k':'a','must':1}",
    b'\xef\xbb\xbf{"k":"a","must":1}',
    b'{"k":"a","must":1,"v":"\xff"}',
    b"[]",
    b'"a"',
    b"",
    b'{"k":"b","must":1}',
    b'{"k":"a","must":1,"v":"' + b"x" * 65_536 + b'"}',
]


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("key", [b'"a"', b'{"k":"a"}', b' { "k" : "a" } ', b'{"k":"a","k":"a"}', None])
def test_whole_records(row: bytes, key: bytes | None) -> None:
    agree("t", key, row)
    agree("t", key, row, keyless=True)


@pytest.mark.parametrize(
    "key", [b"a", b"1", b"null", b'{"k":null}', b'{"k":"a","x":1}', b"{}", b"", b"\xff", b'["a"]', b'{"k":1}']
)
def test_keys(key: bytes) -> None:
    agree("t", key, None)
    agree("t", key, ROWS[0])


@pytest.mark.parametrize(
    ("key", "row"),
    [
        (b'{"a":"1.50","b":"2024-01-01"}', b'{"a":1.5,"b":"2024-01-01","x":1}'),
        (b'{"b":"2024-01-01","a":1.5}', b'{"x":1}'),
        (b'{"a":1.5}', b'{"a":1.5,"b":"2024-01-01"}'),
        (b"1.5", b'{"a":1.5,"b":"2024-01-01"}'),
        (b'{"a":1.5,"b":"2024-01-02"}', b'{"a":1.5,"b":"2024-01-01"}'),
        (None, b'{"a":1.5,"b":"2024-01-01"}'),
        (b'{"a":1.5,"b":"2024-01-01"}', None),
        (None, None),
    ],
)
def test_keys_of_several_columns(key: bytes | None, row: bytes | None) -> None:
    agree("p", key, row)
    agree("p", key, row, keyless=True)


def test_equal_values_are_one_row() -> None:
    rows = [decode(TABLES["p"], b'{"a":%s,"b":"2024-01-01"}' % a, None, False) for a in (b"1.5", b'"1.50"', b"15e-1")]
    assert len({row.pk for row in rows if row is not None}) == 1 and None not in rows


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@settings(max_examples=examples(150), deadline=None)
@given(st.dictionaries(st.sampled_from([c.name for c in TABLES["t"].columns]), json_values, max_size=6))
def test_any_row(members: dict[str, object]) -> None:
    agree("t", b'"a"', json.dumps({"k": "a", "must": 1} | members).encode())


@pytest.mark.parametrize(
    "text",
    [
        "16777217",
        "16777217.000000000001",
        "0.1",
        "1e-45",
        "7e-46",
        "7.1e-46",
        "3.4028235677973365e38",
        "1.17549435e-38",
    ],
)
def test_a_real_is_rounded_once(text: str) -> None:
    row = decode(TABLES["t"], b'"a"', b'{"k":"a","must":1,"r":%s}' % text.encode(), False)
    theirs = JsonRecordDecoder(RELATIONS["t"]).decode(b'"a"', b'{"k":"a","must":1,"r":%s}' % text.encode())
    place = [c.name for c in TABLES["t"].columns].index("r")
    code = theirs.values[place]
    assert row is not None and isinstance(code, int)
    assert float(row.values[place] or "nan") == double_of_code(code)
