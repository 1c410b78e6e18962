"""One suite for what an engine asks of a cluster, run against the one in memory and against Kafka."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from connectors.kafka.admin import Admin
from connectors.kafka.failure import BrokerUnavailable
from connectors.kafka.properties import KafkaProperties
from connectors.record import OutRecord
from connectors.topics import Topics
from streaming.epoch.cluster import Cluster
from streaming.epoch.kafka_cluster import KafkaCluster
from tests.streaming.memory_cluster import MemoryCluster
from tests.streaming.waiting import eventually


def check_contract(cluster: Cluster, topics: Topics) -> None:
    """What every implementation keeps; `topics` exist, with at least two virtual edges, and are empty."""
    batches, edges = topics.batches, topics.notifications
    assert cluster.end(batches) == 0
    assert cluster.append([]) == []
    written = [OutRecord(batches, 0, None, b"0"), OutRecord(edges, 1, b"k", None), OutRecord(batches, 0, b"", b"1")]
    assert cluster.append(written) == [0, 0, 1]
    assert cluster.append([OutRecord(batches, 0, None, b"2")]) == [2]
    assert cluster.end(batches) == 3
    assert {partition: end for partition, end in cluster.ends(edges).items() if end} == {1: 1}
    assert set(cluster.begins(edges).values()) == {0}
    assert [(r.offset, r.key, r.value) for r in cluster.read(batches, 1, 3)] == [(1, b"", b"1"), (2, None, b"2")]
    assert cluster.read(batches, 3, 3) == []
    missing = topics.prefix + "missing"
    assert (cluster.ends(missing), cluster.begins(missing)) == ({}, {})
    ids = cluster.ids([batches, edges, missing])
    assert ids.keys() == {batches, edges}
    assert ids[batches] != ids[edges]
    view = topics.prefix + "view"
    cluster.create_compacted(view)
    assert len(cluster.ends(view)) == 4 and cluster.live_keys(view) == set()
    assert cluster.compacted([view, batches, missing]) == {view} and cluster.compacted([]) == set()
    lines = [(0, b"a", b"1"), (0, b"a", None), (1, b"b", None), (1, b"b", b"2"), (3, b"c", b"4")]
    cluster.append([OutRecord(view, partition, key, value) for partition, key, value in lines])
    assert cluster.live_keys(view) == {b"b", b"c"}


def test_in_memory() -> None:
    topics = Topics("t.")
    check_contract(MemoryCluster(topics), topics)


@pytest.mark.broker
def test_in_kafka(kafka: KafkaProperties, topics: Topics) -> None:
    check_contract(KafkaCluster(kafka), topics)


@pytest.mark.broker
def test_what_was_trimmed_is_left_out_and_a_topic_created_again_is_another(
    kafka: KafkaProperties, topics: Topics
) -> None:
    cluster, admin = KafkaCluster(kafka), Admin(kafka)
    cluster.append([OutRecord(topics.batches, 0, None, b"%d" % number) for number in range(4)])
    admin.delete_records({(topics.batches, 0): 2})
    assert cluster.begins(topics.batches) == {0: 2}
    assert [record.offset for record in cluster.read(topics.batches, 0, 4)] == [2, 3]
    name = topics.prefix + "stock"
    admin.create_topic(name)
    before = cluster.ids([name])
    admin.delete_topics([name])
    eventually(lambda: not cluster.ids([name]))
    admin.create_topic(name)
    assert cluster.ids([name]).keys() == before.keys()
    assert cluster.ids([name]) != before
    assert cluster.ensure_topics(topics) == 4


class LostProducer:
    """The first of a process waits for ever; those after it write."""

    made = 0

    def __init__(self, properties: KafkaProperties, linger: float) -> None:
        LostProducer.made += 1
        self._lost = LostProducer.made == 1
        self._waiting: list[Callable[[int, int], None]] = []

    def send(self, record: OutRecord, on_offset: Callable[[int, int], None]) -> None:
        self._waiting.append(on_offset)

    def flush(self) -> None:
        if self._lost:
            raise BrokerUnavailable("no Kafka broker answers")
        for number, tell in enumerate(self._waiting):
            tell(0, number)


def test_a_client_that_is_lost_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streaming.epoch.kafka_cluster.Producer", LostProducer)
    cluster = KafkaCluster(KafkaProperties("127.0.0.1:1"))
    with pytest.raises(BrokerUnavailable):
        cluster.append([OutRecord("t", 0, None, b"1")])
    assert cluster.append([OutRecord("t", 0, None, b"1")]) == [0]
    assert LostProducer.made == 2
