"""Answers of rows while anybody may die at any moment: between the parts of a first answer, and during a look.

Every answer of rows is cut after one or two rows, each part a record of its own, so an edge or the engine is lost
between any two of them; also between what an edge says it has when an epoch begins and the shard's answer to that. All
that is told is judged by the verification; what was looked up, by what a subscriber holds who took what came before.
"""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from functools import partial
from typing import Any

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from connectors.json.writer import encode_key, encode_row
from connectors.kafka.partitioner import home_partition
from overlay.subscriptions.bag_looks import LookedRows
from overlay.subscriptions.summaries import Patience
from shard import encode
from state.byte_runs import byte_runs
from tests.effort import deep_examples
from tests.stack.looker import Look, agreeing
from tests.tidewire.verification.test_against_the_chain import (
    DDL,
    EDGES,
    Judged,
    random_bag,
    random_list,
    random_row,
    random_sums,
)
from tidewire.client.delivery_reader import DeliveryReader
from tidewire.client.records import Delivery
from tidewire.verification.verify import verify

NAMES = [f"r{i}" for i in range(6)]
PART_BYTES = 150
numbers, seeds = st.integers(0, EDGES - 1), st.integers(0, 10**6)


class InterruptedRows(RuleBasedStateMachine):
    """Anything may happen between any two steps of anybody."""

    @initialize(seed=seeds)
    def begin(self, seed: int) -> None:
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(encode, "RECORD_BYTES", PART_BYTES)
        self.patch.setattr(encode, "byte_runs", partial(byte_runs, most=PART_BYTES))
        self.chain = Judged(EDGES, Patience(0, 0))
        self.chain.apply(DDL)
        self.asked: dict[int, str] = {}
        self.looks: dict[str, list[Look]] = defaultdict(list)
        self.publish(seed, 12)

    @rule(seed=seeds, count=st.integers(1, 12))
    def publish(self, seed: int, count: int) -> None:
        choose, relation = random.Random(seed), self.chain.catalog.relations["t"]
        for _ in range(count):
            row = random_row(choose, relation)
            value = None if choose.random() < 0.2 else encode_row(relation, row)
            self.chain.append("t", encode_key(relation, row), value, row["k"] % 2)

    @rule(asked=st.lists(st.tuples(st.sampled_from(NAMES), seeds), min_size=1, max_size=4))
    def subscribe(self, asked: list[tuple[str, int]]) -> None:
        for name, seed in asked:
            choose = random.Random(seed)
            sql = choose.choice([random_bag, random_bag, random_bag, random_list, random_sums])(choose)
            self.chain.append(self.chain.topics.subscriptions, name.encode(), json.dumps({"sql": sql}).encode())

    @rule(name=st.sampled_from(NAMES))
    def unsubscribe(self, name: str) -> None:
        self.chain.append(self.chain.topics.subscriptions, name.encode(), None)

    @rule(name=st.sampled_from(NAMES))
    def look(self, name: str) -> None:
        number = -1 - len(self.asked)
        self.asked[number] = name
        self.chain.edges[home_partition(name.encode(), EDGES)].look(number, name.encode())

    @rule(number=numbers, most=st.none() | st.integers(0, 4))
    def run_edge(self, number: int, most: int | None) -> None:
        self.chain.run_edge(number, most)

    @rule()
    def run_batch(self) -> None:
        self.chain.run_batch()

    @rule(share=st.sampled_from([0.0, 0.3, 0.7, 1.0]))
    def break_off(self, share: float) -> None:
        self.chain.break_off(share)

    @rule(number=numbers, compact=st.booleans())
    def lose_edge(self, number: int, compact: bool) -> None:
        self.chain.lose_edge(number, compact)

    @rule(number=numbers, most=st.integers(1, 3))
    def lose_edge_amid_a_batch(self, number: int, most: int) -> None:
        """The edge reads a few parts of what the next batch tells it, and another one takes over."""
        self.chain.run_edge(number)
        self.chain.run_batch()
        self.chain.run_edge(number, most)
        self.chain.lose_edge(number)

    @precondition(lambda self: self.chain.epoch < 2)
    @rule()
    def begin_epoch(self) -> None:
        self.chain.begin_epoch()

    @rule()
    def settle(self) -> None:
        self.chain.settle()

    @invariant()
    def note_looks(self) -> None:
        """Keep what was looked up; who is told of rows by their key may hold older forms of them."""
        for edge in self.chain.edges:
            for number, seen in edge.looked():
                if isinstance(seen, LookedRows) and not seen.keys:
                    rows = Counter(tuple(msgspec.json.decode(row)) for row in seen.rows)
                    self.looks[self.asked[number]].append(Look(seen.version, seen.n, rows))

    def teardown(self) -> None:
        if not hasattr(self, "chain"):
            return
        try:
            self.chain.settle()
            self.note_looks()
            report = verify(self.chain.journal())
            assert report.clean and report.unjudged == 0, report.faults
            told = self.told()
            for name, looks in self.looks.items():
                agreeing(name, looks, told[name])
        finally:
            self.patch.undo()

    def told(self) -> dict[str, list[Delivery]]:
        """Return the deliveries of each subscriber, as a client reads them."""
        found: dict[str, list[Delivery]] = defaultdict(list)
        for log in self.chain.logs[self.chain.topics.deliveries].values():
            reader = DeliveryReader()
            for key, value in log:
                for one in reader.read(key, value) if value is not None else ():
                    if isinstance(one, Delivery):
                        found[one.id].append(one)
        return found


def test_a_first_answer_is_cut_into_parts_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encode, "RECORD_BYTES", PART_BYTES)
    monkeypatch.setattr(encode, "byte_runs", partial(byte_runs, most=PART_BYTES))
    chain = Judged(1)
    chain.apply(DDL)
    relation: Any = chain.catalog.relations["t"]
    for k in range(6):
        row = {"k": k, "v": "x" * 50}
        chain.append("t", encode_key(relation, row), encode_row(relation, row), k % 2)
    chain.settle()
    before = len(chain.logs[chain.topics.notifications][0])
    chain.append(chain.topics.subscriptions, b"s", b'{"sql":"SELECT k, v FROM t"}')
    chain.settle()
    assert len(chain.logs[chain.topics.notifications][0]) - before > 3
    view = chain.edges[0].find(b"s")
    assert view is not None and view.rows == 6


TestInterruptedRows = pytest.mark.deep(InterruptedRows.TestCase)
TestInterruptedRows.settings = settings(max_examples=deep_examples(40), stateful_step_count=25, deadline=None)
