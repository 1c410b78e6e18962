"""Edges are killed, stopped and woken as zombies; each subscriber hears everything once, in order.

The numbers are those of `overlay/process/edge_member.py`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from connectors.kafka.admin import Admin
from connectors.kafka.properties import KafkaProperties
from connectors.kafka.reader import Reader
from connectors.topics import Topics
from tests.conftest import TEST_VIRTUAL_EDGES
from tests.overlay.hand_engine import HandEngine
from tidewire.stack.broker import Broker

pytestmark = pytest.mark.broker
ROOT = Path(__file__).parents[3]
NAMES = [f"subscriber-{i}" for i in range(24)]


class Edges:
    """Edge processes under one prefix."""

    def __init__(self, kafka: KafkaProperties, topics: Topics, logs: Path) -> None:
        self._kafka, self._topics, self._logs = kafka, topics, logs
        self.running: list[subprocess.Popen[bytes]] = []

    def start(self, *stop_at: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, str(ROOT / "tests" / "overlay" / "edge_main.py")]
        command += [self._kafka.bootstrap, self._topics.prefix, *stop_at]
        with (self._logs / f"edge{len(self.running)}.log").open("wb") as log:
            edge = subprocess.Popen(
                command, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=log, stderr=log
            )
        self.running.append(edge)
        return edge

    def await_shares(self, *shares: int, seconds: float = 30.0) -> None:
        """Wait until the members own this many virtual edges, in any order."""
        admin, deadline = Admin(self._kafka), time.monotonic() + seconds
        while True:
            members = admin.members(self._topics.prefix + "edges")
            owned = sorted(len(member.owns) // 2 for member in members)
            if owned == sorted(shares):
                return
            assert time.monotonic() < deadline, (owned, self.logs())
            time.sleep(0.1)

    def logs(self) -> str:
        return "\n".join(path.read_text() for path in sorted(self._logs.glob("edge*.log")))

    def kill_all(self) -> None:
        for edge in self.running:
            edge.kill()
            edge.wait()


@pytest.fixture
def edges(kafka: KafkaProperties, topics: Topics, tmp_path: Path) -> Iterator[Edges]:
    running = Edges(kafka, topics, tmp_path)
    yield running
    running.kill_all()


@pytest.fixture
def engine(kafka: KafkaProperties, topics: Topics) -> HandEngine:
    engine = HandEngine(kafka, topics, TEST_VIRTUAL_EDGES)
    engine.declare()
    engine.begin()
    engine.subscribe(*NAMES)
    return engine


def register_all(engine: HandEngine, edges: Edges) -> None:
    """Run batches until every subscription is answered."""
    answered, deadline = 0, time.monotonic() + 30
    while answered < len(NAMES):
        answered += engine.run_batch(engine.value + 1)
        assert time.monotonic() < deadline, edges.logs()
        time.sleep(0.05)
    assert answered == len(NAMES)


def run(engine: HandEngine, seconds: float, until: Callable[[], bool] = lambda: False) -> None:
    """Send changes, three a batch, for some time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and not until():
        engine.run_batch(*range(engine.value + 1, engine.value + 4))
        time.sleep(0.02)


def deliveries(kafka: KafkaProperties, topics: Topics) -> dict[str, list[dict[str, object]]]:
    out: dict[str, list[dict[str, object]]] = defaultdict(list)
    for record in Reader(kafka).read_to_end(topics.deliveries):
        assert record.key is not None and record.value is not None
        if record.key != b"@progress":
            out[record.key.decode()].append(msgspec.json.decode(record.value))
    return out


def check(kafka: KafkaProperties, topics: Topics, engine: HandEngine, edges: Edges) -> None:
    """Wait until the last value has arrived; then every subscriber has heard every value exactly once, in order."""
    deadline = time.monotonic() + 30
    while True:
        heard = deliveries(kafka, topics)
        if len(heard) == len(NAMES) and all(lines[-1]["new"] == engine.value for lines in heard.values()):
            break
        assert time.monotonic() < deadline, edges.logs()
        time.sleep(0.3)
    for lines in heard.values():
        assert [line["n"] for line in lines] == list(range(1, len(lines) + 1))
        assert [line["kind"] for line in lines] == ["snapshot"] + ["change"] * (len(lines) - 1)
        news = [line["new"] for line in lines]
        assert news == list(range(engine.value - len(lines) + 1, engine.value + 1))
        assert [line["old"] for line in lines] == [None, *news[:-1]]


def test_two_edges_share_and_one_is_killed(
    kafka: KafkaProperties, topics: Topics, edges: Edges, engine: HandEngine
) -> None:
    first, second = edges.start(), edges.start()
    edges.await_shares(2, 2)
    register_all(engine, edges)
    run(engine, 0.7)
    first.kill()
    run(engine, 3.0)
    edges.await_shares(4)
    edges.start()
    run(engine, 2.0)
    second.terminate()
    assert second.wait(10) == 0
    run(engine, 0.5)
    check(kafka, topics, engine, edges)


def test_a_restart_goes_on_where_the_last_commit_was(
    kafka: KafkaProperties, topics: Topics, edges: Edges, engine: HandEngine
) -> None:
    edge = edges.start()
    register_all(engine, edges)
    for pause in (0.3, 0.5):
        run(engine, pause)
        edge.kill()
        edge.wait()
        run(engine, 0.2)
        edge = edges.start()
        edges.await_shares(4)
    run(engine, 0.3)
    check(kafka, topics, engine, edges)


def test_a_broker_that_is_killed_and_comes_back(mortal_broker: Broker, prefix: str, tmp_path: Path) -> None:
    kafka, topics = KafkaProperties(mortal_broker.bootstrap), Topics(prefix)
    Admin(kafka).ensure_topics(topics, TEST_VIRTUAL_EDGES)
    edges, engine = Edges(kafka, topics, tmp_path), HandEngine(kafka, topics, TEST_VIRTUAL_EDGES)
    try:
        engine.declare()
        engine.begin()
        engine.subscribe(*NAMES)
        edge = edges.start()
        register_all(engine, edges)
        run(engine, 0.5)
        mortal_broker.kill()
        time.sleep(1.0)
        mortal_broker.start()
        run(engine, 1.0)
        check(kafka, topics, engine, edges)
        mortal_broker.kill()
        time.sleep(1.0)
        edge.terminate()
        assert edge.wait(20) == 0, edges.logs()
    finally:
        edges.kill_all()


@pytest.mark.parametrize("moment", ["begin_transaction", "send_offsets_to_transaction", "commit_transaction"])
def test_a_zombie_is_fenced_and_recovers(
    kafka: KafkaProperties, topics: Topics, edges: Edges, engine: HandEngine, moment: str
) -> None:
    """7. It is stopped inside a step, and wakes when the heir is at work already."""
    zombie = edges.start(moment, "12")
    heir = stop_and_replace(engine, edges, zombie)
    run(engine, 30, until=lambda: edges.logs().count("owns") > 1)
    run(engine, 0.5)
    os.kill(zombie.pid, signal.SIGCONT)
    run(engine, 3.0)
    edges.await_shares(2, 2)
    run(engine, 0.5)
    check(kafka, topics, engine, edges)
    assert zombie.poll() is None and heir.poll() is None
    assert "going back to what is committed" in edges.logs()


def test_a_step_with_its_positions_sent_may_still_be_committed(
    kafka: KafkaProperties, topics: Topics, edges: Edges, engine: HandEngine
) -> None:
    """2. The heir waits until the former owner's transaction is decided, and goes on after it."""
    zombie = edges.start("commit_transaction", "12")
    stop_and_replace(engine, edges, zombie)
    run(engine, 2.5)
    assert edges.logs().count("owns") == 1
    os.kill(zombie.pid, signal.SIGCONT)
    run(engine, 1.0)
    check(kafka, topics, engine, edges)


def stop_and_replace(engine: HandEngine, edges: Edges, zombie: subprocess.Popen[bytes]) -> subprocess.Popen[bytes]:
    """Run until `zombie` has stopped itself; start another edge."""
    edges.await_shares(4)
    register_all(engine, edges)
    run(engine, 20, until=lambda: _stopped(zombie.pid))
    return edges.start()


def _stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "T"
