"""What a producer cannot write it says; a transaction is all or nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from connectors.kafka.admin import Admin
from connectors.kafka.failure import BrokerUnavailable, KafkaFailure, StepAborted, TopicUnknown
from connectors.kafka.group import GroupConsumer
from connectors.kafka.producer import Producer, TransactionalProducer
from connectors.kafka.properties import KafkaProperties
from connectors.kafka.reader import Reader
from connectors.record import OutRecord
from tidewire.stack.broker import Broker


@pytest.fixture
def topic(kafka: KafkaProperties, prefix: str) -> str:
    Admin(kafka).create_topic(prefix + "t", 2, {"max.message.bytes": "2000000"})
    return prefix + "t"


@pytest.fixture
def member(kafka: KafkaProperties, topic: str) -> Iterator[GroupConsumer]:
    member = GroupConsumer(kafka, topic, [topic], "m", session_seconds=2)
    deadline = time.monotonic() + 120
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
def test_each_of_many_that_wait_together_hears_of_its_own(kafka: KafkaProperties, topic: str, prefix: str) -> None:
    producer = Producer(kafka, timeout=4)
    written = [producer.write(OutRecord(topic, partition, None, b"v")) for partition in (1, 0, 1)]
    lost = producer.write(OutRecord(prefix + "nothing", None, b"k", b"v"))
    deadline = time.monotonic() + 120
    while not (lost.done() and all(one.done() for one in written)):
        producer.serve(0.1)
        assert time.monotonic() < deadline
    assert [one.result() for one in written] == [0, 0, 1]
    assert isinstance(lost.exception(), KafkaFailure)
    producer.flush()


@pytest.mark.broker
def test_a_failure_is_told_once(kafka: KafkaProperties, topic: str, prefix: str) -> None:
    producer = Producer(kafka, timeout=4)
    producer.send(OutRecord(prefix + "nothing", None, b"k", b"v"))
    with pytest.raises(TopicUnknown, match=prefix + "nothing"):
        producer.flush()
    producer.send(OutRecord(topic, None, b"k", b"v"))
    producer.flush()


@pytest.mark.broker
def test_too_large(kafka: KafkaProperties, topic: str) -> None:
    producer = Producer(kafka, timeout=60)
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
    with pytest.raises(StepAborted, match="given up"):  # as too large, or as in error by what comes after it
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


def test_a_client_that_never_returns_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """As librdkafka does when the group's coordinator was started again in between."""
    forever = threading.Event()

    class StuckClient:
        def __getattr__(self, name: str) -> object:
            return (lambda *_: forever.wait()) if name == "send_offsets_to_transaction" else lambda *_, **__: None

    monkeypatch.setattr("connectors.kafka.producer._OFFSETS_SECONDS", 0.0)
    monkeypatch.setattr("connectors.kafka.producer._STUCK_SECONDS", 0.1)
    producer = TransactionalProducer(KafkaProperties("127.0.0.1:1"))
    monkeypatch.setattr(producer, "_client", StuckClient())
    with pytest.raises(StepAborted, match="has not returned") as aborted:
        producer.commit([], {("t", 0): 1}, object())
    assert aborted.value.producer_lost
    producer.close()
    forever.set()


@pytest.mark.broker
def test_a_broker_that_was_killed_holds_no_step_up_for_long(mortal_broker: Broker) -> None:
    """The client waits for ever here (see `_send_offsets`); its successor goes on, nothing is lost."""
    kafka = KafkaProperties(mortal_broker.bootstrap)
    Admin(kafka).create_topic("t")
    member = GroupConsumer(kafka, "g", ["t"], "m")
    while not member.assignment.places:
        member.poll(0.1, 10)
    step = [OutRecord("t", 0, None, b"v")], {("t", 0): 0}, member.assignment.group
    producer = TransactionalProducer(kafka, "name")
    producer.commit(*step)
    mortal_broker.kill()
    mortal_broker.start()
    try:
        producer.commit(*step)
    except StepAborted:
        producer.close()
        TransactionalProducer(kafka, "name").prepare()
    after = Producer(kafka)
    after.send(OutRecord("t", 0, None, b"after"))
    after.flush()
    assert [record.value for record in Reader(kafka).read_to_end("t")] == [b"v", b"after"]
