"""A journal of a real broker's topics. Whole stacks are judged through it by the tests in tests/stack."""

from __future__ import annotations

import pytest

from connectors.kafka.admin import Admin
from connectors.kafka.producer import Producer
from connectors.kafka.properties import KafkaProperties
from connectors.record import OutRecord
from connectors.topics import Topics
from tidewire.verification.reading import read_journal, verify_kafka
from tidewire.verification.records.journal import TopicLog
from tidewire.verification.records.sample import Sample

pytestmark = pytest.mark.broker
DDL = "CREATE TABLE {name} (k BIGINT PRIMARY KEY) WITH ('topic'='{topic}')"


def send(kafka: KafkaProperties, *records: OutRecord) -> None:
    producer = Producer(kafka)
    for record in records:
        producer.send(record)
    producer.flush()


def test_nothing_has_happened_yet(kafka: KafkaProperties, topics: Topics) -> None:
    report = verify_kafka(kafka, topics, 10)
    assert report.clean and (report.epochs, report.right) == (0, 0)


def test_relations_with_their_ends_and_one_whose_topic_is_not_there(kafka: KafkaProperties, topics: Topics) -> None:
    here, gone = topics.prefix + "here", topics.prefix + "gone"
    Admin(kafka).create_topic(here, 2)
    catalog = [DDL.format(name="here", topic=here), DDL.format(name="gone", topic=gone)]
    rows = [OutRecord(here, 1, b'{"k":%d}' % k, b'{"k":%d}' % k) for k in range(3)]
    send(kafka, *(OutRecord(topics.catalog, 0, None, ddl.encode()) for ddl in catalog), *rows)
    journal = read_journal(kafka, topics, 10)
    assert journal.relations[gone] == TopicLog(gone)
    assert (journal.relations[here].begin, journal.relations[here].end) == ({0: 0, 1: 0}, {0: 0, 1: 3})
    assert [record.offset for record in journal.relations[here].all()] == [0, 1, 2]


def test_a_sample_leaves_out_deliveries_and_nothing_else(kafka: KafkaProperties, topics: Topics) -> None:
    half, ids = Sample(0.5), [b"s%d" % i for i in range(20)]
    both = [(topics.subscriptions, id) for id in ids] + [(topics.deliveries, id) for id in [*ids, b"@packed"]]
    send(kafka, *(OutRecord(topic, 0, id, b"{}") for topic, id in both))
    journal = read_journal(kafka, topics, 10, half)
    assert [record.key for record in journal.subscriptions.all()] == ids
    assert [record.key for record in journal.deliveries.all()] == [*filter(half.has, ids), b"@packed"]
    assert journal.deliveries.end[0] == 21 and 0 < len(journal.deliveries.all()) < 21
