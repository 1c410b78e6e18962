"""An edge process from start to stop: waiting, serving, redirecting, trimming, losing notifications."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import msgspec
import pytest

from connectors.http.address import parse_address
from connectors.http.rules import HttpRules
from connectors.http.served_addresses import ServedAddresses
from connectors.kafka.admin import Admin
from connectors.kafka.partitioner import home_partition
from connectors.kafka.producer import Producer
from connectors.kafka.properties import KafkaProperties
from connectors.kafka.reader import Reader
from connectors.record import OutRecord
from connectors.topics import Topics
from operators.record_error import NEWEST_FORMAT
from overlay.process.edge_config import EdgeConfig
from overlay.process.edge_process import EdgeProcess
from tests.conftest import TEST_VIRTUAL_EDGES
from tests.overlay.hand_engine import HandEngine
from tidewire.stack.service import CANNOT_GO_ON

pytestmark = pytest.mark.broker
SECONDS = 120.0
ROOT = Path(__file__).parents[3]


@contextmanager
def edge(kafka: KafkaProperties, topics: Topics, **settings: object) -> Iterator[EdgeProcess]:
    """Run an edge in a thread; fails the test if it ends with an error."""
    config = replace(EdgeConfig(kafka, topics, session_seconds=2.0), **settings)
    process, stop, failures = EdgeProcess(config), threading.Event(), []

    def run() -> None:
        try:
            process.run(stop)
        except Exception as error:  # shown by the assertion below
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield process
    finally:
        stop.set()
        thread.join(SECONDS)
    assert failures == [] and not thread.is_alive()


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def url(process: EdgeProcess) -> str:
    until(lambda: process.answers.state == "running")
    return f"http://{process.answers.health()[1]['address']}"


def acks(kafka: KafkaProperties, topics: Topics) -> list[dict[str, object]]:
    return [msgspec.json.decode(record.value or b"{}") for record in Reader(kafka).read_to_end(topics.acks)]


def started(kafka: KafkaProperties, topics: Topics) -> HandEngine:
    engine = HandEngine(kafka, topics, TEST_VIRTUAL_EDGES)
    engine.declare()
    engine.begin()
    return engine


def serve(engine: HandEngine, *names: str) -> None:
    """Subscribe, and run batches until all are answered."""
    engine.subscribe(*names)
    answered: list[int] = []
    until(lambda: answered.append(engine.run_batch(engine.value + 1)) or sum(answered) >= len(names))  # type: ignore[func-returns-value]


def test_it_waits_for_its_topics_and_then_serves(kafka: KafkaProperties, prefix: str) -> None:
    topics, admin = Topics(prefix), Admin(kafka)
    with edge(kafka, topics) as process:
        until(lambda: "subscriptions" in process.answers.state)
        admin.ensure_topics(topics, TEST_VIRTUAL_EDGES)
        serve(started(kafka, topics), "one")
        address = url(process)
        until(lambda: httpx.get(f"{address}/subscriptions/one", timeout=60).json().get("status") == "live")
        assert httpx.get(f"{address}/subscriptions/two", timeout=60).status_code == 404
        assert httpx.get(f"{address}/health", timeout=60).status_code == 200
    admin.delete_topics([name for name in admin.topics() if name.startswith(prefix)])


def test_it_stops_while_there_is_no_broker() -> None:
    with edge(KafkaProperties("127.0.0.1:1"), Topics("nowhere.")) as process:
        until(lambda: "no Kafka broker answers" in process.answers.state)


def test_another_edge_is_where_it_says(kafka: KafkaProperties, topics: Topics) -> None:
    with edge(kafka, topics) as first, edge(kafka, topics) as second:
        engine = started(kafka, topics)
        names = [next(f"s{i}" for i in range(99) if home_partition(f"s{i}".encode(), 4) == home) for home in range(4)]
        until(lambda: all(len(edge.answers.health()[1].get("virtual_edges", ())) == 2 for edge in (first, second)))
        serve(engine, *names)
        addresses = [url(first), url(second)]
        for name in names:
            until(lambda name=name: _answer(addresses[0], name).get("n", 0) >= 1)  # type: ignore[misc]
            until(lambda name=name: _answer(addresses[1], name).get("id") == name)  # type: ignore[misc]
        until(lambda: sorted(_status(addresses[0], name) for name in names) == [200, 200, 307, 307])


def test_another_edge_is_where_it_advertises(kafka: KafkaProperties, topics: Topics) -> None:
    """Its scheme and its path travel through the group's description on the broker."""
    far = HttpRules(served=ServedAddresses(advertised=parse_address("https://far.example:8443/base")))
    with edge(kafka, topics) as here, edge(kafka, topics, rules=far) as there:
        started(kafka, topics)
        until(lambda: all(len(edge.answers.health()[1].get("virtual_edges", ())) == 2 for edge in (here, there)))
        owned = dict(there.answers.health()[1]["virtual_edges"])
        name = next(f"s{i}" for i in range(99) if home_partition(f"s{i}".encode(), 4) == int(next(iter(owned))))
        asked = f"{url(here)}/subscriptions/{name}/events?progress=3"
        until(lambda: httpx.get(asked, timeout=60).status_code == 307)
        told = httpx.get(asked, timeout=60).headers["location"]
        assert told == f"https://far.example:8443/base/subscriptions/{name}/events?progress=3"


def test_apply_then_subscribe_is_never_refused(kafka: KafkaProperties, topics: Topics) -> None:
    with edge(kafka, topics):
        started(kafka, topics).subscribe("good")
        until(lambda: [ack["status"] for ack in acks(kafka, topics)] == ["accepted"])


def test_an_unknown_table_is_refused_without_waiting_for_more(kafka: KafkaProperties, topics: Topics) -> None:
    with edge(kafka, topics):
        engine = started(kafka, topics)
        engine.subscribe("bad", sql="SELECT MIN(v) FROM nowhere")
        until(lambda: [ack.get("code") for ack in acks(kafka, topics)] == ["unknown_table"])


def test_old_state_is_trimmed_below_a_snapshot(kafka: KafkaProperties, topics: Topics) -> None:
    with edge(kafka, topics, snapshot_floor=2_000) as process:
        engine = started(kafka, topics)
        serve(engine, *[f"s{i}" for i in range(20)])
        until(lambda: engine.run_batch(engine.value + 1) == 0 and process.answers.counters.snapshots > 1)
        until(lambda: any(Admin(kafka).begin_offsets(topics.edge_state).values()))
    with edge(kafka, topics) as again:
        address = url(again)
        until(lambda: _answer(address, "s3").get("answer") == engine.value)


def test_notifications_that_were_trimmed_make_it_register_again(kafka: KafkaProperties, topics: Topics) -> None:
    with edge(kafka, topics) as process:
        engine = started(kafka, topics)
        serve(engine, "s")
        address = url(process)
        until(lambda: _answer(address, "s").get("answer") == engine.value)
    engine.run_batch(71)
    admin = Admin(kafka)
    ends = admin.end_offsets(topics.notifications)
    admin.delete_records({(topics.notifications, number): end for number, end in ends.items()})
    with edge(kafka, topics) as process:
        until(lambda: engine.run_batch(engine.value + 1) == 1)
        address = url(process)
        until(lambda: _answer(address, "s").get("answer") == engine.value)
    kinds = [
        msgspec.json.decode(record.value or b"{}")["kind"]
        for record in Reader(kafka).read_to_end(topics.deliveries)
        if record.key == b"s"
    ]
    assert kinds[0] == "snapshot"
    assert kinds.count("resync") == 1


def test_a_notification_that_cannot_be_read_makes_it_register_again(kafka: KafkaProperties, topics: Topics) -> None:
    with edge(kafka, topics) as process:
        engine = started(kafka, topics)
        serve(engine, "s")
        address = url(process)
        until(lambda: _answer(address, "s").get("answer") == engine.value)
        write(kafka, topics.notifications, b"\xff\xff\xff\xffdamaged", None, b"{")
        registered = engine.run_batch(71)  # it may be that fast
        until(lambda: registered + engine.run_batch(72) == 1)
        until(lambda: _answer(address, "s").get("answer") == 72)
        counted = process.answers.health()[1]["virtual_edges"]
        assert isinstance(counted, dict) and all(edge["losses"] == 3 for edge in counted.values())
        engine.run_batch(73)
        until(lambda: _answer(address, "s").get("answer") == 73)


def test_what_a_newer_engine_wrote_and_damaged_state_end_it_with_one_sentence(
    kafka: KafkaProperties, topics: Topics, tmp_path: Path
) -> None:
    with edge(kafka, topics) as process:
        engine = started(kafka, topics)
        serve(engine, "s")
        until(lambda: _answer(url(process), "s").get("answer") == engine.value)
    write(kafka, topics.notifications, b'{"kind":"progress","format":99}')
    end = Admin(kafka).end_offsets(topics.notifications)
    said = ended_alone(kafka, topics, tmp_path)
    assert f"`{topics.notifications}` [" in said and f"it has format 99, expected at most {NEWEST_FORMAT}" in said, said
    ends = {(topics.notifications, number): offset for number, offset in end.items()}
    Admin(kafka).delete_records(ends)
    write(kafka, topics.edge_state, b"\xffdamaged")
    said = ended_alone(kafka, topics, tmp_path)
    assert f"`{topics.edge_state}` [" in said and "cannot be taken: expected msgpack of format 2" in said, said


def write(kafka: KafkaProperties, topic: str, *values: bytes | None) -> None:
    """Write what no engine or edge writes to every partition."""
    producer = Producer(kafka, linger=0)
    for number in range(TEST_VIRTUAL_EDGES):
        for value in values:
            producer.send(OutRecord(topic, number, b"t/0", value))
    producer.flush()


def ended_alone(kafka: KafkaProperties, topics: Topics, folder: Path) -> str:
    """Run `tidewire edge` until it ends by itself; return what it says last, which is one line."""
    command = [sys.executable, "-m", "tidewire", "edge", "--http-port", "0"]
    command += ["--bootstrap", kafka.bootstrap, "--prefix", topics.prefix]
    path = os.environ | {"PYTHONPATH": str(ROOT)}
    ran = subprocess.run(command, cwd=folder, env=path, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert ran.returncode == CANNOT_GO_ON and "Traceback" not in ran.stderr, ran.stderr
    last = ran.stderr.splitlines()[-1]
    assert last.startswith("tidewire: "), ran.stderr
    return last


def _status(address: str, name: str) -> int:
    return httpx.get(f"{address}/subscriptions/{name}", timeout=60).status_code


def _answer(address: str, name: str) -> dict[str, object]:
    answer: dict[str, object] = httpx.get(f"{address}/subscriptions/{name}", timeout=60, follow_redirects=True).json()
    return answer
