"""Topics are made once, counted, told apart from their successors; offsets are what they are."""

from __future__ import annotations

import pytest

from connectors.kafka.admin import Admin, TopicsDisagree
from connectors.kafka.failure import BrokerUnavailable, TopicUnknown
from connectors.kafka.producer import Producer
from connectors.kafka.properties import KafkaProperties
from connectors.record import OutRecord
from connectors.topics import Topics
from tests.conftest import TEST_VIRTUAL_EDGES


@pytest.mark.broker
def test_topics_are_made_once_and_keep_their_number(kafka: KafkaProperties, topics: Topics) -> None:
    admin = Admin(kafka)
    before = admin.topic_ids([spec.name for spec in topics.specs()])
    assert admin.ensure_topics(topics, TEST_VIRTUAL_EDGES + 5) == TEST_VIRTUAL_EDGES
    assert admin.topic_ids(before) == before
    assert len(set(before.values())) == len(topics.specs())
    assert admin.partitions(topics.deliveries) == TEST_VIRTUAL_EDGES
    assert admin.partitions(topics.catalog) == 1


@pytest.mark.broker
def test_what_is_missing_is_made_with_the_number_of_the_others(kafka: KafkaProperties, topics: Topics) -> None:
    admin = Admin(kafka)
    admin.delete_topics([topics.acks, topics.batches])
    assert admin.ensure_topics(topics) == TEST_VIRTUAL_EDGES
    assert admin.partitions(topics.acks) == TEST_VIRTUAL_EDGES


@pytest.mark.broker
def test_a_topic_with_other_partitions_is_named(kafka: KafkaProperties, topics: Topics) -> None:
    admin = Admin(kafka)
    admin.delete_topics([topics.acks])
    admin.create_topic(topics.acks, TEST_VIRTUAL_EDGES + 1)
    with pytest.raises(TopicsDisagree, match=r"acks` .* expected 4 partitions, got 5"):
        admin.ensure_topics(topics)


@pytest.mark.broker
def test_a_topic_made_anew_has_another_id(kafka: KafkaProperties, prefix: str) -> None:
    admin, name = Admin(kafka), prefix + "t"
    admin.create_topic(name)
    first = admin.topic_ids([name, prefix + "nothing"])
    admin.delete_topics([name, prefix + "nothing"])
    assert admin.topic_ids([name]) == {}
    admin.create_topic(name)
    second = admin.topic_ids([name])
    assert first.keys() == second.keys() == {name}
    assert first != second
    admin.delete_topics([name])


@pytest.mark.broker
def test_offsets_and_trimming(kafka: KafkaProperties, prefix: str) -> None:
    admin, name, producer = Admin(kafka), prefix + "t", Producer(kafka)
    admin.create_topic(name, 3)
    for number in range(5):
        producer.send(OutRecord(name, 1, b"k", b"%d" % number))
    producer.flush()
    admin.delete_records({(name, 1): 2})
    assert admin.begin_offsets(name) == {0: 0, 1: 2, 2: 0}
    assert admin.end_offsets(name, [1, 2]) == {1: 5, 2: 0}
    admin.delete_topics([name])


@pytest.mark.broker
def test_what_does_not_exist(kafka: KafkaProperties, prefix: str) -> None:
    admin = Admin(kafka)
    for ask in (admin.partitions, admin.end_offsets):
        with pytest.raises(TopicUnknown, match=prefix):
            ask(prefix + "nothing")
    assert admin.members(prefix + "nobody") == []


def test_no_broker() -> None:
    admin = Admin(KafkaProperties("127.0.0.1:1"), timeout=0.5)
    for ask in (admin.topics, lambda: admin.members("g"), lambda: admin.partitions("t")):
        with pytest.raises(BrokerUnavailable, match="`127.0.0.1:1`.*`tidewire up`"):  # noqa: RUF043
            ask()
