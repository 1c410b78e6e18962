"""Two tables in one group tell people what two groups tell them: every delivery and ack is the same, through the edges.

Two chains get the same at the same moments: publications, subscriptions, tables that are dropped amid it and created
again, engines that die amid a batch, edges that come back, new epochs. One has each table in a group of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from catalog.schema.catalog import Catalog
from connectors.placement import Member, Placement
from overlay.subscriptions.summaries import Patience
from tests.effort import deep_examples
from tidewire.pure_pipeline import PurePipeline

EDGES = 2
COLUMNS = "(id INTEGER PRIMARY KEY, g VARCHAR, x INTEGER)"
tables, names = st.sampled_from("tu"), st.sampled_from(["s1", "s2", "s3", "s4"])
small, groups = st.integers(0, 2), st.sampled_from(["a", "b", None])
questions = st.sampled_from(
    [
        "SELECT MIN(x) FROM {} WHERE g = 'a'",
        "SELECT COUNT(*), SUM(x) FROM {} WHERE x BETWEEN 0 AND 1",
        "SELECT DISTINCT g FROM {} WHERE x >= 1",
        "SELECT MAX(g) FROM {} NOTIFY LATEST",
    ]
)


def one_group(catalog: Catalog) -> Placement:
    members = [Member(relation.shard, relation) for relation in catalog.relations.values()]
    return Placement({"both": members} if members else {})


class OneGroup(RuleBasedStateMachine):
    """`chains` are that of one group and that of a group a table."""

    @initialize()
    def begin(self) -> None:
        self.chains = [PurePipeline(EDGES, Patience(0, 0), place) for place in (one_group, Placement.of)]
        for table in "tu":
            self.drop_or_create(table)

    def each(self, step: Callable[[PurePipeline], object]) -> None:
        for chain in self.chains:
            step(chain)

    @rule(table=tables)
    def drop_or_create(self, table: str) -> None:
        there = table in self.chains[0].catalog.relations
        self.each(lambda chain: chain.apply(f"DROP TABLE {table}" if there else f"CREATE TABLE {table} {COLUMNS}"))

    @rule(rows=st.lists(st.tuples(tables, small, groups, small | st.none(), st.booleans()), min_size=1, max_size=6))
    def publish(self, rows: list[tuple[str, int, str | None, int | None, bool]]) -> None:
        for table, id, group, x, gone in rows:
            value = None if gone else json.dumps({"id": id, "g": group, "x": x}).encode()
            self.each(lambda chain, t=table, i=id, v=value: chain.append(t, b'{"id":%d}' % i, v))  # type: ignore[misc]

    @rule(name=names, table=tables, question=questions)
    def subscribe(self, name: str, table: str, question: str) -> None:
        value = json.dumps({"sql": question.format(table)}).encode()
        self.each(lambda chain: chain.append(chain.topics.subscriptions, name.encode(), value))

    @rule(name=names)
    def unsubscribe(self, name: str) -> None:
        self.each(lambda chain: chain.append(chain.topics.subscriptions, name.encode(), None))

    @rule(number=st.integers(0, EDGES - 1))
    def run_edge(self, number: int) -> None:
        self.each(lambda chain: chain.run_edge(number))

    @rule()
    def run_batch(self) -> None:
        self.each(lambda chain: chain.run_batch())

    @rule(share=st.sampled_from([0.3, 0.7, 1.0]))
    def break_off(self, share: float) -> None:
        self.each(lambda chain: chain.break_off(share))

    @rule(number=st.integers(0, EDGES - 1), compact=st.booleans())
    def lose_edge(self, number: int, compact: bool) -> None:
        self.each(lambda chain: chain.lose_edge(number, compact))

    @precondition(lambda self: self.chains[0].epoch < 3)
    @rule()
    def begin_epoch(self) -> None:
        self.each(lambda chain: chain.begin_epoch())

    @rule()
    def settle(self) -> None:
        self.each(lambda chain: chain.settle())
        topics = self.chains[0].topics
        for topic in (topics.deliveries, topics.acks, topics.dead_letters):
            both, alone = (chain.logs[topic] for chain in self.chains)
            assert both == alone, topic
        assert self.chains[0].groups.keys() <= {"both"}

    def teardown(self) -> None:
        if hasattr(self, "chains"):
            self.settle()


OneGroup.TestCase.settings = settings(max_examples=deep_examples(80), stateful_step_count=30, deadline=None)
TestOneGroup = pytest.mark.deep(OneGroup.TestCase)


def test_a_table_that_is_dropped_amid_a_group_leaves_the_other_as_it_is() -> None:
    chain = PurePipeline(EDGES, Patience(0, 0), one_group)
    for table in "tu":
        chain.apply(f"CREATE TABLE {table} {COLUMNS}")
        chain.append(table, b'{"id":1}', b'{"id":1,"g":"a","x":1}')
        value = json.dumps({"sql": f"SELECT COUNT(*) FROM {table}"}).encode()
        chain.append(chain.topics.subscriptions, table.encode(), value)
    chain.settle()
    chain.append("u", b'{"id":2}', b'{"id":2,"g":"a","x":1}')
    chain.append("t", b'{"id":2}', b'{"id":2,"g":"a","x":1}')
    chain.break_off(1.0)
    chain.apply("DROP TABLE u")
    assert (chain.answer("t"), chain.answer("u")) == (2, None)
    chain.apply(f"CREATE TABLE u {COLUMNS}")
    chain.append(chain.topics.subscriptions, b"again", b'{"sql":"SELECT COUNT(*) FROM u"}')
    chain.append("t", b'{"id":1}', None)
    chain.settle()
    assert (chain.answer("t"), chain.answer("again")) == (1, 0)
