"""Reading backwards from the end of a topic."""

from __future__ import annotations

import pytest
from confluent_kafka import Producer as Raw

from connectors.kafka.light import LightKafka
from connectors.kafka.properties import KafkaProperties
from connectors.topics import Topics

pytestmark = pytest.mark.broker


@pytest.fixture
def filled(kafka: KafkaProperties, topics: Topics) -> LightKafka:
    """2,000 committed records in transactions of ten, then 300 that were aborted."""
    raw = Raw({**kafka.librdkafka(), "transactional.id": topics.prefix + "x"})
    raw.init_transactions()
    for begin in range(0, 2_000, 10):
        raw.begin_transaction()
        for number in range(begin, begin + 10):
            raw.produce(topics.batches, b"%d" % number)
        raw.commit_transaction()
    raw.begin_transaction()
    for number in range(2_000, 2_300):
        raw.produce(topics.batches, b"%d" % number)
    raw.flush()
    raw.abort_transaction()
    return LightKafka(kafka.kafka_python())


def test_the_newest_that_is_wanted(filled: LightKafka, topics: Topics) -> None:
    reader = filled.reader()
    reader.assign(topics.batches)
    for above, below, found in ((0, 3_000, b"1999"), (1_000, 1_500, b"1499"), (-1, 1, b"0"), (5_000, 6_000, None)):
        record = reader.newest(lambda record, above=above, below=below: above <= int(record.value or b"-1") < below)
        assert (record.value if record is not None else None) == found
    [(_, offset)] = filled.send(topics.batches, [(None, b"7777")])
    came = [record for _ in range(20) for record in reader.poll()]
    assert [record.offset for record in came] == [offset]
    reader.close()
    filled.close()


def test_a_topic_that_is_not_there_has_none(kafka: KafkaProperties, topics: Topics) -> None:
    reader = LightKafka(kafka.kafka_python()).reader()
    reader.assign(topics.prefix + "nowhere")
    assert reader.newest(lambda record: True) is None
    reader.close()
