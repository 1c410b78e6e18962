import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.ddl.statements import apply_ddl, fold_ddl, to_ddl
from catalog.schema.catalog import Catalog
from catalog.schema.relation import Relation
from connectors.formats.protobuf_format import ProtobufFormat
from tests.connectors.proto_files import LATER, OLD, TRADE, frame, message, text_of
from tests.connectors.relations import records
from tests.effort import examples


def table(type_: str, message: str = "", absent: str = "null", **schemas: str) -> Relation:
    options = ", ".join(f"'{name.replace('_', '.')}'='{text_of(proto)}'" for name, proto in schemas.items())
    options += f", 'message'='{message}'" if message else ""
    ddl = (
        f"CREATE TABLE t (id BIGINT PRIMARY KEY, v {type_}) WITH ('format'='protobuf', 'absent'='{absent}', {options})"
    )
    found = fold_ddl(Catalog(), ddl, 0).relations["t"]
    assert fold_ddl(Catalog(), to_ddl(found), 0).relations["t"] == found
    return found


def one(relation: Relation, key: bytes | None, value: bytes | None):
    decoded = ProtobufFormat(relation, keyless=True).decode(records([(key, value)]))
    return (decoded.dead[0].code, decoded.dead[0].message) if decoded.dead else decoded.changes


TRADE_AT, KEY_AT = b"\2\2", b"\0"
ROW = message(TRADE, "shop.Trade", id=5, v=-3, more=["x"])
KEY = message(TRADE, "shop.Key", id=5)


def test_rows_by_the_schema_that_wrote_them():
    relation = table("INTEGER", schema_7=TRADE, schema_9=LATER)
    later = message(LATER, "shop.Trade", id=5, v=-3, w="z")
    for key in (None, b"5", b'{"id":5}', frame(7, KEY_AT, KEY), frame(7, b"\2\0", KEY)):
        for value in (frame(7, TRADE_AT, ROW), frame(9, b"\0", later), frame(9, b"\0", ROW), frame(7, TRADE_AT, later)):
            changes = one(relation, key, value)
            assert (changes.keys, changes.codes.tolist(), changes.live.tolist()) == ([b'{"id":5}'], [[5], [-3]], [True])
    assert not one(relation, frame(7, KEY_AT, KEY), None).live[0]
    assert not one(relation, b"5", None).live[0]


def test_presence():
    relation = table("INTEGER", schema_7=TRADE)
    assert not one(relation, None, frame(7, TRADE_AT, message(TRADE, "shop.Trade", id=5))).valid[1, 0]
    zero = one(relation, None, frame(7, TRADE_AT, message(TRADE, "shop.Trade", v=0)))
    assert (zero.keys, zero.valid[1, 0], zero.codes[1, 0]) == ([b'{"id":0}'], True, 0)
    assert one(relation, frame(7, KEY_AT, b""), None).keys == [b'{"id":0}']


def test_a_message_alone():
    relation = table("INTEGER", "shop.Trade", schema=TRADE)
    assert one(relation, None, ROW).codes.tolist() == [[5], [-3]]
    assert one(table("INTEGER", schema=LATER), b"5", ROW).codes.tolist() == [[5], [-3]]
    assert one(relation, frame(7, KEY_AT, KEY), ROW)[0] == "malformed_key"
    assert one(relation, None, frame(7, TRADE_AT, ROW))[0] == "malformed_protobuf"


def test_messages_inside_messages():
    relation = table("VARCHAR", "shop.Trade.Part.Piece", schema_7=TRADE)
    piece = message(TRADE, "shop.Trade.Part.Piece", id=5, v="é")
    assert one(relation, None, frame(7, b"\6\2\0\0", piece)).texts[1] == ["é"]
    inner = table("VARCHAR", "shop.Values.Inner", schema_7=TRADE)
    assert one(inner, None, frame(7, b"\4\4\0", KEY)).keys == [b'{"id":5}']


def test_an_absent_column_is_one_that_the_schema_lacks():
    w = "syntax = 'proto3'; message T { int64 id = 1; }"
    assert one(table("INTEGER", absent="error", schema=w), None, KEY)[0] == "missing_column"
    assert one(table("INTEGER", absent="keep", schema=w), None, KEY).kept[1, 0]
    assert not one(table("INTEGER", absent="error", schema=LATER), None, KEY).valid[1, 0]
    decoded = ProtobufFormat(table("INTEGER", schema=LATER), True).decode(records([(None, KEY)]))
    assert (decoded.unknown, decoded.seen) == (["w"], {"id": 1, "v": 1})


@pytest.mark.parametrize(
    ("key", "value", "code", "said"),
    [
        (None, frame(8, TRADE_AT, ROW), "unknown_schema", "schema 8 wrote it"),
        (None, b"", "malformed_frame", "byte 0"),
        (None, b'{"id":1}', "malformed_frame", "byte 0"),
        (None, frame(7, b"", b""), "malformed_frame", "path"),
        (None, frame(7, b"\1\0", ROW), "malformed_frame", "path"),
        (None, frame(7, b"\xff\xff\xff\xff\xff\xff", ROW), "malformed_frame", "path"),
        (None, frame(7, b"\xfe\xff\xff\xff\x0f", ROW), "malformed_frame", "path of a message, got one of"),
        (None, frame(7, b"\2\x20", ROW), "unknown_message", "schema 7 has no message at 16"),
        (None, frame(7, b"\2\1", ROW), "unknown_message", "schema 7 has no message at -1"),
        (None, frame(7, b"\4\2\4", ROW), "unknown_message", "schema 7 has no message at 1.2"),
        (None, frame(7, b"\0", KEY), "unknown_message", "expected a message `shop.Trade`, got schema 7 `shop.Key`"),
        (None, frame(7, TRADE_AT, ROW[:-1]), "malformed_protobuf", "schema 7 `shop.Trade`"),
        (None, frame(7, TRADE_AT, b"\x1a\x01\xff"), "malformed_protobuf", "schema 7 `shop.Trade`"),
        (None, frame(7, TRADE_AT, b"\x10\xf0\xa2\x04"), "out_of_range", "column `v`.*schema 7 `shop.Trade`"),
        (b"6", frame(7, TRADE_AT, ROW), "key_disagrees", ""),
        (b"x", frame(7, TRADE_AT, ROW), "malformed_key", ""),
        (frame(7, KEY_AT, KEY[:-1]), None, "malformed_key", "schema 7 `shop.Key`"),
        (frame(7, TRADE_AT, ROW), None, "malformed_key", "exactly the primary key .schema 7 `shop.Trade`"),
        (frame(5, KEY_AT, KEY), None, "unknown_schema", "the Kafka key: schema 5"),
        (None, None, "missing_key", ""),
    ],
)
def test_refusals_say_which_schema_wrote_the_record(key, value, code, said):
    found = one(table("SMALLINT", "shop.Trade", schema_7=TRADE), key, value)
    assert found[0] == code
    assert re.search(said, found[1])


def test_the_older_syntax():
    relation = table("VARCHAR", schema=OLD)
    assert one(relation, None, message(OLD, "shop.Trade", id=5, v="x")).texts[1] == ["x"]
    assert not one(relation, None, message(OLD, "shop.Trade", id=5)).valid[1, 0]
    assert one(relation, None, b"\x08\5\x12\1\xff")[0] == "invalid_utf8"
    assert one(relation, None, b"\x12\1x")[0] in ("null_not_allowed", "malformed_protobuf")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("", "neither or both"),
        (f"'schema.1'='{text_of(LATER)}', 'schema'='{text_of(LATER)}'", "neither or both"),
        (f"'schema.4294967296'='{text_of(LATER)}'", "32 bits"),
        ("'schema'='no'", "no Protobuf schema"),
        ("'schema'=''", "no Protobuf schema"),
        ("'schema.1'='{}'", "no Protobuf schema"),
        (f"'schema'='{text_of(TRADE)}'", "which message is it.*`shop.Key`, `shop.Trade`, `shop.Values`"),
        (f"'schema'='{text_of(TRADE)}', 'message'='Trade'", "no message `Trade`"),
        (f"'schema.1'='{text_of(TRADE)}', 'message'='shop.Side'", "no message `shop.Side`"),
    ],
)
def test_tables_that_are_refused(options, said):
    ddl = f"CREATE TABLE t (id BIGINT PRIMARY KEY) WITH ('format'='protobuf'{', ' if options else ''}{options})"
    with pytest.raises(ValueError, match=said):
        apply_ddl(Catalog(), ddl, 0)


def test_a_table_lists_more_schemas_later_and_changes_none():
    ddl = "CREATE TABLE t (id BIGINT PRIMARY KEY) WITH ('format'='protobuf', 'schema.1'='{}'{})"
    before = apply_ddl(Catalog(), ddl.format(text_of(LATER), ""), 0)
    after = apply_ddl(before, ddl.format(text_of(LATER), f", 'schema.2'='{text_of(TRADE)}'"), 1)
    assert [name for name, _ in after.relations["t"].options] == ["schema.1", "schema.2"]
    with pytest.raises(ValueError, match=r"option schema\.1"):
        apply_ddl(before, ddl.format(text_of(TRADE), ""), 1)
    with pytest.raises(ValueError, match="option message"):
        apply_ddl(before, ddl.format(text_of(LATER), ", 'message'='shop.Trade'"), 1)


FUZZED = table("VARCHAR", "shop.Trade", schema_1=OLD, schema_2=TRADE)


@settings(max_examples=examples(200), deadline=None)
@given(
    st.one_of(st.binary(max_size=40), st.binary(max_size=30).map(lambda data: b"\0\0\0\0\1\0" + data)), st.booleans()
)
def test_no_bytes_raise(data, as_key):
    decoded = ProtobufFormat(FUZZED, keyless=True).decode(records([(data, data) if as_key else (None, data)]))
    assert len(decoded.changes) + len(decoded.dead) == 1
