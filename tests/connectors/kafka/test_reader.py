"""Readings end where they should, hold what they should, and see nothing that is not committed."""

from __future__ import annotations

import threading
import time

import pytest
from confluent_kafka import Producer as Client

from connectors.kafka.admin import Admin
from connectors.kafka.producer import Producer
from connectors.kafka.properties import KafkaProperties
from connectors.kafka.reader import OffsetTrimmed, Reader
from connectors.record import OutRecord

pytestmark = pytest.mark.broker


@pytest.fixture
def topic(kafka: KafkaProperties, prefix: str) -> str:
    Admin(kafka).create_topic(prefix + "t", 2)
    return prefix + "t"


def write(kafka: KafkaProperties, topic: str, partition: int, *values: bytes | None) -> None:
    producer = Producer(kafka)
    for value in values:
        producer.send(OutRecord(topic, partition, b"k", value))
    producer.flush()


def open_transaction(kafka: KafkaProperties, topic: str, partition: int) -> Client:
    client = Client({"bootstrap.servers": kafka.bootstrap, "transactional.id": topic, "transaction.timeout.ms": 30_000})
    client.init_transactions(10)
    client.begin_transaction()
    client.produce(topic, b"undecided", partition=partition)
    client.flush()
    return client


def test_to_the_end_with_tombstones(kafka: KafkaProperties, topic: str) -> None:
    write(kafka, topic, 0, b"a", None, b"c")
    write(kafka, topic, 1, b"d")
    records = list(Reader(kafka).read_to_end(topic))
    assert sorted((r.partition, r.offset, r.key, r.value) for r in records) == [
        (0, 0, b"k", b"a"), (0, 1, b"k", None), (0, 2, b"k", b"c"), (1, 0, b"k", b"d"),
    ]  # fmt: skip
    assert abs(records[0].timestamp / 1000 - time.time()) < 60
    assert [r.value for r in Reader(kafka).read_to_end(topic, [0], {0: 2})] == [b"c"]
    assert list(Reader(kafka).read_to_end(topic, [1], {1: 1})) == []


def test_the_end_waits_for_open_transactions(kafka: KafkaProperties, topic: str) -> None:
    write(kafka, topic, 0, b"before")
    client = open_transaction(kafka, topic, 0)
    write(kafka, topic, 0, b"after")
    got: list[bytes | None] = []
    reading = threading.Thread(target=lambda: got.extend(r.value for r in Reader(kafka).read_to_end(topic, [0])))
    reading.start()
    reading.join(1.0)
    assert reading.is_alive()
    client.abort_transaction()
    reading.join(120)
    assert got == [b"before", b"after"]


def test_an_aborted_end_is_an_end(kafka: KafkaProperties, topic: str) -> None:
    write(kafka, topic, 0, b"a")
    open_transaction(kafka, topic, 0).abort_transaction()
    assert [r.value for r in Reader(kafka).read_to_end(topic)] == [b"a"]


def test_a_range(kafka: KafkaProperties, topic: str) -> None:
    write(kafka, topic, 1, *[b"%d" % number for number in range(10)])
    reader = Reader(kafka)
    assert [r.value for r in reader.read_range(topic, 1, 3, 6)] == [b"3", b"4", b"5"]
    assert list(reader.read_range(topic, 1, 3, 3)) == []
    reader.admin.delete_records({(topic, 1): 4})
    with pytest.raises(OffsetTrimmed, match=topic):
        list(reader.read_range(topic, 1, 3, 6))


def test_tail_begins_when_it_is_called(kafka: KafkaProperties, topic: str) -> None:
    write(kafka, topic, 0, b"old")
    tail = Reader(kafka).tail(topic, idle=0.2)
    write(kafka, topic, 0, b"new")
    assert next(record.value for record in tail if record is not None) == b"new"
    assert next(tail) is None
    write(kafka, topic, 1, b"newer")
    assert next(record.value for record in tail if record is not None) == b"newer"
    tail.close()  # type: ignore[attr-defined]


def test_tail_from_an_offset(kafka: KafkaProperties, topic: str) -> None:
    write(kafka, topic, 0, b"a", b"b")
    assert next(r.value for r in Reader(kafka).tail(topic, {0: 1}) if r is not None) == b"b"
