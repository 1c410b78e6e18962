"""Nothing is missed, wrong or said twice, whatever is killed: one long run, judged by the verification.

20,000 publications and 500 subscriptions, some replaced and ended on the way; meanwhile SIGKILL falls on the engine,
its JVM, its workers, the edges and the broker, at moments that a seed chooses, on all at once, and at two chosen
points: after the sink and before the commit record, and after the commit and before the progress record.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from connectors.kafka import KafkaProperties, Producer
from connectors.record import OutRecord
from tests.stack.live_stack import Checkpoint, LiveStack, eventually
from tests.stack.stack_program import ASKED, DONE, PROGRAM
from tests.stack.trades import QUOTE, TRADE, WIDER_TRADE, Questions, Trades
from tidewire.client import Client
from tidewire.verification.reading import verify_kafka
from tidewire.verification.report import Report

pytestmark = [pytest.mark.stack, pytest.mark.timeout(900)]
SEED = 20_260
PUBLICATIONS = 20_000
SUBSCRIPTIONS = 500
AT_FIRST, LATER = 300, 60
PER_SECOND = 400


class Publisher(threading.Thread):
    """Publishes as many records as it is allowed to, at a steady rate, and waits for a broker that is dead."""

    def __init__(self, kafka: KafkaProperties) -> None:
        super().__init__(daemon=True)
        self._producer = Producer(kafka, timeout=600)
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self.trades = Trades(SEED)
        self.allowed = 0
        self.sent = 0

    def run(self) -> None:
        while not self._ended.wait(10 / PER_SECOND):
            for _ in range(min(10, self.allowed - self.sent)):
                self.send(self.trades.next())
                self.sent += 1

    def send(self, *records: OutRecord) -> None:
        with self._lock:
            for record in records:
                self._producer.send(record)

    def await_sent(self, count: int) -> None:
        self.allowed = max(self.allowed, count)
        eventually(lambda: self.sent >= count, f"{count} records to be sent")

    def finish(self) -> None:
        """Return when the broker has everything."""
        self._ended.set()
        self.join()
        self._producer.flush()


class Run:
    """The stack, what goes in, and the ways in which it is hurt. Each way counts one or more kills."""

    def __init__(self, stack: LiveStack) -> None:
        self.choose = random.Random(SEED)
        self.stack = stack
        self.checkpoint = Checkpoint(stack)
        self.questions = Questions(SEED, stack.topics)
        self.lost_commits = 0

    def begin(self) -> None:
        with Client(self.stack.settings.address) as client:
            client.apply(TRADE, timeout=120)
            client.subscribe_all({r.key.decode(): r.value for r in self.questions.new(AT_FIRST)}, timeout=120)
        self.publisher = Publisher(self.stack.kafka)
        self.publisher.start()

    def edge(self) -> None:
        self.stack.kill(f"edge-{self.choose.randrange(2)}")

    def both_edges(self) -> None:
        self.stack.kill("edge-0")
        self.stack.kill("edge-1")

    def broker(self) -> None:
        self.stack.kill("broker")

    def driver(self) -> None:
        self.stack.kill("engine")

    def jvm(self) -> None:
        self.stack.kill("engine", lambda process: process.name() == "java")

    def worker(self) -> None:
        self.stack.kill("engine", lambda process: "streaming.daemon" in " ".join(process.cmdline()))

    def engine_twice(self) -> None:
        """Again while it starts."""
        self.driver()
        time.sleep(self.choose.uniform(0, 6))
        self.driver()

    def engine_and_edge(self) -> None:
        self.driver()
        self.edge()

    def broker_and_edge(self) -> None:
        self.broker()
        time.sleep(self.choose.uniform(0, 3))
        self.edge()

    def everything(self) -> None:
        self.stack.cut_power()
        self.stack.start()

    def after_the_sink(self) -> None:
        """Kill between two batches and lose the last commit record: its batch has been told already."""
        eventually(self.checkpoint.is_between_batches, "a pause between two batches")
        self.stack.kill_session("engine")
        self.lost_commits += self.checkpoint.lose_newest_commit()

    def before_the_progress(self) -> None:
        """The engine dies with a batch committed and not told."""
        (self.stack.directory.path / ASKED).touch()
        eventually((self.stack.directory.path / DONE).exists, "a batch to be committed and not told")
        (self.stack.directory.path / DONE).unlink()
        self.stack.kills += 1

    def neither_commit_nor_progress(self) -> None:
        """Both: the batch is in the sink, and nothing says so."""
        self.before_the_progress()
        self.stack.kill_session("engine")
        self.stack.kills -= 1
        self.lost_commits += self.checkpoint.lose_newest_commit()

    def hurt(self, ways: list[str]) -> None:
        """Let part after part of the publications flow, with one way to hurt the stack within each."""
        for number, way in enumerate(ways):
            begin, size = number * PUBLICATIONS // len(ways), PUBLICATIONS // len(ways)
            self.publisher.await_sent(begin + int(size * self.choose.uniform(0.1, 0.5)))
            self.publisher.send(*self.questions.new((SUBSCRIPTIONS - LATER - AT_FIRST) // len(ways)))
            self.publisher.send(*self.questions.changes(8))
            self.publisher.allowed = begin + size
            began = time.monotonic()
            getattr(self, way)()
            self.stack.await_ready("broker", "engine", "edge-0", "edge-1")
            print(f"{way}: {time.monotonic() - began:.1f} s, {self.publisher.sent} sent", flush=True)
            if number == len(ways) // 2:
                self.widen()

    def widen(self) -> None:
        """A column more, and a second table, while everything is under way."""
        with Client(self.stack.settings.address) as client:
            client.apply(f"{WIDER_TRADE}; {QUOTE}", timeout=120, partitions=2)
        self.publisher.send(*self.questions.new(LATER, self.questions.later))
        self.publisher.trades.widen()

    def end(self) -> Report:
        """Publish what is left, and judge."""
        self.publisher.send(*self.questions.new(SUBSCRIPTIONS - len(self.questions.ids)))
        self.publisher.await_sent(PUBLICATIONS)
        self.publisher.finish()
        self.stack.await_all_read()
        return verify_kafka(self.stack.kafka, self.stack.topics, 60)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    stack = LiveStack(tmp_path / "data", PROGRAM)
    stack.start()
    try:
        yield Run(stack)
    finally:
        stack.stop()


def test_whatever_is_killed_every_delivery_is_right_and_there_once(run: Run) -> None:
    run.begin()
    ways = [
        "edge",
        "driver",
        "after_the_sink",
        "broker",
        "before_the_progress",
        "worker",
        "everything",
        "both_edges",
        "engine_and_edge",
        "neither_commit_nor_progress",
        "broker_and_edge",
        "jvm",
        "engine_twice",
        "after_the_sink",
    ]
    run.hurt(ways)
    report = run.end()
    assert report.clean, (report, report.faults)
    assert (report.publications, report.subscriptions) == (PUBLICATIONS, SUBSCRIPTIONS)
    assert report.right > 5_000 and report.unjudged == 0 and report.epochs == 1
    assert run.stack.kills >= 16 and run.lost_commits >= 2
    assert run.stack.look().warnings == []
    print(report)
