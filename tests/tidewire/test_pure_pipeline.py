"""The whole chain against recomputation: after every step, for every subscription, exact, silent and single."""

from typing import Any

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from connectors.json_writer import encode_key, encode_row
from connectors.partitioner import home_partition
from tests.oracle.naive_database import NaiveDatabase, Question
from tidewire.pure_pipeline import PurePipeline
from tidewire.scenario.subscriber import Subscriber

DDL = "CREATE TABLE p (id INTEGER PRIMARY KEY, g VARCHAR, x INTEGER, y BIGINT) WITH ('topic'='points')"
EDGES = 3

ids = st.integers(0, 4)
xs = st.none() | st.integers(0, 5)
ys = st.none() | st.integers(0, 4)
groups = st.none() | st.sampled_from("ab")
bounds = st.none() | st.integers(-1, 6)
questions = st.builds(
    Question,
    aggregate=st.sampled_from(["min", "max"]),
    measure=st.sampled_from(["y", "y", "x", "id"]),
    equal=st.sampled_from([(), (("g", "a"),), (("g", "b"),), (("g", "zz"),)]),
    range=st.sampled_from(["x", "x", "y"]),
    lo=bounds,
    hi=bounds,
)
rows = st.builds(lambda i, g, x, y: {"id": i, "g": g, "x": x, "y": y}, ids, groups, xs, ys)


class Chain(RuleBasedStateMachine):
    """Publications, registrations, replacements, endings and restarts in any order."""

    @initialize()
    def begin(self) -> None:
        self.pipeline = PurePipeline(virtual_edges=EDGES)
        self.pipeline.apply(DDL)
        self.relation = self.pipeline.catalog.relations["p"]
        self.naive = NaiveDatabase()
        self.questions: dict[str, Question] = {}
        self.subscribers: dict[str, Subscriber] = {}
        self.current: dict[str, Any] = {}
        self.changes: dict[str, int] = {}
        self.read = dict.fromkeys(range(EDGES), 0)

    @rule(batch=st.lists(rows | ids, min_size=1, max_size=6))
    def publish(self, batch: list[Any]) -> None:
        for item in batch:
            row = item if isinstance(item, dict) else None
            key = encode_key(self.relation, row or {"id": item})
            self.pipeline.append("points", key, row and encode_row(self.relation, row))
            if row:
                self.naive.rows[row["id"]] = row
            else:
                self.naive.rows.pop(item, None)
            for name, question in self.questions.items():
                answer = self.naive.answer(question)
                self.changes[name] += answer != self.current[name]
                self.current[name] = answer
        self.pipeline.settle()

    @rule(name=st.sampled_from(["s1", "s2", "s3", "s4"]), question=questions)
    def subscribe(self, name: str, question: Question) -> None:
        record = msgspec.json.encode({"sql": question.sql("p")})
        self.pipeline.append(self.pipeline.topics.subscriptions, name.encode(), record)
        self.pipeline.settle()
        self.questions[name] = question
        self.current[name] = self.naive.answer(question)
        self.changes[name] = 1
        self.subscribers[name] = Subscriber()

    @rule(name=st.sampled_from(["s1", "s2"]))
    def unsubscribe(self, name: str) -> None:
        self.pipeline.append(self.pipeline.topics.subscriptions, name.encode(), None)
        self.pipeline.settle()
        if self.questions.pop(name, None):
            self.deliver()
            assert not self.subscribers.pop(name).live

    @rule()
    def restart(self) -> None:
        self.pipeline.restart()

    def deliver(self) -> None:
        for partition, start in self.read.items():
            log = self.pipeline.logs[self.pipeline.topics.deliveries][partition]
            for key, value in log[start:]:
                name = (key or b"").decode()
                if not name.startswith("@"):
                    assert home_partition(name.encode(), EDGES) == partition
                    self.subscribers[name].take(msgspec.json.decode(value or b""))
            self.read[partition] = len(log)

    @invariant()
    def every_subscriber_holds_the_answer(self) -> None:
        if not hasattr(self, "pipeline"):
            return
        self.deliver()
        for name, question in self.questions.items():
            subscriber = self.subscribers[name]
            assert subscriber.fault is None, (name, question, subscriber.fault)
            assert subscriber.live
            assert subscriber.answer == self.current[name], (name, question)
            assert subscriber.counted() == self.changes[name], (name, question)
            self.changes[name] = 0

    def teardown(self) -> None:
        if hasattr(self, "pipeline"):
            assert not self.pipeline.logs[self.pipeline.topics.dead_letters]


TestChain = Chain.TestCase
TestChain.settings = settings(max_examples=40, stateful_step_count=15, deadline=None)
