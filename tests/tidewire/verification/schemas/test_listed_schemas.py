"""Tables of schemas are taken as the product takes them."""

from __future__ import annotations

import base64
import contextlib

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from catalog.ddl.statements import fold_ddl
from catalog.schema.catalog import Catalog
from state.errors import TidewireError
from tests.connectors.proto_files import LATER, TRADE, text_of
from tests.tidewire.verification.input.test_declared import declared
from tidewire.verification.schemas.listed_schemas import check_schema, check_schemas
from tidewire.verification.schemas.schema_fault import NoSchema

L, T = text_of(LATER), text_of(TRADE)
RECORD = '{"type":"record","name":"R","fields":[{"name":"id","type":"long"}]}'
NOTHING = '{"type":"record","name":"N","fields":[{"name":"x","type":"null"}]}'
PROTOBUF = [
    "", f"'schema.1'='{L}', 'schema'='{L}'", f"'schema.4294967296'='{L}'", f"'schema.4294967295'='{L}'",
    "'schema'='no'",
    "'schema'=''", "'schema.1'='{}'", f"'schema'='{L}'", f"'schema'='{L.lower()}'", f"'schema'='{T}'",
    f"'schema'='{T}', 'message'='Trade'", f"'schema'='{T}', 'message'='shop.Trade'", "'schema.x'='y'", "'message'='m'",
    f"'schema.1'='{T}', 'message'='shop.Side'", f"'schema.1'='{T}', 'schema.2'='{L}', 'message'='shop.Key'",
    "'schema'='Registry'", f"'schema'='REGISTRY', 'schema.7'='{L}', 'message'='other'",
    "'schema'='registry', 'schema.7'='x'",
]  # fmt: skip
AVRO = [
    "", f"'schema'='{RECORD}'", f"'schema'='{RECORD}', 'message'='R'", "'schema'='\"long\"'", "'schema'='long'",
    "'schema.1'='\"long\"', 'schema'='\"long\"'", "'schema'='registry'", f"'schema'='registry', 'schema.3'='{RECORD}'",
    """'schema.1'='{"type":"array","items":"null"}'""", """'schema.1'='{"type":"array","items":"int"}'""",
    f"""'schema.1'='{{"type":"array","items":{NOTHING}}}'""", f"""'schema.1'='{{"type":"map","values":{NOTHING}}}'""",
    """'schema.1'='{"type":"array","items":{"type":"fixed","name":"F","size":0}}'""", "'schema.1'='[\"int\",\"no\"]'",
]  # fmt: skip
CASES = [*(("protobuf", one) for one in PROTOBUF), *(("avro", one) for one in AVRO)]


@pytest.mark.parametrize(("format", "options"), CASES)
def test_tables_with_schemas(format: str, options: str) -> None:
    text = ddl(format, options)
    catalog = Catalog()
    with contextlib.suppress(TidewireError):
        catalog = fold_ddl(catalog, text, 0)
    ours = declared(text).at(0)
    assert set(ours) == set(catalog.relations)
    assert [table.options for table in ours.values()] == [one.options for one in catalog.relations.values()]


LISTED = f"'schema.1'='{L}'"
STEPS = [
    LISTED, f"{LISTED}, 'schema.2'='{T}'", f"'schema.1'='{T}'", f"'schema.2'='{T}'", f"{LISTED}, 'schema'='registry'",
    "'schema'='registry'", f"'schema'='{L}'", f"{LISTED}, 'message'='shop.Trade'",
]  # fmt: skip


@pytest.mark.parametrize("before", STEPS)
def test_a_table_lists_more_schemas_later_and_changes_none(before: str) -> None:
    for after in STEPS:
        catalog = fold_ddl(Catalog(), ddl("protobuf", before), 0)
        with contextlib.suppress(TidewireError):
            catalog = fold_ddl(catalog, ddl("protobuf", after), 1)
        ours = declared(ddl("protobuf", before), ddl("protobuf", after)).at(1)["t"]
        assert ours.options == catalog.relations["t"].options, after


def ddl(format: str, options: str) -> str:
    return f"CREATE TABLE t (id BIGINT PRIMARY KEY) WITH ('format'='{format}'{', ' if options else ''}{options})"


def test_schemas_by_number() -> None:
    table = declared(ddl("avro", "'schema.7'='\"long\"', 'schema.010'='\"int\"'")).at(0)["t"]
    assert (table.schemas, table.one_schema, table.asks) == ({7: '"long"', 10: '"int"'}, None, False)
    table = declared(ddl("avro", "'schema'='\"long\"'")).at(0)["t"]
    assert (table.schemas, table.one_schema, table.asks) == ({}, '"long"', False)


@pytest.mark.parametrize(
    ("format", "options", "why"),
    [
        ("avro", {}, "neither or both"),
        ("avro", {"schema": RECORD, "schema.1": RECORD}, "neither or both"),
        ("avro", {"schema": RECORD, "message": "R"}, "message"),
        ("avro", {"schema.1": RECORD, "schema.4294967296": RECORD}, r"schema\.4294967296 is too large"),
        ("protobuf", {"schema": L, "message": "shop.Side"}, r"no schema has the message 'shop\.Side'"),
        ("protobuf", {"schema": T}, "no schema has the message ''"),
        ("protobuf", {"schema.1": RECORD}, "base64"),
    ],
)
def test_why_a_table_is_not_taken(format: str, options: dict[str, str], why: str) -> None:
    with pytest.raises(NoSchema, match=why):
        check_schemas(format, options)


def test_other_formats_have_no_schemas_to_be_checked() -> None:
    check_schemas("debezium-json", {"schema": "inline", "timestamp": "micros"})
    check_schemas("csv", {"delimiter": ";"})
    check_schemas("protobuf", {"schema": "registry", "message": "of.a.Schema.To.Come"})


def test_a_framed_schema_is_of_one_root() -> None:
    one, two = (FileDescriptorSet.FromString(base64.b64decode(text)) for text in (L, T))
    two.MergeFrom(FileDescriptorSet(file=[FileDescriptorProto(name="another.proto")]))
    check_schema("protobuf", base64.b64encode(one.SerializeToString()).decode())
    check_schema("avro", RECORD)
    with pytest.raises(NoSchema, match="2 files that no other imports"):
        check_schema("protobuf", base64.b64encode(two.SerializeToString()).decode())
