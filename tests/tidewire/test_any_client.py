"""Any Kafka client will do: `docs/clients.md`, tried with kafka-python, confluent-kafka and Kafka's console tools.

An edge is real; the engine is written by hand.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from connectors.kafka.partitioner import home_partition
from connectors.kafka.properties import KafkaProperties
from connectors.kafka.reader import Reader
from connectors.topics import Topics
from tests.conftest import TEST_VIRTUAL_EDGES
from tests.overlay.hand_engine import SQL, HandEngine
from tests.overlay.process.test_edge_process import edge, started
from tidewire.stack.failure import RequirementError
from tidewire.stack.jars import JarSet, jar_directories, read_jar_sets, require_jars
from tidewire.stack.java import find_java

pytestmark = pytest.mark.broker

Pair = tuple[bytes, bytes]
CONSOLE = JarSet(
    "console",
    ("org.apache.kafka:kafka-tools:4.2.2",),
    (
        "com.fasterxml.jackson.core",
        "jakarta.servlet",
        "org.glassfish.jersey.core",
        "org.slf4j",
        "org.apache.logging.log4j",
    ),
    {"kafka-tools-4.2.2.jar": "894caaca48b11d351cbe1f27d58c7a3c09ff22563bf3ab4bccf1ef69933e099c"},
)
"""Kafka's console tools, which have a jar of their own beside the broker's."""
OVER = (
    b"ERROR Error processing message, terminating consumer process: \norg.apache.kafka.common.errors.TimeoutException"
)
"""What the console consumer says when nothing more has come within its time."""


class KafkaPython:
    """The defaults of its producer are right: murmur2, and bytes as they are."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap

    def write(self, topic: str, key: bytes, value: bytes | None) -> None:
        from kafka import KafkaProducer

        producer = KafkaProducer(bootstrap_servers=self._bootstrap, acks="all")
        producer.send(topic, key=key, value=value).get(timeout=30)
        producer.close()

    def read(self, topic: str) -> list[Pair]:
        from kafka import KafkaConsumer, TopicPartition

        settings = {"isolation_level": "read_committed", "enable_auto_commit": False, "group_id": None}
        consumer = KafkaConsumer(bootstrap_servers=self._bootstrap, **settings)
        places = [TopicPartition(topic, number) for number in consumer.partitions_for_topic(topic) or ()]
        consumer.assign(places)
        consumer.seek_to_beginning(*places)
        found, ends = list[Pair](), consumer.end_offsets(places)
        while any(consumer.position(place) < end for place, end in ends.items()):
            for records in consumer.poll(timeout_ms=200).values():
                found += [(record.key, record.value) for record in records]
        consumer.close()
        return found


class ConfluentKafka:
    """librdkafka's default partitioner is another one (crc32): it has to be told."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap

    def write(self, topic: str, key: bytes, value: bytes | None) -> None:
        from confluent_kafka import Producer

        producer = Producer({"bootstrap.servers": self._bootstrap, "partitioner": "murmur2_random"})
        producer.produce(topic, value, key)
        assert producer.flush(30) == 0

    def read(self, topic: str) -> list[Pair]:
        from confluent_kafka import Consumer

        settings = {"group.id": f"any-{time.time()}", "auto.offset.reset": "earliest", "enable.partition.eof": True}
        consumer = Consumer({"bootstrap.servers": self._bootstrap, "isolation.level": "read_committed", **settings})
        consumer.subscribe([topic])
        found, ends = list[Pair](), set[int]()
        while len(ends) < 4:
            message = consumer.poll(10)
            assert message is not None, "nothing came in 10 s"
            if message.error():
                ends.add(message.partition())
            else:
                found.append((message.key(), message.value()))
        consumer.close()
        return found


class ConsoleTools:
    """`kafka-console-producer` and `kafka-console-consumer`, which have the Java client's defaults."""

    def __init__(self, bootstrap: str, folder: Path) -> None:
        chosen = os.environ.get("TIDEWIRE_JARS_DIR")
        directories = jar_directories(folder, Path(chosen) if chosen else None)
        try:
            jars = [*require_jars(CONSOLE, directories), *require_jars(read_jar_sets()["broker"], directories)]
        except RequirementError as error:
            pytest.skip(f"the console tools could not be fetched: {error}")
        self._java = [str(find_java().program), "-cp", os.pathsep.join(map(str, jars))]
        self._bootstrap = bootstrap

    def write(self, topic: str, key: bytes, value: bytes | None) -> None:
        options = ["--reader-property", "parse.key=true", "--reader-property", "key.separator=\t"]
        options += ["--reader-property", "null.marker=NULL"]
        text = key + b"\t" + (b"NULL" if value is None else value) + b"\n"
        self._run("org.apache.kafka.tools.ConsoleProducer", topic, options, text)

    def read(self, topic: str) -> list[Pair]:
        options = ["--from-beginning", "--isolation-level", "read_committed", "--timeout-ms", "5000"]
        options += ["--formatter-property", "print.key=true", "--formatter-property", "key.separator=\t"]
        said = self._run("org.apache.kafka.tools.consumer.ConsoleConsumer", topic, options, b"")
        return [(key, value) for key, tab, value in (line.partition(b"\t") for line in said.splitlines()) if tab]

    def _run(self, tool: str, topic: str, options: list[str], text: bytes) -> bytes:
        command = [*self._java, tool, "--bootstrap-server", self._bootstrap, "--topic", topic, *options]
        done = subprocess.run(command, input=text, capture_output=True, timeout=60, check=False)
        complaints = done.stdout.replace(OVER, b"")
        assert b"rror" not in complaints, (done.stdout, done.stderr)
        return done.stdout


@pytest.fixture(params=["kafka-python", "confluent-kafka", "console"])
def any_client(request: pytest.FixtureRequest, broker: str, tmp_path: Path) -> Any:
    if request.param == "console":
        return ConsoleTools(broker, tmp_path)
    return KafkaPython(broker) if request.param == "kafka-python" else ConfluentKafka(broker)


def news(records: Iterable[Pair]) -> Iterator[dict[str, Any]]:
    """What `docs/clients.md` asks of a consumer: each delivery once, whatever is read again."""
    seen: dict[str, tuple[int, int]] = {}
    for key, value in records:
        if key == b"@progress":
            continue
        delivery = json.loads(value)
        place = delivery["version"], delivery["n"]
        if place > seen.get(delivery["id"], (-1, -1)):
            seen[delivery["id"]] = place
            yield delivery


def until_status(read: Callable[[str], list[Pair]], topics: Topics, wanted: dict[str, str]) -> None:
    deadline = time.monotonic() + 60
    while True:
        acks = {key.decode(): json.loads(value)["status"] for key, value in read(topics.acks)}
        if {id: acks.get(id) for id in wanted} == wanted:
            return
        assert time.monotonic() < deadline, acks


def test_it_registers_hears_and_unsubscribes(any_client: Any, kafka: KafkaProperties, topics: Topics) -> None:
    names = [f"any-{number}" for number in range(3)]
    look = KafkaPython(kafka.bootstrap).read
    with edge(kafka, topics):
        engine: HandEngine = started(kafka, topics)
        for name in names:
            any_client.write(topics.subscriptions, name.encode(), json.dumps({"sql": SQL}).encode())
        any_client.write(topics.subscriptions, b"wrong", b'{"sql": "SELECT"}')
        until_status(look, topics, dict.fromkeys(names, "accepted") | {"wrong": "refused"})
        engine.run_batch(5, 4)
        engine.run_batch(3)
        until_status(look, topics, dict.fromkeys(names, "live"))
        engine.run_batch(2)
        any_client.write(topics.subscriptions, names[0].encode(), None)
        until_status(look, topics, {names[0]: "ended"})
    records = any_client.read(topics.deliveries)
    told = list(news([*records, *records]))
    for name in names:
        mine = [delivery for delivery in told if delivery["id"] == name]
        assert [delivery["n"] for delivery in mine] == list(range(1, len(mine) + 1))
        assert mine[0]["kind"] == "snapshot"
        assert all(after["old"] == before["new"] for before, after in pairwise(mine))
    last = [delivery for delivery in told if delivery["id"] == names[0]][-1]
    assert (last["kind"], last["reason"]) == ("ended", "unsubscribed")


def test_a_client_with_another_partitioner_is_told_where_its_record_was_written(
    kafka: KafkaProperties, topics: Topics
) -> None:
    from confluent_kafka import Message, Producer

    written: dict[str, tuple[int, int]] = {}

    def note(_: object, message: Message) -> None:
        written[(message.key() or b"").decode()] = message.partition() or 0, message.offset() or 0

    with edge(kafka, topics):
        started(kafka, topics)
        producer = Producer({"bootstrap.servers": kafka.bootstrap})
        for number in range(8):
            value = json.dumps({"sql": SQL}).encode()
            producer.produce(topics.subscriptions, value, f"crc-{number}".encode(), on_delivery=note)
        producer.flush(30)
        said: dict[str, str] = {}
        deadline = time.monotonic() + 60
        while said.keys() != written.keys():
            assert time.monotonic() < deadline
            for record in Reader(kafka).read_to_end(topics.acks):
                ack = json.loads(record.value or b"")
                if written.get(ack["id"]) == (record.partition, ack["version"]):
                    said[ack["id"]] = ack.get("code", ack["status"])
        homes = {id: home_partition(id.encode(), TEST_VIRTUAL_EDGES) for id in written}
        assert said == {
            id: "wrong_partition" if partition != homes[id] else said[id] for id, (partition, _) in written.items()
        }
        assert "wrong_partition" in said.values()
