from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from connectors.kafka.producer import Producer
from connectors.kafka.properties import KafkaProperties
from connectors.kafka.reader import Reader
from connectors.record import OutRecord
from connectors.topics import Topics
from tests.connectors.small_log import Published, SmallLog, small_log
from tidewire import cli
from tidewire.history.replay_target import ReplayPlan

pytestmark = pytest.mark.broker
DDL = b"CREATE TABLE stock (id BIGINT PRIMARY KEY, price BIGINT) WITH ('topic'='%s')"


def filled(folder: Path, topic: str, count: int = 300) -> SmallLog:
    log = small_log(folder)
    for version in range(3):
        first = version * count // 6
        offsets = range(first, first + count // 6)
        log.commit([row(topic, partition, offset) for offset in offsets for partition in range(2)])
    return log


def row(topic: str, partition: int, offset: int) -> Published:
    value = None if offset == 3 else b"v%d" % offset
    return Published(topic, partition, offset, b"%d" % offset, value, (offset + 1) * 1000)


def options(kafka: KafkaProperties, topics: Topics, log: SmallLog, into: str) -> list[str]:
    return ["--bootstrap", kafka.bootstrap, "--prefix", topics.prefix, "--log-table", log.uri, "--into", into, "--json"]


def test_into_another_prefix_and_on_after_a_kill(
    kafka: KafkaProperties, topics: Topics, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    topic, into = topics.prefix + "stock", topics.prefix + "again."
    log = filled(tmp_path, topic)
    producer = Producer(kafka)
    producer.send(OutRecord(topics.catalog, 0, None, DDL % topic.encode()))
    producer.send(OutRecord(topics.catalog, 0, None, b"CREATE JOIN stock"))
    producer.send(OutRecord(topics.catalog, 0, None, b"CREATE VIEW v WITH ('topic'='out') AS SELECT id FROM stock"))
    producer.flush()
    given = options(kafka, topics, log, into)
    slow = subprocess.Popen([sys.executable, "-m", "tidewire", "replay", *given, "--speed", "0.05"])
    reader = Reader(kafka)
    while reader.admin.topics().get(into + topic) != 2 or sum(reader.admin.end_offsets(into + topic).values()) < 10:
        assert slow.poll() is None
    os.kill(slow.pid, signal.SIGKILL)
    slow.wait()
    assert cli.run(["replay", *given]) == 0
    done = json.loads(capsys.readouterr().out)
    assert (done["total"], done["sent"] + done["earlier"]) == (300, 300)
    assert done["earlier"] >= 10
    for partition in range(2):
        found = list(reader.read_to_end(into + topic, [partition]))
        assert [(r.key, r.timestamp) for r in found] == [(b"%d" % i, i + 1) for i in range(150)]
        assert [r.offset for r in found if r.value is None] == [3]
    declared, joined, viewed = reader.read_to_end(into + "catalog")
    assert viewed.value == f"CREATE VIEW v WITH ('topic'='{into}out') AS SELECT id FROM stock".encode()
    assert declared.value is not None and joined.value == b"CREATE JOIN stock"
    assert f"'topic'='{into}{topic}'".encode() in declared.value


def test_another_replay_into_the_same_prefix_is_refused(
    kafka: KafkaProperties, topics: Topics, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    topic, into = topics.prefix + "stock", topics.prefix + "again."
    given = options(kafka, topics, filled(tmp_path, topic, 60), into)
    assert cli.run(["replay", *given, "--from", "1", "--to", "1"]) == 0
    assert json.loads(capsys.readouterr().out)["sent"] == 20
    assert cli.run(["replay", *given, "--from", "0"]) == 2
    assert "hold another replay" in capsys.readouterr().err
    assert cli.run(["replay", *given]) == 0
    assert json.loads(capsys.readouterr().out)["earlier"] == 20


def test_topics_that_somebody_else_has_filled_are_left_alone(
    kafka: KafkaProperties, topics: Topics, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    topic, into = topics.prefix + "stock", topics.prefix + "again."
    reader = Reader(kafka)
    reader.admin.create_topic(into + topic, 1)
    producer = Producer(kafka)
    producer.send(OutRecord(into + topic, 0, None, b"theirs"))
    producer.flush()
    assert cli.run(["replay", *options(kafka, topics, filled(tmp_path, topic, 6), into)]) == 2
    assert "holds records that no replay wrote" in capsys.readouterr().err


def test_a_plan_remembers_its_cuts() -> None:
    from connectors.log.cut import Place

    cuts = {"s": Place(1, {0: 2})}, {"s": Place(1, {0: 5, 1: 6})}
    assert ReplayPlan.of("log", *cuts).cuts == cuts
