"""Nothing is missed, wrong or said twice, whatever is killed: one long run, judged by the verification.

20,000 publications and 500 subscriptions, some replaced and ended on the way; meanwhile SIGKILL falls on the engine,
its JVM, its workers, the edges and the broker, at moments that a seed chooses, on all at once, and at two chosen
points: after the sink and before the commit record, and after the commit and before the progress record. Before each
kill questions are asked whose first answers take several records, and others over joins, whose cells come live on
demand amid all this, and others over views, of one table and of two, of which one is dropped and made anew. Offers
choose by ranges and words who is told of them. Minutes of a stream become final, by themselves and beside a table. All
the time somebody looks rows up.

TIDEWIRE_ORDEAL=short: a fifth of the publications and three of the ways.
"""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from connectors.record import OutRecord
from tests.stack.boards import BOARDS, DEAREST, Boards
from tests.stack.live_stack import PATIENCE, Checkpoint, LiveStack, eventually
from tests.stack.looker import Looker
from tests.stack.memos import MEMO, Memos
from tests.stack.notes import NOTE, Notes
from tests.stack.offers import OFFER, Offers
from tests.stack.publisher import Publisher
from tests.stack.stack_program import ASKED, DONE, PROGRAM
from tests.stack.ticks import MINUTES, TICK, Ticks
from tests.stack.trades import KEYS, QUOTE, TRADE, WIDER_TRADE, Questions
from tests.stack.ways import Ways
from tidewire.client.client import Client
from tidewire.verification.compare.report import Report
from tidewire.verification.reading import verify_kafka

pytestmark = [pytest.mark.stack, pytest.mark.timeout(1800)]
SEED = 20_260
SHORT = os.environ.get("TIDEWIRE_ORDEAL") == "short"
PUBLICATIONS = 4_000 if SHORT else 20_000
SUBSCRIPTIONS = 500
AT_FIRST, LATER = 300, 60
_ALL = [
    "edge",
    "driver",
    "after_the_sink",
    "broker",
    "before_the_progress",
    "jvm_and_edge",
    "everything",
    "both_edges",
    "neither_commit_nor_progress",
    "worker",
    "broker_and_edge",
    "engine_twice",
]
WAYS = _ALL[1:9:3] if SHORT else _ALL
_ROWS = re.compile(rb'"SELECT (?!DISTINCT)[*a-z, ]+ FROM')
"""A question for rows."""


class Run(Ways):
    """The stack, what goes in, and the ways in which it is hurt. Each way counts one or more kills."""

    def __init__(self, stack: LiveStack) -> None:
        super().__init__(stack, random.Random(SEED))
        self.checkpoint = Checkpoint(stack)
        self.questions = Questions(SEED, stack.topics)
        self.memos = Memos(SEED, stack.topics)
        self.notes = Notes(SEED, stack.topics, most=200, trades=KEYS)
        self.boards = Boards(SEED, stack.topics)
        self.offers = Offers(SEED, stack.topics)
        self.ticks = Ticks(SEED, stack.topics, a_minute=40, most=200)
        self.looker = Looker(stack, SEED, [])
        self.lost_commits = 0

    def begin(self) -> None:
        asked = [*self.questions.new(AT_FIRST), *self.memos.questions(2)]
        joined = [*self.notes.questions(20), *self.boards.questions(20)]
        with Client(self.stack.settings.address) as client:
            client.apply(f"{TRADE}; {MEMO}; {NOTE}; {BOARDS}; {OFFER}; {TICK}; {MINUTES}", timeout=120)
            client.subscribe_all({r.key.decode(): r.value for r in asked}, timeout=120)
        self.publisher = Publisher(self.stack.kafka, SEED)
        self.publisher.send(*self.memos.first(), *self.notes.changes(300), *joined)
        self.publisher.send(*self.offers.changes(200), *self.offers.questions(40))
        self.publisher.send(*self.ticks.changes(30), *self.ticks.questions(40, within=12))
        self.publisher.start()
        self.note(asked)
        self.looker.start()

    def ask(self, *records: OutRecord) -> None:
        self.publisher.send(*records)
        self.note(records)

    def note(self, records: Iterable[OutRecord]) -> None:
        """Let rows that are asked for be looked up, too."""
        self.looker.ids += [record.key.decode() for record in records if _ROWS.search(record.value or b"")]

    def engine_twice(self) -> None:
        """Again while it starts."""
        self.driver()
        time.sleep(self.choose.uniform(0, 6))
        self.driver()

    def broker_and_edge(self) -> None:
        self.broker()
        time.sleep(self.choose.uniform(0, 3))
        self.edge()

    def after_the_sink(self) -> None:
        """Kill while nothing comes and lose the last commit record: its batch has been told already."""
        with self.calm():
            self.lose_the_commit(self.stack.await_all_read)

    def lose_the_commit(self, prepare: Callable[[], None]) -> None:
        """`prepare`, kill the engine between two batches and lose the last commit record.

        All of it again where a batch was under way: edges register what was asked before, and the new
        subscriptions make batches of their own.
        """
        for _ in range(5):
            prepare()
            eventually(self.checkpoint.is_between_batches, "a pause between two batches")
            self.stack.kill_session("engine")
            if self.checkpoint.lose_newest_commit():
                self.lost_commits += 1
                return
            self.stack.await_ready("engine")
        raise AssertionError("each of 5 kills fell into a batch")

    def before_the_progress(self, burst: int = 0) -> None:
        """The engine dies with a batch committed and not told, that of a `burst` of publications or of any."""
        before = self.stack.child("engine")["pid"]
        (self.stack.directory.path / ASKED).touch()
        self.publisher.burst(burst)
        eventually((self.stack.directory.path / DONE).exists, "a batch to be committed and not told")
        (self.stack.directory.path / DONE).unlink()
        self.stack.await_restart("engine", before)
        self.stack.kills += 1

    def neither_commit_nor_progress(self) -> None:
        """Both: a batch is in the sink, and nothing says so."""
        with self.calm():
            self.lose_the_commit(lambda: self.before_the_progress(30))

    @contextmanager
    def calm(self) -> Iterator[None]:
        """Publish nothing, and begin when all is read and no batch is under way."""
        allowed, self.publisher.allowed = self.publisher.allowed, self.publisher.sent
        self.publisher.flush()
        self.stack.await_all_read()
        eventually(self.checkpoint.is_between_batches, "a pause between two batches")
        yield
        self.publisher.allowed = allowed

    def hurt(self, ways: list[str]) -> None:
        """Let part after part of the publications flow, with one way to hurt the stack within each."""
        size = PUBLICATIONS // (len(ways) + 1)
        for number, way in enumerate(ways):
            self.publisher.await_sent(number * size + int(size * self.choose.uniform(0.1, 0.5)))
            self.ask(*self.questions.new((SUBSCRIPTIONS - LATER - AT_FIRST) // len(ways)))
            self.ask(*self.questions.changes(8), *self.memos.changes(20), *self.memos.questions(2))
            self.publisher.send(*self.notes.changes(60), *self.notes.questions(6), *self.boards.questions(6))
            self.publisher.send(*self.offers.changes(60), *self.offers.questions(6))
            self.publisher.send(*self.ticks.changes(60), *self.ticks.questions(6, within=18))
            self.publisher.allowed = (number + 1) * size
            began = time.monotonic()
            getattr(self, way)()
            self.stack.await_ready("broker", "engine", "edge-0", "edge-1")
            self.await_batch()
            print(f"{way}: {time.monotonic() - began:.1f} s, {self.publisher.sent} sent", flush=True)
            if number == len(ways) // 2:
                self.widen()
            if number == len(ways) * 3 // 4:
                self.declare_anew()

    def await_batch(self) -> None:
        """Wait until something more was published, read and committed."""
        before = self.checkpoint.newest("commits")
        self.publisher.allowed += 50
        eventually(lambda: self.checkpoint.newest("commits") > before, "a batch after the kill")

    def widen(self) -> None:
        """A column more, and a second table, while everything is under way."""
        with Client(self.stack.settings.address) as client:
            client.apply(f"{WIDER_TRADE}; {QUOTE}", timeout=120, partitions=2)
        self.ask(*self.questions.new(LATER, self.questions.later))
        self.publisher.trades.widen()

    def declare_anew(self) -> None:
        """Another view under the name of one that ends, while everything is under way."""
        with Client(self.stack.settings.address) as client:
            client.apply(f"DROP VIEW dearest; {DEAREST.format(3)}", timeout=120)
        self.publisher.send(*self.boards.questions(10))

    def end(self) -> Report:
        """Publish what is left, and judge."""
        self.ask(*self.questions.new(SUBSCRIPTIONS - len(self.questions.ids)))
        self.publisher.await_sent(PUBLICATIONS)
        self.publisher.finish()
        self.stack.await_all_read()
        self.looker.finish()
        return verify_kafka(self.stack.kafka, self.stack.topics, PATIENCE)


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
    run.hurt(WAYS)
    report = run.end()
    assert report.clean, (report, report.faults)
    assert report.publications == PUBLICATIONS + run.memos.sent + run.notes.sent + run.offers.sent + run.ticks.sent
    beside = run.memos.asked + run.notes.asked + run.boards.asked + run.offers.asked + run.ticks.asked
    assert report.subscriptions == SUBSCRIPTIONS + beside
    assert report.right > (1_000 if SHORT else 5_000) and report.unjudged == 0 and report.epochs == 1
    assert report.batches > (5 if SHORT else 20)
    assert SHORT or (run.stack.kills >= 15 and run.lost_commits >= 2)
    assert run.stack.look().warnings == []
    with Client(run.stack.settings.address) as client:
        agreeing = run.looker.judged(client)
    print(f"{agreeing} looks agree with what was told; without rows: {dict(run.looker.broken)}\n{report}")
    assert agreeing > 0
