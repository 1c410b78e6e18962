"""Everyone folds the same catalog from the same records."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from catalog.schema.catalog import Catalog
from connectors.kafka import catalog_versions
from connectors.kafka.catalog_versions import CatalogBehind, CatalogFold, CatalogNewer, CatalogVersions
from connectors.kafka.producer import Producer
from connectors.kafka.properties import KafkaProperties
from connectors.kafka.reader import Reader
from connectors.kafka.record import KafkaRecord
from connectors.record import OutRecord
from connectors.topics import Topics

TABLE = b"CREATE TABLE %s (k BIGINT PRIMARY KEY, v BIGINT) WITH ('topic'='%s', 'format'='json')"
GOOD, ALSO = TABLE % (b"a", b"a"), TABLE % (b"b", b"b")


def test_a_record_that_does_not_apply_is_skipped() -> None:
    fold = CatalogFold("tw.").add_all([(0, GOOD), (1, b"CREATE NONSENSE"), (2, b"\xff"), (3, None), (5, ALSO)])
    assert [sorted(fold.at(version).relations) for version in range(-1, 6)] == [
        [],
        ["a"],
        ["a"],
        ["a"],
        ["a"],
        ["a"],
        ["a", "b"],
    ]
    assert fold.newest is fold.at(5)
    assert fold.newest.relations["b"].born == 5
    assert not fold.add(6, b"CREATE NONSENSE")


@pytest.mark.parametrize(
    "text",
    [
        b"CREATE VIEW v WITH ('parts'='v') AS SELECT k FROM a",
        b"CREATE VIEW v AS SELECT k FROM a WHERE k = 1 OR k = 2",
        b"CREATE JOIN j WITH ~",
        GOOD + b"; DROP VIEW v CASCADE",
    ],
)
def test_a_statement_of_a_newer_version_is_no_record_to_be_skipped(text: bytes) -> None:
    fold = CatalogFold("tw.").add_all([(0, GOOD), (1, b"CREATE TABLE a (k"), (2, b"\xff"), (3, b"hello")])
    fold.check()
    fold.add_all([(4, text), (5, ALSO)])
    assert sorted(fold.newest.relations) == ["a", "b"]
    with pytest.raises(CatalogNewer, match=r"^record 4 of the catalog says \w+ \w+, .*: a newer tidewire wrote it\."):
        fold.check()


def test_a_view_that_is_wrong_in_any_version_is_skipped() -> None:
    fold = CatalogFold("tw.").add_all([(0, GOOD), (1, b"CREATE VIEW v AS SELECT k FROM nowhere"), (2, b"DROP VIEW v")])
    fold.check()
    assert fold.add(3, b"CREATE VIEW v AS SELECT k FROM a") and list(fold.newest.views) == ["v"]


def test_an_edge_stops_at_a_statement_of_a_newer_version() -> None:
    topics = Topics()
    stored = [KafkaRecord(topics.catalog, 0, at, 0, None, text) for at, text in enumerate((GOOD, b"CREATE VIEW v"))]
    reader = cast("Reader", SimpleNamespace(read_to_end=lambda *_: stored))
    with pytest.raises(CatalogNewer, match="record 1 of the catalog says CREATE VIEW"):
        CatalogVersions(reader, topics).at(0)


@pytest.mark.broker
def test_it_reads_on_when_a_newer_version_is_asked_for(kafka: KafkaProperties, topics: Topics) -> None:
    producer, versions = Producer(kafka), CatalogVersions(Reader(kafka), topics)
    assert versions.at(-1).relations == {}
    for text in (GOOD, b"CREATE NONSENSE"):
        producer.send(OutRecord(topics.catalog, 0, None, text))
    producer.flush()
    assert list(versions.at(1).relations) == ["a"]
    producer.send(OutRecord(topics.catalog, 0, None, ALSO))
    producer.flush()
    assert list(versions.at(1).relations) == ["a"]
    assert sorted(versions.at(2).relations) == ["a", "b"]
    with pytest.raises(CatalogBehind, match=r"version 3 .* ends at offset 3"):
        versions.at(3)


def test_a_text_that_nobody_has_foreseen_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    read = catalog_versions.fold_ddl

    def fails(catalog: Catalog, text: str, version: int) -> Catalog:
        if "odd" in text:
            raise AttributeError("a tree of another kind")
        return read(catalog, text, version)

    monkeypatch.setattr(catalog_versions, "fold_ddl", fails)
    fold = CatalogFold("tw.").add_all([(0, GOOD), (1, b"CREATE TABLE odd"), (2, ALSO)])
    assert fold.at(1) == fold.at(0) and set(fold.newest.relations) > set(fold.at(0).relations)
