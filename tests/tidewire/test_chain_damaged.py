"""The whole chain while records between its parts are damaged: afterwards every subscriber holds the answer."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from connectors.json.writer import encode_key, encode_row
from connectors.kafka.partitioner import home_partition
from operators.control import decode_control
from operators.packed import is_packed, unpack
from operators.record_error import RecordError
from overlay.subscriptions.summaries import Patience
from tests.effort import deep_examples
from tests.fuzz.mutation import damaged
from tests.oracle.naive_database import NaiveDatabase, Question, shown
from tests.tidewire.test_pure_pipeline import DDL, EDGES, ids, in_order, ranges, rows
from tidewire.client.delivery_reader import DeliveryReader
from tidewire.pure_pipeline import PurePipeline
from tidewire.scenario.subscriber import Subscriber

NAMES = ["s1", "s2", "s3", "s4", "s5"]
FAULTS = st.lists(
    st.tuples(st.sampled_from(["notifications", "notifications", "registrations"]), st.integers(0, 4)), max_size=2
)


def is_readable(value: bytes) -> bool:
    """Whether it is a record; or one of a newer tidewire, which is another story."""
    try:
        return bool(unpack(value) if is_packed(value) else decode_control(value))
    except RecordError as error:
        return error.newer


class Damaging(PurePipeline):
    """Writes some records of `notifications` and `registrations` damaged, as `faults` says."""

    def __init__(self) -> None:
        self.faults: list[tuple[str, int, Any]] = []
        super().__init__(virtual_edges=EDGES, patience=Patience(0, 0))

    def append(self, topic: str, key: bytes | None, value: bytes | None, partition: int | None = None) -> None:
        for i, (where, after, data) in enumerate(self.faults):
            if topic == where and value is not None:
                if after:
                    self.faults[i] = (where, after - 1, data)
                    continue
                del self.faults[i]
                value = data.draw(damaged(st.just(value)).filter(lambda other: not is_readable(other)))
                break
        super().append(topic, key, value, partition)


class DamagedChain(RuleBasedStateMachine):
    """Publications, subscriptions, restarts and damage in any order."""

    @initialize(asked=st.lists(ranges(), min_size=5, max_size=5))
    def begin(self, asked: list[Question]) -> None:
        self.pipeline = Damaging()
        self.pipeline.apply(DDL)
        self.relation = self.pipeline.catalog.relations["p"]
        self.naive = NaiveDatabase()
        self.asked: dict[str, Question] = {}
        for name, question in zip(NAMES, asked, strict=True):
            self.ask(name, question)
        self.pipeline.settle()

    def damage(self, faults: list[tuple[str, int]], data: st.DataObject) -> None:
        """Let some of the next records be damaged: the one after so many others of its topic."""
        topics = self.pipeline.topics
        self.pipeline.faults = [(getattr(topics, topic), after, data) for topic, after in faults]

    @rule(
        batch=st.lists(rows | ids, min_size=1, max_size=4), share=st.sampled_from([None, None, 0.5, 1]), faults=FAULTS,
        data=st.data(),
    )  # fmt: skip
    def publish(self, batch: list[Any], share: float | None, faults: list, data: st.DataObject) -> None:
        self.damage(faults, data)
        for item in batch:
            row = item if isinstance(item, dict) else None
            key = encode_key(self.relation, row or {"id": item})
            self.pipeline.append("points", key, row and encode_row(self.relation, row))
            if row:
                self.naive.rows[row["id"]] = row
            else:
                self.naive.rows.pop(item, None)
        if share is not None:
            self.pipeline.break_off(share)
        self.pipeline.settle()

    @rule(asked=st.lists(st.tuples(st.sampled_from(NAMES), ranges()), max_size=3), faults=FAULTS, data=st.data())
    def subscribe(self, asked: list[tuple[str, Question]], faults: list, data: st.DataObject) -> None:
        self.damage(faults, data)
        for name, question in asked:
            self.ask(name, question)
        self.pipeline.settle()

    def ask(self, name: str, question: Question) -> None:
        record = msgspec.json.encode({"sql": question.sql("p")})
        self.pipeline.append(self.pipeline.topics.subscriptions, name.encode(), record)
        self.asked[name] = question

    @rule(number=st.integers(0, EDGES - 1), compact=st.booleans())
    def lose_edge(self, number: int, compact: bool) -> None:
        self.pipeline.lose_edge(number, compact)
        self.pipeline.settle()

    @rule(number=st.integers(0, EDGES - 1), value=st.sampled_from([None, b"", b"{}", b"\xff", b"\xff" * 99]))
    def write_something_else(self, number: int, value: bytes | None) -> None:
        self.pipeline.append(self.pipeline.topics.notifications, None, value, number)
        self.pipeline.settle()

    @rule()
    def begin_epoch(self) -> None:
        if self.pipeline.epoch < 2:
            self.pipeline.begin_epoch()
            self.pipeline.settle()

    @rule()
    def look(self) -> None:
        """Once nothing is damaged any more, two more batches bring everybody what is true, and deliveries add up."""
        self.pipeline.faults.clear()
        for _ in range(2):
            self.pipeline.tell_progress()
            self.pipeline.settle()
        reader, subscribers = DeliveryReader(), {name: Subscriber() for name in self.asked}
        for partition, log in self.pipeline.logs[self.pipeline.topics.deliveries].items():
            for key, value in log:
                for told in reader.objects(key, value or b"") if key != b"@progress" else ():
                    assert home_partition(told["id"].encode(), EDGES) == partition
                    subscribers[told["id"]].take(told)
        for name, question in self.asked.items():
            subscriber = subscribers[name]
            assert subscriber.fault is None and subscriber.live, (name, question, subscriber.fault)
            exact = shown(question, self.naive.exact(question))
            assert in_order(question, subscriber.rows) == in_order(question, exact), (name, question)
        for edge in self.pipeline.edges:
            edge.check()

    def teardown(self) -> None:
        if hasattr(self, "pipeline"):
            self.look()


TestDamagedChain = pytest.mark.deep(DamagedChain.TestCase)
TestDamagedChain.settings = settings(max_examples=deep_examples(60), stateful_step_count=15, deadline=None)
