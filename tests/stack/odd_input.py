"""Odd things to push through every door of a running stack: none of them may end it or hold up what stands beside it.

Most are texts that a parser may stumble over (`NUMBERS`, `NESTED`, `TEXTS`), put in the places where people write: rows
and keys of tables of each format, subscription records, catalog texts, HTTP requests, files for the command line.
"""

from __future__ import annotations

import json

NUMBERS = [
    "1e99999999999999999999",
    "-1e-99999999999999999999",
    "1e1000000000000000000",
    "9" * 5_000,
    "0." + "0" * 5_000 + "1",
    "1e400",
    "-0.0e0",
]
"""JSON's grammar takes all of them."""

NESTED = ["[" * 10_000 + "]" * 10_000, '{"a":' * 3_000 + "1" + "}" * 3_000, "[" * 30_000]
TEXTS = ['"\\ud800"', '"\\u0000"', "NaN", "'a'", '"a', '"' + "é" * 20_000 + '"', "\ufeff1", "tru", ""]
VALUES = [*NUMBERS, *NESTED, *TEXTS]

KEYS = [b"", b"\xff\xfe", b"\0", b"@progress", b"x" * 5_000, b'{"id":1e99999999999999999999}', b"[" * 3_000]

TABLES = """
CREATE TABLE odd (id BIGINT PRIMARY KEY, name VARCHAR, price DECIMAL(6,2), size DOUBLE);
CREATE TABLE odd_csv (id BIGINT PRIMARY KEY, price DECIMAL(6,2)) WITH ('format'='csv');
CREATE TABLE odd_bin (id BIGINT PRIMARY KEY, e VARCHAR) WITH ('format'='avro','schema'=
  '{"type":"record","name":"T","fields":[{"name":"id","type":"long"},{"name":"e","type":"string"}]}');
CREATE TABLE odd_cdc (id BIGINT PRIMARY KEY, price DECIMAL(6,2)) WITH ('format'='debezium-json','decimal'='string')
"""


def rows() -> list[tuple[bytes | None, bytes | None]]:
    """Records for a table's topic, of whatever format."""
    members = [f'{{"id":1,"price":{value}}}' for value in VALUES] + [f'{{"id":{value}}}' for value in VALUES]
    pairs: list[tuple[bytes | None, bytes | None]] = [(b'{"id":1}', text.encode()) for text in members + VALUES]
    return pairs + [(key, b'{"id":1}') for key in KEYS] + [(b"1", b"\xff\x80" * 30), (None, None)]


def requests() -> list[bytes]:
    """Bodies of `POST /subscriptions`, values of subscription records."""
    sql = "SELECT COUNT(*) FROM odd"
    beside = [f'{{"sql":"{sql}","{name}":{value}}}' for name in ("ttl", "x") for value in VALUES]
    params = [f'{{"template":"{sql} WHERE price > ?","params":[{value}]}}' for value in VALUES]
    return [text.encode() for text in [*beside, *params, *VALUES, *(json.dumps({"sql": one}) for one in STATEMENTS)]]


STATEMENTS = [
    sql + " " + end
    for sql in ("SELECT MIN(price) FROM odd", "SELECT DISTINCT name FROM odd")
    for end in (
        "WHERE price > " + "(" * 3_000 + "1" + ")" * 3_000,
        "WHERE price > 1e99999999999999999999",
        "WHERE name = '" + "x" * 30_000 + "'",
        "WHERE name = '\x01'",
        "NOTIFY MIN CHANGE 1e99999999999999999999",
        "TTL 99999999999999999999",
        "AS @s",
    )
]
"""Statements that are refused, or taken where they say something after all."""

CATALOG_TEXTS = [
    b"CREATE TABLE a (id BIGINT PRIMARY KEY, v DECIMAL(99999999999999999999))",
    b"CREATE TABLE a (id BIGINT PRIMARY KEY, v " + b"ARRAY<" * 2_000 + b"INT" + b">" * 2_000 + b")",
    b"CREATE TABLE a (id BIGINT PRIMARY KEY) WITH ('topic'='tw.dead-letters')",
    b"CREATE TABLE a (id BIGINT PRIMARY KEY) WITH ('topic'='__consumer_offsets')",
    b"CREATE TABLE a (id BIGINT PRIMARY KEY) WITH ('format'='avro','schema'='" + b"[" * 20_000 + b"')",
    b"(" * 20_000,
    b"DROP TABLE nothing",
    b"\xff\xfe\0",
]

LINES = [f'{{"id":1,"price":{value}}}' for value in VALUES if "\n" not in value]
"""Lines for `tidewire publish --skip-bad`; none is a row."""

SUBSCRIPTION_LINES = [
    *(f'{{"id":"odd-{i}","sql":"SELECT COUNT(*) FROM odd","ttl":{value}}}' for i, value in enumerate(VALUES)),
    *(f'{{"id":{value},"sql":"SELECT COUNT(*) FROM odd"}}' for value in VALUES),
]
"""Lines for `tidewire subscribe --file`."""
