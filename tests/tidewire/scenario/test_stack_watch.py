"""What is seen of a stack whose topics are lists: when a step is over, what was delivered, and how a wait ends."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from connectors.kafka.record import KafkaRecord
from connectors.record import OutRecord
from connectors.topics import Topics
from operators.control import Progress, encode_control
from tidewire.scenario import stack_watch as module
from tidewire.scenario.stack_watch import StackEnded, StackWatch, StepTimeout
from tidewire.stack.data_directory import DataDirectory

TOPICS = Topics("sc.")
EDGES = 2
Happening = Callable[[], object]


class Cluster:
    """Topics; with each poll of whatever topic the next of `later` happens, until there is none."""

    def __init__(self) -> None:
        self.logs: dict[str, list[KafkaRecord]] = {}
        self.later: list[Happening] = []
        self.sent: list[OutRecord] = []
        self.flushed = 0
        self.closed: list[str] = []

    def write(self, topic: str, partition: int, key: bytes | None, value: dict[str, Any] | bytes) -> None:
        log = self.logs.setdefault(topic, [])
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        log.append(KafkaRecord(topic, partition, len(log), 0, key, data))

    def commit(self, batch: int, **ends: int) -> None:
        progress = Progress(1, batch, 0, "t", {}, {topic: {"0": end} for topic, end in ends.items()})
        self.write(TOPICS.batches, 0, None, encode_control(progress))

    def passed(self, edge: int, batch: int, epoch: int = 1) -> None:
        told = {"kind": "progress", "epoch": epoch, "batch": batch, "time": "t"}
        self.write(TOPICS.deliveries, edge, b"@progress", told)

    def deliver(self, id: str, kind: str, version: int = 0, **said: Any) -> dict[str, Any]:
        told = {"id": id, "kind": kind, "version": version, **said}
        self.write(TOPICS.deliveries, 0, id.encode(), told)
        return told


class Reader:
    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.topic, self.place = cluster, "", 0

    def assign(self, topic: str) -> None:
        self.topic = topic

    def partitions(self, topic: str) -> range:
        return range(EDGES)

    def poll(self, seconds: float) -> list[KafkaRecord]:
        found = self.cluster.logs.get(self.topic, [])[self.place :]
        self.place += len(found)
        if not found and self.cluster.later:
            self.cluster.later.pop(0)()
        return found

    def close(self) -> None:
        self.cluster.closed.append(self.topic)


class Clients:
    """Stands for the admin, the producer, the client and Kafka itself."""

    topics = TOPICS

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    def reader(self) -> Reader:
        return Reader(self.cluster)

    def end_offsets(self, topic: str) -> dict[int, int]:
        return {0: len(self.cluster.logs.get(topic, []))}

    def send(self, *what: Any) -> Any:
        if len(what) == 1:
            self.cluster.sent.append(what[0])
            return None
        topic, pairs = what
        for key, value in pairs:
            self.cluster.write(topic, 0, key, value)
        return [(0, len(self.cluster.logs[topic]) - 1)]

    def flush(self) -> None:
        self.cluster.flushed += 1

    def close(self) -> None:
        self.cluster.closed.append("clients")


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


@pytest.fixture
def directory(tmp_path: Path) -> DataDirectory:
    made = DataDirectory(tmp_path)
    made.run.mkdir(parents=True)
    made.write_status(status("ready", 7))
    return made


def status(state: str, pid: int | None) -> dict[str, Any]:
    children = [{"name": "broker", "pid": 3, "state": "ready"}, {"name": "engine", "pid": pid, "state": state}]
    return {"pid": os.getpid(), "bootstrap": "127.0.0.1:1", "prefix": "sc.", "children": children}


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch, cluster: Cluster, directory: DataDirectory) -> StackWatch:
    for name in ("Client", "Admin", "Producer", "LightKafka"):
        monkeypatch.setattr(module, name, lambda *_: Clients(cluster))
    monkeypatch.setattr(module, "_POLL_SECONDS", 0.0)
    return StackWatch(status("ready", 7), directory)


def test_a_step_is_over_when_every_edge_has_passed_the_batch_that_read_all(cluster: Cluster, watch: StackWatch) -> None:
    cluster.write("stock", 0, b"a", b"1")
    cluster.write("stock", 0, b"b", b"1")
    cluster.later = [
        partial(cluster.commit, 4, stock=1),
        partial(cluster.commit, 5, stock=2),
        partial(cluster.passed, 0, 5),
        partial(cluster.passed, 1, 4),
        partial(cluster.passed, 1, 9, epoch=0),
        partial(cluster.passed, 1, 6),
        too_late := partial(cluster.passed, 0, 6),
    ]
    watch.await_settled(["stock"])
    assert cluster.flushed == 1 and cluster.later == [too_late]


def test_nothing_is_waited_for_where_nothing_was_written(cluster: Cluster, watch: StackWatch) -> None:
    watch.await_settled([])
    assert cluster.flushed == 1


def test_records_are_sent_as_they_are(cluster: Cluster, watch: StackWatch) -> None:
    watch.send("stock", [(b"k", b"v"), (None, b"v"), (b"k", None)])
    assert cluster.sent == [OutRecord("stock", None, *pair) for pair in ((b"k", b"v"), (None, b"v"), (b"k", None))]


def test_the_first_word_on_a_subscription_is_that_on_its_own_version(cluster: Cluster, watch: StackWatch) -> None:
    def ack(id: str, version: int, said: str) -> Happening:
        return lambda: cluster.write(TOPICS.acks, 0, id.encode(), {"id": id, "version": version, "status": said})

    cluster.write(TOPICS.subscriptions, 0, b"s", b"{}")
    cluster.later = [ack("s", 0, "live"), ack("t", 1, "live"), ack("s", 1, "refused"), ack("s", 0, "ended")]
    made = watch.register("s", b"{}")
    assert (made.version, made.status) == (1, "refused") and len(cluster.later) == 1


def test_what_was_delivered_since(cluster: Cluster, watch: StackWatch) -> None:
    first = [cluster.deliver("s", "snapshot", n=1), cluster.deliver("s", "change", n=2)]
    other = cluster.deliver("t", "snapshot", n=1)
    assert watch.take("s") == first and watch.take("s") == []
    more = cluster.deliver("s", "change", n=3)
    assert watch.take("s") == [more] and watch.take("t") == [other] and watch.take("none") == []


def test_versions_begin_and_end(cluster: Cluster, watch: StackWatch) -> None:
    cluster.deliver("s", "snapshot", 0)
    cluster.deliver("s", "ended", 0)
    cluster.deliver("s", "change", 1)
    watch.await_begun("s", 0)
    watch.await_ended("s", 0)
    for wait in (watch.await_begun, watch.await_ended):
        with pytest.raises(StepTimeout, match=r"waited 0 s for the (snapshot|end) of `s`; the logs are below"):
            wait("s", 1, 0.0)
    cluster.later = [lambda: None, partial(cluster.deliver, "s", "snapshot", 1)]
    watch.await_begun("s", 1, 60.0)


def test_a_stack_that_has_ended_says_its_last_words(
    cluster: Cluster, watch: StackWatch, directory: DataDirectory
) -> None:
    watch.check()
    directory.logs.mkdir(parents=True, exist_ok=True)
    (directory.logs / "up.log").write_text("the broker has no room\n")
    gone = status("ready", 7) | {"pid": 2**22 + 1}
    directory.write_status(gone)
    cluster.write("stock", 0, b"a", b"1")
    for waits in (watch.check, lambda: watch.await_settled(["stock"]), lambda: watch.await_begun("s", 0)):
        with pytest.raises(StackEnded, match="the broker has no room"):
            waits()


def test_an_engine_is_asked_to_stop_and_waited_for(
    monkeypatch: pytest.MonkeyPatch, watch: StackWatch, directory: DataDirectory
) -> None:
    asked: list[tuple[int, int]] = []
    states = [
        status("ready", 7),
        status("waiting", None),
        status("starting", 8),
        status("starting", 8),
        status("ready", 8),
    ]

    def pause() -> bool:
        directory.write_status(states.pop(0))
        return False

    monkeypatch.setattr(module, "_pause", pause)
    monkeypatch.setattr(module.os, "kill", lambda pid, number: asked.append((pid, number)) if number else None)
    watch.await_restarted()
    assert asked == [(7, signal.SIGTERM)] and states == []


def test_it_leaves_all_that_it_has_joined(cluster: Cluster, watch: StackWatch) -> None:
    watch.close()
    assert sorted(cluster.closed) == sorted([TOPICS.acks, TOPICS.batches, TOPICS.deliveries, "clients", "clients"])
