"""Our home of a key is every Kafka client's."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka.partitioner.default import murmur2 as reference

from connectors.kafka.admin import Admin
from connectors.kafka.partitioner import home_partition, murmur2
from connectors.kafka.producer import Producer
from connectors.kafka.properties import KafkaProperties
from connectors.kafka.reader import Reader
from connectors.record import OutRecord
from tests.effort import examples


@given(st.binary(max_size=40))
@settings(max_examples=examples(200), deadline=None)
def test_murmur2_is_that_of_another_implementation(key: bytes) -> None:
    assert murmur2(key) == reference(key) & 0xFFFFFFFF


@given(st.binary(min_size=1, max_size=20), st.integers(1, 1024))
@settings(max_examples=examples(100), deadline=None)
def test_the_home_is_kafka_pythons(key: bytes, partitions: int) -> None:
    assert home_partition(key, partitions) == (reference(key) & 0x7FFFFFFF) % partitions


@pytest.mark.broker
def test_the_home_is_librdkafkas(kafka: KafkaProperties, prefix: str) -> None:
    admin, producer, topic = Admin(kafka), Producer(kafka), prefix + "homes"
    admin.create_topic(topic, 7)
    keys = [f"key-{i}".encode() for i in range(300)] + ["ключ".encode(), b"\x00\xff"]
    for key in keys:
        producer.send(OutRecord(topic, None, key, b"v"))
    producer.flush()
    found = {record.key: record.partition for record in Reader(kafka).read_to_end(topic)}
    assert found == {key: home_partition(key, 7) for key in keys}
    admin.delete_topics([topic])
