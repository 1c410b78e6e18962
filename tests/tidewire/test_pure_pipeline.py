"""The whole chain against recomputation: after every step, for every subscription, exact, silent and single."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from connectors.json.writer import encode_key, encode_row
from connectors.kafka.partitioner import home_partition
from overlay.subscriptions.summaries import Patience
from tests.effort import deep_examples
from tests.oracle.naive_database import NaiveDatabase, Order, Output, Question, Row, RowsQuestion, shown
from tidewire.client.delivery_reader import DeliveryReader
from tidewire.pure_pipeline import PurePipeline
from tidewire.scenario.subscriber import Subscriber

DDL = (
    "CREATE TABLE p (id INTEGER PRIMARY KEY, g VARCHAR, x INTEGER, y BIGINT, t VARCHAR, w DECIMAL(20,2), d DOUBLE) "
    "WITH ('topic'='points')"
)
EDGES = 3

TEXTS = ["", "a", "ab", "b", "é"]
WIDE = [Decimal(text) for text in ("-1.50", "0.00", "0.01", "123456789012345678.25")]
DOUBLES = [-0.1, 1.0, 1.0, 1e16, 1e16, 1e308, 1.7e308, -1.7e308, 5e-324]
ids = st.integers(0, 4)
xs = st.none() | st.integers(0, 5)
ys = st.none() | st.integers(0, 4)
groups = st.none() | st.sampled_from("ab")
columns = st.sampled_from(["y", "y", "x", "id", "t", "w", "d"])
numbers = st.sampled_from(["y", "y", "x", "w", "d"])
aggregates = st.one_of(
    st.tuples(st.sampled_from(["min", "max"]), columns),
    st.tuples(st.just("count"), st.none() | columns),
    st.tuples(st.just("count_distinct"), columns),
    st.tuples(st.sampled_from(["sum", "avg"]), numbers),
)
BOUNDS = {"x": st.integers(-1, 6), "y": st.integers(-1, 6), "t": st.sampled_from(TEXTS), "w": st.sampled_from(WIDE)}


outputs = st.one_of(
    st.tuples(aggregates),
    st.lists(aggregates, min_size=2, max_size=4).map(tuple),
    st.tuples(st.tuples(st.just("distinct"), columns)),
)


@st.composite
def ranges(draw: st.DrawFn, outputs: st.SearchStrategy[tuple[Output, ...]] = outputs) -> Question:
    """Any question of the range families."""
    of = draw(outputs)
    range_ = draw(st.sampled_from(["x", "x", "y", "t", "w"]))
    lo, hi = draw(st.none() | BOUNDS[range_]), draw(st.none() | BOUNDS[range_])
    equal = draw(st.sampled_from([(), (("g", "a"),), (("g", "b"),), (("g", "zz"),), (("w", WIDE[2]),)]))
    if equal and equal[0][0] == range_:
        equal = ()
    return Question(of, equal, range_, lo, hi, draw(st.booleans()))


@dataclass(frozen=True)
class WhereOf:
    """What a question of a range chooses, as a condition of its own."""

    question: Question

    def sql(self) -> str:
        return self.question.sql("p").partition(" WHERE ")[2]

    def of(self, row: Row) -> bool:
        return self.question.meets(row)


order = st.builds(
    Order, st.sampled_from(["y", "x", "g", "t", "w", "d"]), st.booleans(), st.sampled_from(["", "", "FIRST", "LAST"])
)


@st.composite
def first_rows(draw: st.DrawFn) -> RowsQuestion:
    """The first rows of a range, in an order that ends with the key."""
    where = WhereOf(draw(ranges(st.just((("count", None),)))))
    by = {one.column: one for one in draw(st.lists(order, max_size=2))}
    shown = draw(st.lists(st.sampled_from(["id", "y", "t", "w", "d", "g"]), min_size=1, max_size=3))
    last = Order("id", draw(st.booleans()))
    return RowsQuestion(tuple(shown), where if where.sql() else None, (*by.values(), last), draw(st.integers(0, 4)))


questions = st.one_of(ranges(), ranges(), first_rows())


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


def in_order(question: Question | RowsQuestion, answer: list[list[Any]]) -> list[list[Any]]:
    """Return rows whose order counts as they are, others sorted."""
    return answer if isinstance(question, RowsQuestion) else sorted(answer, key=repr)


@dataclass
class Policy:
    """Which changes are told; `least` is for MIN CHANGE."""

    text: str = ""
    least: Fraction = Fraction(0)
    percent: bool = False

    @property
    def kind(self) -> str:
        return self.text.split(" ")[0]

    def tells(self, told: Any, new: Any) -> bool:
        """Whether MIN CHANGE tells; answers are tuples of one."""
        (old,), (value,) = told, new
        if old is None or value is None:
            return bool(old != value)
        apart = abs(Fraction(value) - Fraction(old))
        return apart > 0 and apart >= (abs(Fraction(old)) * self.least / 100 if self.percent else self.least)


EVERY = Policy()
POLICIES = [EVERY, EVERY, Policy("EVERY CHANGE"), Policy("LATEST"), Policy("LATEST")]
LEAST = [
    Policy("MIN CHANGE 0", Fraction(0)),
    Policy("MIN CHANGE 2", Fraction(2)),
    Policy("MIN CHANGE 1.5", Fraction(3, 2)),
    Policy("MIN CHANGE 50 %", Fraction(50), True),
]


@st.composite
def requests(draw: st.DrawFn) -> tuple[Question | RowsQuestion, Policy, int | None, bytes]:
    """A question, its policy and time to live, and the record that asks: options stand in the SQL or beside it."""
    question, number = draw(questions), False
    if isinstance(question, Question):
        ((function, column), *others) = question.outputs
        number = not others and function != "distinct" and (function == "count" or column != "t")
    policy = draw(st.sampled_from(POLICIES + (LEAST if number else [])))
    ttl = draw(st.sampled_from([None, None, None, 5, 20]))
    record: dict[str, Any] = {"sql": question.sql("p")}
    if draw(st.booleans()):
        record["sql"] += f" NOTIFY {policy.text}" if policy.text else ""
    elif policy.text:
        record["notify"] = policy.text
    if ttl is not None and draw(st.booleans()):
        record["sql"] += f" TTL {ttl} SECONDS"
    elif ttl is not None:
        record["ttl"] = ttl
    packed = draw(st.sampled_from([None, "records", "packed", "packed"]))
    if packed and draw(st.booleans()):
        record["sql"] += f" DELIVER {packed}"
    elif packed:
        record["deliver"] = packed
    return question, policy, ttl, msgspec.json.encode(record)


@dataclass
class Asked:
    """What one subscription must be told: `told` is what it holds, `changes` how often it was since the last look."""

    question: Question | RowsQuestion
    policy: Policy
    over: float
    now: Any
    told: Any
    changes: int = 1

    def moves(self, answer: Any) -> None:
        """Take the answer after a row."""
        changes, self.now = self.differ(self.now, answer), answer
        if self.policy.kind == "MIN":
            self.tell_if(self.policy.tells(self.told, answer) and self.differ(self.told, answer))
        else:
            self.tell_if(changes and self.policy.kind != "LATEST")

    def differ(self, one: Any, other: Any) -> bool:
        """Whether two exact answers are written otherwise."""
        return self.written(one) != self.written(other)

    def written(self, exact: Any) -> list[list[Any]]:
        """Return an exact answer as a subscriber holds it, in an order of its own."""
        return in_order(self.question, shown(self.question, exact))

    def tell_if(self, tells: bool) -> None:
        if tells:
            self.told = self.now
            self.changes += 1


NAMES = ["s1", "s2", "s3", "s4", "s5"]


class Chain(RuleBasedStateMachine):
    """Publications, registrations, replacements, endings and restarts in any order; edges publish summaries at once."""

    @initialize()
    def begin(self) -> None:
        self.pipeline = PurePipeline(virtual_edges=EDGES, patience=Patience(0, 0))
        self.pipeline.apply(DDL)
        self.relation = self.pipeline.catalog.relations["p"]
        self.naive = NaiveDatabase()
        self.asked: dict[str, Asked] = {}
        self.subscribers: dict[str, Subscriber] = {}
        self.read = dict.fromkeys(range(EDGES), 0)
        self.reader = DeliveryReader()

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
            for asked in self.asked.values():
                asked.moves(self.naive.exact(asked.question))
        for asked in self.asked.values():
            asked.tell_if(asked.policy.kind == "LATEST" and asked.differ(asked.now, asked.told))
        self.pipeline.settle()

    @rule(name=st.sampled_from(NAMES), request=requests())
    def subscribe(self, name: str, request: tuple[Question | RowsQuestion, Policy, int | None, bytes]) -> None:
        question, policy, ttl, record = request
        self.pipeline.append(self.pipeline.topics.subscriptions, name.encode(), record)
        self.pipeline.settle()
        answer = self.naive.exact(question)
        over = float("inf") if ttl is None else self.pipeline.clock + ttl
        self.asked[name] = Asked(question, policy, over, answer, answer)
        self.subscribers[name] = Subscriber()

    @rule(name=st.sampled_from(NAMES))
    def unsubscribe(self, name: str) -> None:
        self.pipeline.append(self.pipeline.topics.subscriptions, name.encode(), None)
        self.pipeline.settle()
        self.end([name])

    @rule(seconds=st.sampled_from([1, 5, 19]))
    def pass_time(self, seconds: int) -> None:
        self.pipeline.clock += seconds
        self.pipeline.tell_progress()
        self.pipeline.settle()
        self.end([name for name, asked in self.asked.items() if asked.over <= self.pipeline.clock])

    def end(self, names: list[str]) -> None:
        over = [name for name in names if self.asked.pop(name, None)]
        self.deliver()
        for name in over:
            assert not self.subscribers.pop(name).live

    @rule()
    def restart(self) -> None:
        self.pipeline.restart()

    @rule(number=st.integers(0, EDGES - 1), compact=st.booleans())
    def lose_edge(self, number: int, compact: bool) -> None:
        self.pipeline.lose_edge(number, compact)

    @precondition(lambda self: self.pipeline.epoch < 3)
    @rule()
    def begin_epoch(self) -> None:
        self.pipeline.begin_epoch()
        self.pipeline.settle()
        for asked in self.asked.values():
            asked.tell_if(asked.differ(asked.told, asked.now))
            asked.told = asked.now

    def deliver(self) -> None:
        for partition, start in self.read.items():
            log = self.pipeline.logs[self.pipeline.topics.deliveries][partition]
            for key, value in log[start:]:
                for told in self.reader.objects(key, value or b"") if key != b"@progress" else ():
                    assert key in (b"@packed", told["id"].encode())
                    assert home_partition(told["id"].encode(), EDGES) == partition
                    self.subscribers[told["id"]].take(told)
            self.read[partition] = len(log)

    @invariant()
    def every_subscriber_holds_the_answer(self) -> None:
        if not hasattr(self, "pipeline"):
            return
        self.deliver()
        for name, asked in self.asked.items():
            subscriber = self.subscribers[name]
            assert subscriber.fault is None, (name, asked, subscriber.fault)
            assert subscriber.live
            assert in_order(asked.question, subscriber.rows) == asked.written(asked.told), (name, asked)
            assert subscriber.counted() == asked.changes, (name, asked)
            asked.changes = 0

    def teardown(self) -> None:
        if hasattr(self, "pipeline"):
            assert not self.pipeline.logs[self.pipeline.topics.dead_letters]


TestChain = pytest.mark.deep(Chain.TestCase)
TestChain.settings = settings(max_examples=deep_examples(40), stateful_step_count=15, deadline=None)
