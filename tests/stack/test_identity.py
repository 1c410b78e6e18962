"""Who is who: edges and engines that are stopped, replaced and woken as zombies, and engines that meet each other.

Everything runs in processes of its own, on one set of topics, while publications flow; the tests build on each other
and run in the order in which they stand.
"""

from __future__ import annotations

import os
import signal
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from connectors.kafka.properties import KafkaProperties
from connectors.kafka.reader import Reader
from connectors.topics import Topics
from tests.stack.live_stack import PATIENCE, eventually
from tests.stack.publisher import Publisher
from tests.stack.trades import TRADE, Questions
from tidewire.client.client import Client
from tidewire.settings import load_settings
from tidewire.stack.child import Child, session_members
from tidewire.stack.embedded import PROGRAM, child_environment
from tidewire.status.overview import Observer, Overview
from tidewire.verification.compare.report import Report
from tidewire.verification.reading import verify_kafka

pytestmark = [pytest.mark.stack, pytest.mark.timeout(1800)]
SEED = 7


class Services:
    """Edges and engines on one set of topics, each as `tidewire edge` and `tidewire engine` run it."""

    first: Child
    second: Child
    publisher: Publisher

    def __init__(self, folder: Path, bootstrap: str) -> None:
        self._settings = load_settings(
            data_dir=folder, bootstrap=bootstrap, prefix=f"i{uuid.uuid4().hex[:8]}.", virtual_edges=4
        )
        self.kafka = KafkaProperties(bootstrap)
        self.topics = Topics(self._settings.prefix)
        self.reader = Reader(self.kafka)
        self.reader.admin.ensure_topics(self.topics, 4)
        self.children: list[Child] = []
        self.edges: list[Child] = []
        self.questions = Questions(SEED, self.topics)

    def run(self, name: str, *arguments: str) -> Child:
        folder = self._settings.data_dir
        environment = child_environment(self._settings)
        child = Child(name, [*PROGRAM, *arguments], folder / f"{name}.log", folder, environment)
        self.children.append(child)
        return child

    def engine(self, name: str, *options: str) -> Child:
        return self.run(name, "engine", "--checkpoint", str(self._settings.data_dir / name), *options)

    def client(self) -> Client:
        return Client(self.kafka.bootstrap, self.topics.prefix)

    def look(self) -> Overview:
        return Observer(self.reader, self.kafka.bootstrap, self.topics, lambda: datetime.now(UTC)).look()

    def await_shares(self, *expected: int) -> None:
        """Wait until running edges own so many virtual edges each."""

        def shares() -> list[int]:
            running = [edge for edge in self.look().edges if edge.health and edge.health["state"] == "running"]
            return sorted(len(edge.virtual_edges) for edge in running)

        eventually(lambda: shares() == sorted(expected), f"shares of {expected}")

    def flow(self, count: int) -> None:
        """Let `count` more publications go out, with a few changes of subscriptions among them."""
        self.publisher.send(*self.questions.changes(4))
        self.publisher.await_sent(self.publisher.sent + count)

    def judge(self) -> Report:
        self.publisher.flush()
        eventually(lambda: not any(table.lag for table in self.look().tables), "no lag")
        return verify_kafka(self.kafka, self.topics, PATIENCE)

    def stop(self) -> None:
        for child in self.children:
            for pid in session_members(child.pid):
                os.kill(pid, signal.SIGCONT)
            child.ask_to_stop()
        for child in self.children:
            child.await_end(20)


def freeze(child: Child, number: int = signal.SIGSTOP) -> None:
    for pid in session_members(child.pid):
        os.kill(pid, number)


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory, broker: str) -> Iterator[Services]:
    made = Services(tmp_path_factory.mktemp("identity"), broker)
    try:
        made.first = made.engine("first")
        made.edges = [made.run(f"edge-{number}", "edge", "--http-port", "0") for number in range(2)]
        with made.client() as client:
            client.apply(TRADE + f" WITH ('topic'='{made.topics.prefix}trade')", timeout=PATIENCE)
            client.subscribe_all({r.key.decode(): r.value for r in made.questions.new(60)}, timeout=PATIENCE)
        made.publisher = Publisher(made.kafka, SEED, 150, made.topics.prefix)
        made.publisher.start()
        made.await_shares(2, 2)
        yield made
    finally:
        made.stop()


def test_virtual_edges_move_from_an_edge_that_is_stopped_and_wakes_as_a_zombie(services: Services) -> None:
    services.flow(200)
    freeze(services.edges[0])
    services.await_shares(4)
    services.flow(300)
    freeze(services.edges[0], signal.SIGCONT)
    services.await_shares(2, 2)
    services.flow(200)
    report = services.judge()
    assert report.clean and report.epochs == 1 and report.right > 300, (report, report.faults)


def test_a_second_engine_refuses_and_does_the_first_no_harm(services: Services) -> None:
    second = services.engine("first")
    second = eventually(lambda: second if not second.alive else None, "the second engine to refuse")
    assert second.exit_code == 2, second.tail()
    assert "another engine is at work" in second.tail() and "--take-over" in second.tail()
    services.flow(200)
    report = services.judge()
    assert services.first.alive and report.clean, (report, report.faults)


@pytest.mark.ordeal
def test_an_engine_that_takes_over_with_an_empty_state_ends_the_first(services: Services) -> None:
    services.second = services.engine("second", "--take-over")
    services.flow(300)
    eventually(lambda: not services.first.alive, "the first engine to stop itself")
    assert services.first.exit_code == 9, services.first.tail()
    assert "a newer engine has taken over" in services.first.tail()
    services.flow(200)
    report = services.judge()
    assert report.clean and report.epochs == 2, (report, report.faults)


@pytest.mark.ordeal
def test_an_engine_that_wakes_as_a_zombie_ends_itself_and_is_not_heard(services: Services) -> None:
    services.flow(50)
    freeze(services.second)
    services.flow(100)
    third = services.engine("third")
    eventually(lambda: str(services.look().engine.checkpoint).endswith("third"), "the third engine")
    services.flow(100)
    freeze(services.second, signal.SIGCONT)
    eventually(lambda: not services.second.alive, "the zombie to stop itself")
    assert services.second.exit_code == 9, services.second.tail()
    services.flow(100)
    report = services.judge()
    assert third.alive and report.clean and report.epochs == 3, (report, report.faults)
