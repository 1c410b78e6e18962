"""The client against a real broker; edge and engine are played by the test, record by record."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from connectors.kafka.admin import Admin
from connectors.kafka.partitioner import home_partition
from connectors.kafka.producer import Producer
from connectors.kafka.properties import KafkaProperties
from connectors.kafka.reader import Reader
from connectors.record import OutRecord
from connectors.topics import Topics
from operators.control import Progress as EngineProgress
from operators.control import encode_control
from state.errors import UserError
from tests.conftest import TEST_VIRTUAL_EDGES
from tidewire import Client, Delivery, Progress, Refused
from tidewire.client.failures import NotAnswered
from tidewire.client.stream_topic import CompactedTopic

pytestmark = pytest.mark.broker

DDL = "CREATE TABLE stock (symbol VARCHAR PRIMARY KEY, price DECIMAL(12,2))"


@pytest.fixture
def client(broker: str, topics: Topics) -> Iterator[Client]:
    with Client(broker, topics.prefix) as client:
        yield client


@pytest.fixture
def stock(topics: Topics, kafka: KafkaProperties) -> Iterator[str]:
    """A declaration whose topic no other test has."""
    name = topics.prefix + "stock"
    yield f"{DDL} WITH ('topic'='{name}')"
    Admin(kafka).delete_topics([name])


def write(kafka: KafkaProperties, *records: OutRecord) -> None:
    producer = Producer(kafka)
    for record in records:
        producer.send(record)
    producer.flush()


def progress(kafka: KafkaProperties, topics: Topics, catalog: int) -> None:
    write(kafka, OutRecord(topics.batches, 0, None, encode_control(EngineProgress(1, 0, catalog, "t"))))


def delivery(topics: Topics, id: str, **fields: Any) -> OutRecord:
    body = {"id": id, "kind": "change", "version": 0, "n": 1, "old": None, "new": 1, "at": {"epoch": 1, "batch": 0}}
    partition = home_partition(id.encode(), TEST_VIRTUAL_EDGES)
    return OutRecord(topics.deliveries, partition, id.encode(), json.dumps(body | fields).encode())


def test_apply_waits_until_the_version_is_announced(
    client: Client, topics: Topics, kafka: KafkaProperties, stock: str
) -> None:
    announced = threading.Timer(1.0, progress, (kafka, topics, 0))
    announced.start()
    began = time.monotonic()
    assert client.apply(stock, timeout=120) == 0
    assert time.monotonic() - began > 0.5
    assert client.apply(stock, timeout=120) == 0, "the same text again changes nothing and is not written"
    assert Admin(kafka).partitions(topics.prefix + "stock") == 4


def test_a_stream_gets_a_topic_and_on_a_compacted_one_nothing_is_made(
    client: Client, topics: Topics, kafka: KafkaProperties, stock: str
) -> None:
    admin, ticks = Admin(kafka), topics.prefix + "ticks"
    stream = f"CREATE STREAM tick (ts TIMESTAMP) WITH ('topic'='{ticks}', 'event_time'='ts', 'lateness'='1 s')"
    admin.create_topic(topics.prefix + "compacted", config={"cleanup.policy": "compact"})
    with pytest.raises(CompactedTopic):
        client.apply(f"{stock}; {stream.replace(ticks, topics.prefix + 'compacted')}", timeout=0)
    assert topics.prefix + "stock" not in admin.topics()
    assert client.apply(stream, timeout=0) == 0
    assert ticks in admin.topics()


def test_apply_says_that_nobody_announces_it(client: Client, stock: str) -> None:
    with pytest.raises(NotAnswered, match="version 0 is written, but no engine has announced it"):
        client.apply(stock, timeout=1)


def test_a_wrong_catalog_is_refused_before_it_is_written(
    client: Client, topics: Topics, kafka: KafkaProperties
) -> None:
    with pytest.raises(UserError, match="no primary key"):
        client.apply("CREATE TABLE stock (symbol VARCHAR)")
    assert Admin(kafka).end_offsets(topics.catalog) == {0: 0}


def test_rows_and_deletes_are_written_as_the_decoder_wants_them(
    client: Client, topics: Topics, kafka: KafkaProperties, stock: str
) -> None:
    client.apply(stock, timeout=0, partitions=1)
    assert client.publish("stock", [{"symbol": "A", "price": "10.5"}, {"symbol": "B", "price": None}]) == 2
    assert client.delete("stock", ["A", {"symbol": "B"}]) == 2
    records = [(r.key, r.value) for r in Reader(kafka).read_to_end(topics.prefix + "stock")]
    assert records == [
        (b'{"symbol":"A"}', b'{"symbol":"A","price":"10.50"}'),
        (b'{"symbol":"B"}', b'{"symbol":"B","price":null}'),
        (b'{"symbol":"A"}', None),
        (b'{"symbol":"B"}', None),
    ]


def test_a_bad_row_is_refused_before_any_is_written(
    client: Client, topics: Topics, kafka: KafkaProperties, stock: str
) -> None:
    client.apply(stock, timeout=0, partitions=1)
    with pytest.raises(UserError, match="price"):
        client.publish("stock", [{"symbol": "A", "price": "1"}, {"symbol": "B", "price": "1.234"}])
    assert list(Reader(kafka).read_to_end(topics.prefix + "stock")) == []
    with pytest.raises(UserError, match="Did you mean `stock`"):
        client.publish("stocks", [])


def answer_acks(kafka: KafkaProperties, topics: Topics, answers: dict[str, dict[str, Any]]) -> threading.Thread:
    """Play the edge: ack each subscription as `answers` says."""

    def play() -> None:
        seen = 0
        for record in Reader(kafka).tail(topics.subscriptions, dict.fromkeys(range(TEST_VIRTUAL_EDGES), 0)):
            if record is None or record.key is None:
                continue
            id = record.key.decode()
            for status in ({"status": "accepted"}, answers[id]):
                ack = {"id": id, "version": record.offset} | status
                write(kafka, OutRecord(topics.acks, record.partition, record.key, json.dumps(ack).encode()))
            seen += 1
            if seen == len(answers):
                return

    thread = threading.Thread(target=play, daemon=True)
    thread.start()
    return thread


def test_subscribe_returns_when_live_and_raises_when_refused(
    client: Client, topics: Topics, kafka: KafkaProperties
) -> None:
    refusal = {"status": "refused", "code": "unknown_table", "message": "there is no table `t`", "hint": "Declare it."}
    answers = {"good": {"status": "live", "at": {"epoch": 1, "batch": 4}}, "bad": refusal}
    edge = answer_acks(kafka, topics, answers)
    ack = client.subscribe("good", "SELECT MIN(price) FROM stock")
    assert (ack.status, ack.at.batch if ack.at else None) == ("live", 4)
    with pytest.raises(Refused, match="no table `t`") as refused:
        client.subscribe("bad", template="SELECT MIN(x) FROM t WHERE y = ?", params=[1])
    assert (refused.value.ack_code, refused.value.hint) == ("unknown_table", "Declare it.")
    edge.join(120)


def test_subscribe_says_who_does_not_answer(client: Client) -> None:
    with pytest.raises(NotAnswered, match="`s` first, are not live after 1 s: no edge has answered"):
        client.subscribe("s", "SELECT MIN(price) FROM stock", timeout=1)
    with pytest.raises(UserError, match="exactly one"):
        client.subscribe("s")


def test_unsubscribe_writes_a_tombstone(client: Client, topics: Topics, kafka: KafkaProperties) -> None:
    client.unsubscribe("s")
    [record] = Reader(kafka).read_to_end(topics.subscriptions)
    assert (record.key, record.value) == (b"s", None)


def test_deliveries_come_typed_from_where_they_were_asked_for(
    client: Client, topics: Topics, kafka: KafkaProperties
) -> None:
    told = OutRecord(
        topics.deliveries, home_partition(b"s", 4), b"@progress", b'{"kind":"progress","epoch":1,"batch":2}'
    )
    write(kafka, delivery(topics, "s", n=1), delivery(topics, "other", n=1))
    with client.deliveries(["s"], progress=True) as stream:
        write(kafka, delivery(topics, "s", n=2, old=1, new=2), told, delivery(topics, "other", n=2))
        assert [next(stream), next(stream)] == [
            Delivery("s", "change", 0, 2, next(client.deliveries(["s"], from_beginning=True)).at, 1, 2),
            Progress(1, 2),
        ]
    with client.deliveries(follow=False, from_beginning=True) as stream:
        found = [(d.id, d.n) for d in stream if isinstance(d, Delivery)]
        assert sorted(found) == [("other", 1), ("other", 2), ("s", 1), ("s", 2)]
    newest = client.answer("s")
    assert newest is not None and newest.new == 2
    assert client.answer("nobody") is None


def test_an_aborted_transaction_is_never_seen(client: Client, topics: Topics, kafka: KafkaProperties) -> None:
    from confluent_kafka import Producer as Raw

    raw = Raw({**kafka.librdkafka(), "transactional.id": topics.prefix + "x"})
    raw.init_transactions()
    raw.begin_transaction()
    lost = delivery(topics, "s", n=1)
    raw.produce(lost.topic, lost.value, lost.key, partition=lost.partition or 0)
    raw.flush()
    raw.abort_transaction()
    raw.begin_transaction()
    kept = delivery(topics, "s", n=2)
    raw.produce(kept.topic, kept.value, kept.key, partition=kept.partition or 0)
    raw.commit_transaction()
    with client.deliveries(["s"], follow=False, from_beginning=True) as stream:
        assert [d.n for d in stream if isinstance(d, Delivery)] == [2]
