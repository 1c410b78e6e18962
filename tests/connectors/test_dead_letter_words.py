"""What dead letters say is in words of ours, and the same each time, whatever bytes came in whatever format."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.ddl.statements import fold_ddl
from catalog.schema.catalog import Catalog
from connectors.formats.record_format import format_of
from tests.connectors import proto_files
from tests.connectors.debezium_source import COLUMNS, INLINE, UNITS
from tests.connectors.formats.test_avro_datum import CUTS, damaged
from tests.connectors.relations import records
from tests.effort import deep_examples
from tests.tidewire.verification.input.test_proto_older import DDL as OLDER
from tests.tidewire.verification.input.test_proto_older import ROW as OLDER_ROW

AVRO = json.dumps(
    {
        "type": "record",
        "name": "R",
        "fields": [
            {"name": "id", "type": "long"},
            {"name": "v", "type": ["null", {"type": "enum", "name": "E", "symbols": ["A", "B"]}]},
            {"name": "w", "type": {"type": "array", "items": {"type": "map", "values": "string"}}},
        ],
    }
)
FLAT = "id BIGINT PRIMARY KEY, v VARCHAR, d DOUBLE, p DECIMAL(6,2), at TIMESTAMP, day DATE, b BOOLEAN"
ROW = b'{"id":1,"v":"x","d":1.5,"p":"1.25","at":"2026-03-01T00:00:00","day":"2026-03-01","b":true}'
TABLES = {
    "json": (f"CREATE TABLE t ({FLAT})", ROW),
    "csv": (f"CREATE TABLE t ({FLAT}) WITH ('format'='csv')", b'1,"x",1.5,1.25,2026-03-01T00:00:00,2026-03-01,true'),
    "avro": (
        f"CREATE TABLE t (id BIGINT PRIMARY KEY, v VARCHAR) WITH ('format'='avro', 'schema'='{AVRO}')",
        b"\2\2\0\2\2\2k\2v\0\0",
    ),
    "avro, framed": (
        f"CREATE TABLE t (id BIGINT PRIMARY KEY, v VARCHAR) WITH ('format'='avro', 'schema.7'='{AVRO}')",
        b"\0\0\0\0\7\2\2\0\2\2\2k\2v\0\0",
    ),
    "protobuf": (OLDER, OLDER_ROW),
    "protobuf, framed": (
        "CREATE TABLE t (id BIGINT PRIMARY KEY, v VARCHAR) WITH ('format'='protobuf', "
        f"'schema.1'='{proto_files.text_of(proto_files.OLD)}')",
        b"\0\0\0\0\1\0\x08\5\x12\1x",
    ),
    "debezium": (f"CREATE TABLE t ({COLUMNS}) WITH ({UNITS})", b'{"op":"c","before":null,"after":{"id":1,"kind":"x"}}'),
    "debezium, inline": (f"CREATE TABLE t ({COLUMNS}) WITH ({INLINE})", b'{"schema":{},"payload":{"op":"d"}}'),
}
FOREIGN = re.compile(
    r"Error|Exception|0x[0-9a-f]|codec|object at|Expecting|Invalid|line 1 column|index out of|Traceback|<|"
    r"invalid (start|continuation)|unexpected end of data|NoneType|Decode",
)
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'|the number \S+|\{.*\}')
"""What a message shows of the record itself."""


def words_of(name: str, key: bytes | None, value: bytes | None) -> list[str]:
    relation = fold_ddl(Catalog(), TABLES[name][0], 0).relations["t"]
    first, again = (format_of(relation, True).decode(records([(key, value)])).dead for _ in range(2))
    assert [letter.message for letter in first] == [letter.message for letter in again]
    return [letter.message for letter in first]


@pytest.mark.deep
@pytest.mark.parametrize("name", TABLES)
@settings(max_examples=deep_examples(200), deadline=None)
@given(st.data())
def test_no_word_is_pythons(name: str, data: st.DataObject) -> None:
    row = TABLES[name][1]
    odd = st.one_of(st.binary(max_size=12), CUTS.map(lambda cuts: damaged(row, cuts)))
    key = data.draw(st.one_of(st.none(), st.sampled_from([b"1", b'{"id":1}']), odd))
    for said in words_of(name, key, data.draw(st.one_of(odd, odd, st.none()))):
        assert not FOREIGN.search(QUOTED.sub("", said)), said


@pytest.mark.parametrize("name", ["json", "debezium", "debezium, inline"])
@pytest.mark.parametrize("rest", [b'{"id":1}', b"", b"\xff\xfe", b"\2\4ab"])
def test_a_registrys_framing_is_named(name: str, rest: bytes) -> None:
    framed = b"\0\0\0\0\7" + rest
    for key, value in ((b"1", framed), (framed, None)):
        [said] = words_of(name, key, value)
        assert "begins with a schema registry's framing (a byte 0, then the schema's id 7)" in said
        assert "formats avro and protobuf take that" in said


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (b'{"id":', "it ends too early, at character 6"),
        (b"", "it ends too early, at character 0"),
        (b'{"id', "the string that begins at character 1 does not end"),
        (b'{"id":1}x', 'character 8, "x", was not expected there'),
        (b"{'id':1}", 'character 1, "\'", was not expected there'),
        (b'{"id":\xff}', "byte 6 is not UTF-8"),
    ],
)
def test_what_is_no_json_is_told_by_its_place(value: bytes, said: str) -> None:
    assert words_of("json", b"1", value)[0].endswith(said)
