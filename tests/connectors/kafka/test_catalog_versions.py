"""Everyone folds the same catalog from the same records."""

from __future__ import annotations

import pytest

from catalog.schema.relation import Catalog
from connectors.kafka import catalog_versions
from connectors.kafka.catalog_versions import CatalogBehind, CatalogFold, CatalogVersions
from connectors.kafka.producer import Producer
from connectors.kafka.properties import KafkaProperties
from connectors.kafka.reader import Reader
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
