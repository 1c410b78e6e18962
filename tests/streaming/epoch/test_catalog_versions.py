from __future__ import annotations

import pytest

from connectors.kafka.catalog_versions import CatalogNewer
from connectors.record import OutRecord
from connectors.topics import Topics
from streaming.checkpoint.checkpoint import CatalogFrom, Sidecar
from streaming.epoch.catalog_versions import CatalogTopic, changes_groups, created_cells, entries_from, record_version
from tests.streaming.memory_cluster import MemoryCluster

TOPICS = Topics("t.")
S = "CREATE TABLE s (id BIGINT PRIMARY KEY) WITH ('topic'='s')"
U = "CREATE TABLE u (id BIGINT PRIMARY KEY) WITH ('topic'='u')"


@pytest.fixture
def cluster() -> MemoryCluster:
    return MemoryCluster(TOPICS)


def declare(cluster: MemoryCluster, *texts: str) -> CatalogTopic:
    cluster.append([OutRecord(TOPICS.catalog, 0, None, text.encode()) for text in texts])
    topic = CatalogTopic(cluster, TOPICS)
    topic.poll()
    return topic


def test_each_version_is_the_fold_of_the_records_up_to_it(cluster: MemoryCluster) -> None:
    topic = declare(cluster, S, "nonsense", U, "DROP TABLE s")
    assert [sorted(topic.at(version).relations) for version in range(-1, 4)] == [[], ["s"], ["s"], ["s", "u"], ["u"]]
    assert topic.version == 3
    assert sorted(topic.newest.relations) == ["u"]


def test_polling_reads_only_what_is_new(cluster: MemoryCluster) -> None:
    topic = declare(cluster, S)
    assert not topic.poll()
    cluster.append([OutRecord(TOPICS.catalog, 0, None, U.encode())])
    assert topic.poll()
    assert topic.version == 1


def test_a_skipped_record_is_a_version_all_the_same(cluster: MemoryCluster) -> None:
    topic = declare(cluster, "nonsense")
    assert (topic.version, dict(topic.newest.relations)) == (0, {})


def test_an_engine_stops_at_a_statement_of_a_newer_version(cluster: MemoryCluster) -> None:
    topic = declare(cluster, S, "CREATE TABLE broken (")
    cluster.append([OutRecord(TOPICS.catalog, 0, None, b"ALTER VIEW v RENAME TO w")])
    with pytest.raises(CatalogNewer, match="record 2 of the catalog says ALTER VIEW"):
        topic.poll()


def test_a_version_is_recorded_when_a_relation_changes(cluster: MemoryCluster) -> None:
    topic = declare(cluster, S, S, U)
    sidecar = Sidecar(claim="c")
    assert record_version(sidecar, None, topic.at(-1), -1, 0)
    assert record_version(sidecar, topic.at(-1), topic.at(0), 0, 3)
    assert not record_version(sidecar, topic.at(0), topic.at(1), 1, 5)
    assert sidecar.announced == 1
    assert record_version(sidecar, topic.at(0), topic.at(2), 2, 5)
    assert sidecar.catalogs == [CatalogFrom(0, -1), CatalogFrom(3, 0), CatalogFrom(5, 2)]


def test_a_version_under_which_nothing_was_planned_is_replaced(cluster: MemoryCluster) -> None:
    topic = declare(cluster, S, U)
    sidecar = Sidecar(claim="c")
    record_version(sidecar, None, topic.at(0), 0, 0)
    record_version(sidecar, topic.at(0), topic.at(1), 1, 0)
    assert sidecar.catalogs == [CatalogFrom(0, 1)]


def test_a_dropped_topic_is_forgotten_and_one_that_feeds_a_new_table_is_reset(cluster: MemoryCluster) -> None:
    topic = declare(cluster, S + ";" + U, "DROP TABLE s; DROP TABLE u;" + S)
    sidecar = Sidecar(claim="c", topic_ids={"s": "1", "u": "2", "t.registrations": "3"})
    record_version(sidecar, None, topic.at(0), 0, 0)
    assert sidecar.resets == []
    record_version(sidecar, topic.at(0), topic.at(1), 1, 4)
    assert sidecar.resets == ["s"]
    assert sidecar.topic_ids == {"t.registrations": "3"}


@pytest.mark.parametrize(("batch", "firsts"), [(0, [0, 4, 9]), (3, [0, 4, 9]), (4, [4, 9]), (8, [4, 9]), (50, [9])])
def test_a_plan_needs_the_entry_in_force_and_those_after_it(batch: int, firsts: list[int]) -> None:
    entries = [CatalogFrom(0, 0), CatalogFrom(4, 1), CatalogFrom(9, 2)]
    assert [entry.first for entry in entries_from(entries, batch)] == firsts


def test_a_view_changes_what_groups_hold(cluster: MemoryCluster) -> None:
    topic = declare(cluster, S, "CREATE VIEW v AS SELECT COUNT(*) AS n FROM s", "DROP VIEW v")
    assert changes_groups(topic.at(0), topic.at(1)) and changes_groups(topic.at(1), topic.at(2))
    assert not changes_groups(topic.at(0), topic.at(2)) and created_cells(topic.at(0), topic.at(1)) == []
