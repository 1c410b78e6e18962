"""Rows by schemas that only a registry has, through a real HTTP server."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from catalog.schema.relation import Relation
from connectors.formats.avro_format import AvroFormat
from connectors.formats.protobuf_format import ProtobufFormat
from connectors.schemas import schema_registry
from connectors.schemas.schema_registry import Registry, RegistryFailure, use_registry
from tests.catalog.types.test_value_messages import own
from tests.connectors.formats.test_avro_format import datum
from tests.connectors.proto_files import LATER, TRADE, TYPES, frame, message, text_of
from tests.connectors.registry_server import RegistryServer, running
from tests.connectors.relations import records

SIDE = {"type": "enum", "name": "shop.Side", "symbols": ["BUY", "SELL"]}
ORDER = {
    "type": "record", "name": "shop.Order",
    "fields": [{"name": "id", "type": "long"}, {"name": "v", "type": "shop.Side"}],
}  # fmt: skip


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[RegistryServer]:
    monkeypatch.setattr(schema_registry, "_LATE_ATTEMPTS", 1)
    with running(RegistryServer()) as found:
        use_registry(Registry(found.url, patience=0.2))
        yield found
    use_registry(None)


def table(format: str, type_: str, more: str = "") -> Relation:
    options = f"'format'='{format}', 'schema'='Registry'{more}"
    return apply_ddl(Catalog(), f"CREATE TABLE t (id BIGINT PRIMARY KEY, v {type_}) WITH ({options})", 0).relations["t"]


def avro(number: int) -> bytes:
    whole = ORDER | {"fields": [ORDER["fields"][0], {"name": "v", "type": SIDE}]}
    return datum(whole, {"id": 5, "v": "SELL"}, number)


def test_avro_with_a_schema_that_uses_another(server: RegistryServer) -> None:
    server.ids[7] = {
        "schema": json.dumps(ORDER),
        "references": [{"name": "shop.Side", "subject": "side", "version": 3}],
    }
    server.versions["side", 3] = {"schema": json.dumps(SIDE), "version": 3, "id": 2}
    made = AvroFormat(table("avro", "VARCHAR"), keyless=True)
    for _ in range(2):
        assert made.decode(records([(None, avro(7)), (b"5", None)])).changes.texts[1] == ["SELL", None]
    assert len(server.asked) == 2


def serialized(text: str) -> list[str]:
    """Each file of a set, as a registry says it: alone, and without its name."""
    files = FileDescriptorSet.FromString(base64.b64decode(text)).file
    found = []
    for file in files:
        file.ClearField("name")
        found.append(base64.b64encode(file.SerializeToString()).decode())
    return found


@pytest.mark.parametrize("as_text", [(), ("types.proto",), tuple(TYPES), ("root", *TYPES)])
def test_protobuf_with_imports(server: RegistryServer, as_text: tuple[str, ...]) -> None:
    whole = FileDescriptorSet.FromString(base64.b64decode(text_of(TRADE)))
    names = [file.name for file in whole.file]
    schemas = dict(zip(names, serialized(text_of(TRADE)), strict=True))
    uses = {file.name: [one for one in file.dependency if one in TYPES] for file in whole.file}

    def answer(name: str) -> dict[str, object]:
        text = {"root.proto": TRADE} | TYPES
        schema = text[name] if name.removesuffix(".proto") in as_text or name in as_text else schemas[name]
        references = [{"name": one, "subject": f"s-{one}", "version": 1} for one in uses[name]]
        return {"schemaType": "PROTOBUF", "schema": schema, "references": references}

    number = 100 + len(as_text)
    server.ids[number] = answer("root.proto")
    server.versions |= {(f"s-{name}", 1): answer(name) for name in TYPES}
    row = message(TRADE, "shop.Trade", id=5, v=-3)
    made = ProtobufFormat(table("protobuf", "INTEGER", ", 'message'='shop.Trade'"), keyless=True)
    for _ in range(2):
        decoded = made.decode(records([(None, frame(number, b"\2\2", row))]))
        assert not decoded.dead
        assert decoded.changes.codes.tolist() == [[5], [-3]]
    assert len(server.asked) == 1 + len(TYPES)


def test_listed_schemas_go_before_the_registrys(server: RegistryServer) -> None:
    made = ProtobufFormat(table("protobuf", "INTEGER", f", 'schema.9'='{text_of(LATER)}'"), keyless=True)
    assert made.decode(records([(None, frame(9, b"\0", b"\x08\5"))])).changes.keys == [b'{"id":5}']
    assert not server.asked


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "schema {} wrote it: the registry does not know it"),
        ({"schema": "{}", "schemaType": "JSON"}, "schema {} wrote it: the registry says that it is JSON, not PROTOBUF"),
        ({"schema": '"long"'}, "it is AVRO, not PROTOBUF"),
        ({"schema": "mesage A {}", "schemaType": "PROTOBUF"}, "does not compile: schema-{}.proto:1:1"),
        (
            {"schema": "", "schemaType": "PROTOBUF", "references": [{"name": "x", "subject": "x", "version": 1}]},
            "does not know it .subjects/x/versions/1",
        ),
    ],
)
def test_records_of_what_is_no_schema_are_refused(server: RegistryServer, answer, said) -> None:
    number = 200 + len(said)
    if answer is not None:
        server.ids[number] = answer
    decoded = ProtobufFormat(table("protobuf", "INTEGER"), True).decode(
        records([(None, frame(number, b"\0", b""))] * 3)
    )
    assert [letter.code for letter in decoded.dead] == ["unknown_schema"] * 3
    assert said.format(number).split(" .")[0] in decoded.dead[0].message


def test_a_schema_with_its_own_timestamp_is_told_of_by_its_number(server: RegistryServer) -> None:
    own_timestamp = own("google.protobuf.Timestamp", {"seconds": "INT64", "nanos": "STRING"})
    kinds, root = serialized(own_timestamp)
    server.ids[311] = {"schemaType": "PROTOBUF", "schema": root}
    server.ids[311]["references"] = [{"name": "kinds.proto", "subject": "kinds", "version": 1}]
    server.versions["kinds", 1] = {"schemaType": "PROTOBUF", "schema": kinds}
    row = frame(311, b"\0", b"\x08\1\x12\2\x08\2")
    [letter] = ProtobufFormat(table("protobuf", "TIMESTAMP"), True).decode(records([(None, row)])).dead
    assert letter.code == "unknown_schema"
    assert "schema 311 wrote it: " in letter.message and "its own `google.protobuf.Timestamp`" in letter.message


def test_an_outage_fails_the_batch_and_loses_nothing(server: RegistryServer) -> None:
    server.ids[7] = {"schema": json.dumps(ORDER | {"fields": [ORDER["fields"][0], {"name": "v", "type": SIDE}]})}
    server.fails = [503] * 50
    made = AvroFormat(table("avro", "VARCHAR"), keyless=True)
    batch = records([(None, b"no frame"), (None, avro(7))])
    with pytest.raises(RegistryFailure, match=r"schemas/ids/7 is: it answers 503.*No record is lost"):
        made.decode(batch)
    server.fails = []
    assert made.decode(batch).changes.texts[1] == ["SELL"]
    use_registry(None)
    with pytest.raises(RegistryFailure, match="table `t` has its schemas in a registry: set `registry`"):
        made.decode(records([(None, avro(8))]))


def test_a_table_goes_over_to_the_registry() -> None:
    ddl = "CREATE TABLE t (id BIGINT PRIMARY KEY) WITH ('format'='avro', 'schema.1'='\"long\"'{})"
    before = apply_ddl(Catalog(), ddl.format(""), 0)
    after = apply_ddl(before, ddl.format(", 'schema'='registry'"), 1)
    assert dict(after.relations["t"].options)["schema"] == "registry"
    with pytest.raises(ValueError, match="option schema of `t` is registry"):
        apply_ddl(after, ddl.format(""), 2)
