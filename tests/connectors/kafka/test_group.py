"""A group member restores before it consumes, and a stopped owner's transaction is refused."""

from __future__ import annotations

import time

import pytest

from connectors.kafka.admin import Admin
from connectors.kafka.failure import StepAborted
from connectors.kafka.group import GroupConsumer
from connectors.kafka.producer import Producer, TransactionalProducer
from connectors.kafka.properties import KafkaProperties
from connectors.kafka.reader import Reader
from connectors.kafka.record import KafkaRecord
from connectors.record import OutRecord
from connectors.topics import Topics

pytestmark = pytest.mark.broker


def join(kafka: KafkaProperties, topics: Topics, name: str = "m") -> GroupConsumer:
    return GroupConsumer(kafka, topics.prefix + "edges", [topics.subscriptions, topics.notifications], name)


def settle(member: GroupConsumer, places: int, seconds: float = 120.0) -> None:
    deadline = time.monotonic() + seconds
    while len(member.assignment.places) != places:
        assert time.monotonic() < deadline, member.assignment
        assert member.poll(0.1, 10) == []


def drain(member: GroupConsumer, records: int, seconds: float = 120.0) -> list[KafkaRecord]:
    out: list[KafkaRecord] = []
    deadline = time.monotonic() + seconds
    while len(out) < records and time.monotonic() < deadline:
        out += member.poll(0.1, 100)
    return out


def write(kafka: KafkaProperties, topic: str, partition: int, *values: bytes | None) -> None:
    producer = Producer(kafka)
    for value in values:
        producer.send(OutRecord(topic, partition, b"k", value))
    producer.flush()


def test_nothing_is_consumed_before_start_and_tombstones_count(kafka: KafkaProperties, topics: Topics) -> None:
    write(kafka, topics.subscriptions, 1, b"a", None, b"c")
    member = join(kafka, topics)
    settle(member, 8)
    assert member.poll(0.5, 10) == []
    assert set(member.committed(member.assignment.places).values()) == {None}
    member.start(dict.fromkeys(member.assignment.places, 0))
    got = drain(member, 3)
    assert [record.value for record in got] == [b"a", None, b"c"]
    assert member.positions[topics.subscriptions, 1] == 3
    member.close()


def test_positions_and_records_are_committed_together(kafka: KafkaProperties, topics: Topics) -> None:
    write(kafka, topics.subscriptions, 0, b"a", b"b")
    member = join(kafka, topics)
    settle(member, 8)
    member.start(dict.fromkeys(member.assignment.places, 0))
    assert len(drain(member, 2)) == 2
    producer = TransactionalProducer(kafka)
    out = [OutRecord(topics.deliveries, 2, b"x", b"1"), OutRecord(topics.deliveries, 2, b"x", b"2")]
    assert producer.commit(out, member.positions, member.assignment.group, topics.deliveries) == {2: 0}
    assert member.committed([(topics.subscriptions, 0)]) == {(topics.subscriptions, 0): 2}
    assert [record.value for record in Reader(kafka).read_to_end(topics.deliveries)] == [b"1", b"2"]
    member.start(member.positions)
    assert drain(member, 1, 1.0) == []
    member.close()


def test_positions_move_over_transaction_markers(kafka: KafkaProperties, topics: Topics) -> None:
    member = join(kafka, topics)
    settle(member, 8)
    member.start(dict.fromkeys(member.assignment.places, 0))
    producer = TransactionalProducer(kafka)
    producer.commit([OutRecord(topics.notifications, 3, b"x", b"1")], member.positions, member.assignment.group)
    assert len(drain(member, 1)) == 1
    deadline = time.monotonic() + 120
    while member.positions[topics.notifications, 3] < 2 and time.monotonic() < deadline:
        assert member.poll(0.1, 10) == []
    assert member.positions[topics.notifications, 3] == 2 == Admin(kafka).end_offsets(topics.notifications)[3]
    member.close()


def test_a_member_that_lost_its_partitions_is_fenced(kafka: KafkaProperties, topics: Topics) -> None:
    """The zombie knows nothing yet: it has not polled, and commits under the generation it consumed with."""
    zombie, heir = join(kafka, topics, "zombie"), join(kafka, topics, "heir")
    deadline = time.monotonic() + 120
    while len(zombie.assignment.places) != 4 or len(heir.assignment.places) != 4:
        zombie.poll(0.05, 10)
        heir.poll(0.05, 10)
        assert time.monotonic() < deadline
    held = zombie.assignment
    zombie.close()
    settle(heir, 8)
    late = TransactionalProducer(kafka)
    with pytest.raises(StepAborted, match="done again"):
        late.commit([OutRecord(topics.deliveries, 0, b"x", b"late")], dict.fromkeys(held.places, 7), held.group)
    assert list(Reader(kafka).read_to_end(topics.deliveries)) == []
    assert set(heir.committed(heir.assignment.places).values()) == {None}
    heir.close()


def test_members_say_who_owns_what(kafka: KafkaProperties, topics: Topics) -> None:
    member = join(kafka, topics, "tidewire-edge@127.0.0.1:1")
    settle(member, 8)
    [seen] = Admin(kafka).members(topics.prefix + "edges")
    assert seen.client_id == "tidewire-edge@127.0.0.1:1"
    assert seen.owns == member.assignment.places
    member.close()
    assert Admin(kafka).members(topics.prefix + "edges") == []
