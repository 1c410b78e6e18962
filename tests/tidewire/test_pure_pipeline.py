"""The whole chain against recomputation: after every step, for every subscription, exact, silent and single."""

from decimal import Decimal
from typing import Any

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from connectors.json_writer import encode_key, encode_row
from connectors.partitioner import home_partition
from tests.effort import examples
from tests.oracle.naive_database import NaiveDatabase, Question, shown
from tidewire.pure_pipeline import PurePipeline
from tidewire.scenario.subscriber import Subscriber

DDL = (
    "CREATE TABLE p (id INTEGER PRIMARY KEY, g VARCHAR, x INTEGER, y BIGINT, t VARCHAR, w DECIMAL(20,2), d DOUBLE) "
    "WITH ('topic'='points')"
)
EDGES = 3

TEXTS = ["", "a", "ab", "b", "é"]
WIDE = [Decimal(text) for text in ("-1.50", "0.00", "0.01", "123456789012345678.25")]
DOUBLES = [-0.1, 0.1, 0.2, 1e300, -1e300]
ids = st.integers(0, 4)
xs = st.none() | st.integers(0, 5)
ys = st.none() | st.integers(0, 4)
groups = st.none() | st.sampled_from("ab")
columns = st.sampled_from(["y", "y", "x", "id", "t", "w", "d"])
numbers = st.sampled_from(["y", "y", "x", "w", "d"])
aggregates = st.one_of(
    st.tuples(st.sampled_from(["min", "max"]), columns),
    st.tuples(st.just("count"), st.none() | columns),
    st.tuples(st.sampled_from(["sum", "avg"]), numbers),
)
BOUNDS = {"x": st.integers(-1, 6), "y": st.integers(-1, 6), "t": st.sampled_from(TEXTS), "w": st.sampled_from(WIDE)}


@st.composite
def questions(draw: st.DrawFn) -> Question:
    """Any question of the range families."""
    outputs = draw(
        st.one_of(
            st.tuples(aggregates),
            st.lists(aggregates, min_size=2, max_size=4).map(tuple),
            st.tuples(st.tuples(st.just("distinct"), columns)),
        )
    )
    range_ = draw(st.sampled_from(["x", "x", "y", "t", "w"]))
    lo, hi = draw(st.none() | BOUNDS[range_]), draw(st.none() | BOUNDS[range_])
    equal = draw(st.sampled_from([(), (("g", "a"),), (("g", "b"),), (("g", "zz"),), (("w", WIDE[2]),)]))
    if equal and equal[0][0] == range_:
        equal = ()
    return Question(outputs, equal, range_, lo, hi, draw(st.booleans()))


rows = st.fixed_dictionaries(
    {
        "id": ids,
        "g": groups,
        "x": xs,
        "y": ys,
        "t": st.none() | st.sampled_from(TEXTS),
        "w": st.none() | st.sampled_from(WIDE),
        "d": st.none() | st.sampled_from(DOUBLES),
    }
)


def in_order(answer: list[list[Any]]) -> list[list[Any]]:
    return sorted(answer, key=repr)


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
                answer = self.naive.exact(question)
                self.changes[name] += answer != self.current[name]
                self.current[name] = answer
        self.pipeline.settle()

    @rule(name=st.sampled_from(["s1", "s2", "s3", "s4"]), question=questions())
    def subscribe(self, name: str, question: Question) -> None:
        record = msgspec.json.encode({"sql": question.sql("p")})
        self.pipeline.append(self.pipeline.topics.subscriptions, name.encode(), record)
        self.pipeline.settle()
        self.questions[name] = question
        self.current[name] = self.naive.exact(question)
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
            assert in_order(subscriber.rows) == in_order(shown(question, self.current[name])), (name, question)
            assert subscriber.counted() == self.changes[name], (name, question)
            self.changes[name] = 0

    def teardown(self) -> None:
        if hasattr(self, "pipeline"):
            assert not self.pipeline.logs[self.pipeline.topics.dead_letters]


TestChain = Chain.TestCase
TestChain.settings = settings(max_examples=examples(40), stateful_step_count=15, deadline=None)
