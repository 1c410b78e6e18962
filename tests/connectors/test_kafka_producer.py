"""What a producer cannot write it says; a transaction is all or nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from connectors.kafka import Admin, GroupConsumer, KafkaProperties, Producer, Reader, TransactionalProducer
from connectors.kafka_failure import BrokerUnavailable, KafkaFailure, StepAborted, TopicUnknown
from connectors.record import OutRecord


@pytest.fixture
def topic(kafka: KafkaProperties, prefix: str) -> str:
    Admin(kafka).create_topic(prefix + "t", 2, {"max.message.bytes": "2000000"})
    return prefix + "t"


@pytest.fixture
def member(kafka: KafkaProperties, topic: str) -> Iterator[GroupConsumer]:
    member = GroupConsumer(kafka, topic, [topic], "m", session_seconds=2)
    deadline = time.monotonic() + 20
    while not member.assignment.places:
        member.poll(0.1, 10)
        assert time.monotonic() < deadline
    yield member
    member.close()


@pytest.mark.broker
def test_where_a_record_went(kafka: KafkaProperties, topic: str) -> None:
    written: list[tuple[int, int]] = []
    producer = Producer(kafka)
    for partition in (1, 1, 0):
        producer.send(OutRecord(topic, partition, None, b"v"), lambda *place: written.append(place))
    producer.flush()
    assert sorted(written) == [(0, 0), (1, 0), (1, 1)]


@pytest.mark.broker
def test_a_failure_is_told_once(kafka: KafkaProperties, topic: str, prefix: str) -> None:
    producer = Producer(kafka, timeout=2)
    producer.send(OutRecord(prefix + "nothing", None, b"k", b"v"))
    with pytest.raises(TopicUnknown, match=prefix + "nothing"):
        producer.flush()
    producer.send(OutRecord(topic, None, b"k", b"v"))
    producer.flush()


@pytest.mark.broker
def test_too_large(kafka: KafkaProperties, topic: str) -> None:
    producer = Producer(kafka, timeout=5)
    with pytest.raises(KafkaFailure, match="too large"):
        producer.send(OutRecord(topic, None, b"k", bytes(20_000_000)))
    producer.send(OutRecord(topic, None, b"k", bytes(3_000_000)))
    with pytest.raises(KafkaFailure, match="size too large"):
        producer.flush()


def test_no_broker() -> None:
    producer = Producer(KafkaProperties("127.0.0.1:1"), timeout=0.5)
    producer.send(OutRecord("t", None, b"k", b"v"))
    with pytest.raises(BrokerUnavailable, match=r"`127\.0\.0\.1:1`"):
        producer.flush()


@pytest.mark.broker
def test_a_transaction_that_fails_leaves_nothing_and_the_next_one_works(
    kafka: KafkaProperties, topic: str, member: GroupConsumer
) -> None:
    producer = TransactionalProducer(kafka)
    positions, group = dict.fromkeys(member.assignment.places, 0), member.assignment.group
    with pytest.raises(StepAborted, match="size too large"):
        producer.commit(
            [OutRecord(topic, 0, b"k", b"small"), OutRecord(topic, 1, b"k", bytes(3_000_000))], positions, group
        )
    assert list(Reader(kafka).read_to_end(topic)) == []
    assert set(member.committed(positions).values()) == {None}
    producer.commit([OutRecord(topic, 0, b"k", b"good")], positions, group)
    assert [record.value for record in Reader(kafka).read_to_end(topic)] == [b"good"]


@pytest.mark.broker
def test_a_second_producer_of_the_same_name_takes_over(
    kafka: KafkaProperties, topic: str, member: GroupConsumer
) -> None:
    positions, group = dict.fromkeys(member.assignment.places, 0), member.assignment.group
    first, second = TransactionalProducer(kafka, topic), TransactionalProducer(kafka, topic)
    first.commit([OutRecord(topic, 0, b"k", b"1")], positions, group)
    second.commit([OutRecord(topic, 0, b"k", b"2")], positions, group)
    with pytest.raises(StepAborted) as aborted:
        first.commit([OutRecord(topic, 0, b"k", b"3")], positions, group)
    assert aborted.value.producer_lost
    first.close()
    assert [record.value for record in Reader(kafka).read_to_end(topic)] == [b"1", b"2"]
