"""What a registry told of the records of a table, through a real HTTP server; and the whole chain, judged by it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from connectors.schemas import schema_registry
from connectors.schemas.schema_registry import use_registry
from tests.connectors.registry_server import RegistryServer, running
from tests.connectors.schemas.test_fetched_schema import serialized
from tests.tidewire.verification.input.test_avro_rows import datum
from tests.tidewire.verification.input.test_declared import declared
from tests.tidewire.verification.input.test_proto_rows import KEY_AT, ROW_AT, frame, message, schema
from tests.tidewire.verification.test_against_the_chain import EDGES, Judged
from tidewire.verification.input import registry_schemas
from tidewire.verification.input.registry_schemas import Inquiry, Told
from tidewire.verification.records.journal import Journal, Record, TopicLog
from tidewire.verification.schemas.proto_schemas import small_files
from tidewire.verification.schemas.registry import Registry
from tidewire.verification.verify import verify

ROW = {"type": "record", "name": "R", "fields": [{"name": "id", "type": "long"}, {"name": "v", "type": "long"}]}
PROTO = schema("INT64", types="brought")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[RegistryServer]:
    monkeypatch.setattr(registry_schemas, "_PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(schema_registry, "_LATE_ATTEMPTS", 1)
    with running(RegistryServer()) as found:
        use_registry(schema_registry.Registry(found.url, patience=0.2))
        yield found
    use_registry(None)


def ddl(format: str, options: str = "") -> str:
    with_ = f"'format'='{format}', 'schema'='registry'{options}"
    return f"CREATE TABLE t (id BIGINT PRIMARY KEY, v BIGINT) WITH ({with_})"


def put_schemas(server: RegistryServer) -> None:
    """Number 7 is Avro, 9 Protobuf with imports that the registry has, too."""
    root, *imports = serialized(PROTO)
    names = [file.name for file in small_files()]
    server.ids[7] = {"schema": json.dumps(ROW)}
    server.ids[9] = {"schemaType": "PROTOBUF", "schema": root, "references": []}
    for name, text in zip(names, imports, strict=True):
        server.ids[9]["references"].append({"name": name, "subject": name.replace("/", "."), "version": 1})
        server.versions[name.replace("/", "."), 1] = {"schemaType": "PROTOBUF", "schema": text}


def log(*records: tuple[bytes | None, bytes | None]) -> TopicLog:
    return TopicLog.of("t", [Record(0, i, 0, *pair) for i, pair in enumerate(records)])


def test_numbers_of_records_are_asked_once(server: RegistryServer) -> None:
    put_schemas(server)
    inquiry, tables = Inquiry(Registry(server.url)), declared(ddl("avro"), ddl("avro", ", 'schema.5'='\"long\"'"))
    records = [(None, datum(ROW, {"id": 1, "v": 2}, 7)), (datum("long", 1, 5), None), (b"x", b"\0\0\0\0\x08\0")]
    for _ in range(2):
        told = inquiry.ask(tables, {"t": log(*records)})
        assert told == Told({("avro", 7): json.dumps(ROW)}, {})
    paths = [one.partition("?")[0].rpartition("/")[2] for one in server.asked]
    assert sorted(paths) == ["5", "5", "7", "8", "8"], "what is unknown is asked again, and then it is believed"
    table = told.listed_in(tables.at(1)["t"])
    assert table.schemas == {5: '"long"', 7: json.dumps(ROW)} and told.silence(table) is None


def test_tables_that_need_no_registry_are_not_asked_about() -> None:
    listed = declared(ddl("avro", ", 'schema.5'='\"long\"'"), "CREATE TABLE u (id BIGINT PRIMARY KEY)")
    logs = {"t": log((datum("long", 1, 5), None)), "u": log((b"\0\0\0\0\1", None))}
    assert Inquiry(None).ask(listed, logs) == Told()
    told = Inquiry(None).ask(declared(ddl("avro")), logs)
    assert told.silence(declared(ddl("avro")).at(0)["t"]) == (
        "table `t`: its schemas are in a registry: set `registry` to its URL"
    )


def rows(format: str) -> list[tuple[bytes | None, bytes | None]]:
    """Records of both kinds of key, refused ones among them."""
    good = [{"id": i % 4, "v": (i * 7) % 5} for i in range(12)]
    if format == "avro":
        values, key = [datum(ROW, row, 7) for row in good], datum("long", 3, 8)
    else:
        values = [frame(9, ROW_AT, message(PROTO, "shop.Row", **row)) for row in good]
        key = frame(9, KEY_AT, message(PROTO, "shop.Key", id=3))
    keys = [json.dumps(row["id"]).encode() for row in good]
    bad = [(b"1", values[1][:-1]), (b"1", frame(77, b"", values[1][5:])), (b"2", values[1]), (key, None), (b"1", b"")]
    return [*zip(keys, values, strict=True), *bad, (b"0", None)]


def drive(format: str) -> Journal:
    chain = Judged(virtual_edges=EDGES)
    chain.apply(ddl(format))
    for i, sql in enumerate(["SELECT MIN(v) FROM t", "SELECT SUM(v), COUNT(*) FROM t WHERE id > 0"]):
        chain.append(chain.topics.subscriptions, b"s%d" % i, json.dumps({"sql": sql}).encode())
    for key, value in rows(format):
        chain.append("t", key, value, 0)
        chain.settle()
    journal = chain.journal()
    journal.relations["t"] = TopicLog.of("t", chain.log("t", 1).all(), 1)
    return journal


@pytest.mark.parametrize("format", ["avro", "protobuf"])
def test_the_chain_is_judged_by_the_registrys_schemas(server: RegistryServer, format: str) -> None:
    put_schemas(server)
    journal = drive(format)
    report = verify(journal, Inquiry(Registry(server.url)))
    assert report.clean and report.right > 5 and (report.unjudged, report.limits) == (0, []), report
    assert report.dead_letters >= 4
    server.fails = [503] * 50
    away = verify(journal, Inquiry(Registry(server.url, patience=0.0)))
    assert away.clean and away.unjudged > 5 and "answers 503" in away.limits[0] and not away.dead_letters
    assert "set `registry`" in verify(journal).limits[0]


def test_another_schema_in_the_registry_is_found_out(server: RegistryServer) -> None:
    put_schemas(server)
    journal = drive("avro")
    swapped = ROW | {"fields": list(reversed(ROW["fields"]))}
    server.ids[7] = {"schema": json.dumps(swapped)}
    report = verify(journal, Inquiry(Registry(server.url)))
    assert not report.clean and report.refused_wrongly + report.taken_wrongly + report.wrong + report.extra > 0
