"""Joins, each part of the chain moved on by itself and interrupted anywhere; judged by the verification, from outside.

What `test_chain_interrupted.py` does to one table is done to three, in JSON, as Debezium tells them, and in buckets:
keys change, tables are truncated, dropped and made again, cells come while others run and go again, records between
engine and edges cannot be read. Subscribers of a table ask beside them. The edges share one index of joins.
"""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from catalog.ddl.cell_ddl import create_join
from operators.row_window import WindowBounds
from overlay.subscriptions.summaries import Patience
from shard.bounds import Bounds
from tests.effort import deep_examples
from tests.tidewire.verification.test_against_the_chain import EDGES
from tests.tidewire.verification.test_joins_against_the_chain import CONDITIONS, DDL, WIDER, Joined, random_question
from tidewire.verification.verify import verify

NAMES = [b"s%d" % i for i in range(8)]
DAMAGED = b"\xff\xff\xff\xffdamaged"
TABLES = dict(zip("abc", DDL.split(";"), strict=True))
numbers, names, seeds = st.integers(0, EDGES - 1), st.sampled_from(NAMES), st.integers(0, 10**6)


def of_one_table(choose: random.Random) -> str:
    """A question for rows or numbers of one table, beside the joins."""
    table = choose.choice("abc")
    items = choose.choice(["g", "*", "COUNT(*)", "k, g" if table != "b" else "id, l"])
    where = choose.choice(["", f" WHERE {choose.choice(CONDITIONS[table]).replace('{}', table)}"])
    return f"SELECT {items} FROM {table}{where}{choose.choice(['', '', ' NOTIFY LATEST'])}"


class InterruptedJoins(RuleBasedStateMachine):
    """Anything may happen between any two steps of anybody."""

    @initialize(early=st.lists(st.tuples(names, seeds), max_size=6), window=st.sampled_from([0, 2, 4, 64]))
    def begin(self, early: list[tuple[bytes, int]], window: int) -> None:
        self.chain = Joined(Patience(0, 0), window)
        self.chain.apply(DDL)
        self.lost = False
        if early:
            self.subscribe(early)
            self.settle()
            self.make_cells(9)

    @rule(seed=seeds, count=st.integers(1, 8), only=st.sampled_from(["abc", "abc", "a", "b", "c"]))
    def publish(self, seed: int, count: int, only: str) -> None:
        choose = random.Random(seed)
        for _ in range(count):
            getattr(self.chain, f"change_{choose.choice(only)}")(choose)

    @rule(seed=seeds, batches=st.integers(1, 4), first=numbers, most=st.none() | st.integers(1, 3))
    def keep_up(self, seed: int, batches: int, first: int, most: int | None) -> None:
        """Publish batch by batch; one edge follows, another one reads no more than `most` of each."""
        for batch in range(batches):
            self.publish(seed + batch, 3 + seed % 9, "abc")
            self.chain.run_batch()
            self.chain.run_edge(first)
            self.chain.run_edge(1 - first, most)

    @rule(asked=st.lists(st.tuples(names, seeds), min_size=1, max_size=4))
    def subscribe(self, asked: list[tuple[bytes, int]]) -> None:
        for name, seed in asked:
            choose = random.Random(seed)
            sql = random_question(choose) if choose.random() < 0.85 else of_one_table(choose)
            self.chain.append(self.chain.topics.subscriptions, name, json.dumps({"sql": sql}).encode())

    @rule(name=names)
    def unsubscribe(self, name: bytes) -> None:
        self.chain.append(self.chain.topics.subscriptions, name, None)

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

    @rule(most=st.integers(1, 3))
    def make_cells(self, most: int) -> None:
        wanted = self.chain.cells_wanted()
        there = [tables for tables in wanted if self.chain.catalog.relations.keys() >= set(tables)]
        if there:
            self.chain.declare("; ".join(map(create_join, there[:most])))

    @precondition(lambda self: self.chain.catalog.cells)
    @rule(which=seeds)
    def drop_cell(self, which: int) -> None:
        cells = [*self.chain.catalog.cells.values()]
        self.chain.declare(f"DROP JOIN {', '.join(cells[which % len(cells)].tables)}")

    @rule(table=st.sampled_from("abc"))
    def drop_or_create_table(self, table: str) -> None:
        there = table in self.chain.catalog.relations
        self.chain.declare(f"DROP TABLE {table}" if there else TABLES[table])

    @precondition(lambda self: "a" in self.chain.catalog.relations)
    @rule()
    def widen(self) -> None:
        self.chain.declare(WIDER)

    @rule(seconds=st.sampled_from([5, 90]))
    def pass_time(self, seconds: int) -> None:
        self.chain.clock += seconds
        self.chain.tell_progress()

    @precondition(lambda self: self.chain.epoch < 2)
    @rule()
    def begin_epoch(self) -> None:
        self.chain.begin_epoch()

    @rule(number=numbers, which=seeds)
    def lose_what_is_told(self, number: int, which: int) -> None:
        """Damage a record that tells of a batch before its edge reads it; all is made up for before anything else.

        Whoever is replaced, or lives in an epoch that is over, before that was told too little, and whoever ends
        then cannot be judged.
        """
        self.rest()
        self.publish(which, 8, "abc")
        self.chain.run_batch()
        topic = self.chain.topics.notifications
        log, begin = self.chain.logs[topic][number], self.chain._fed[topic, number]
        told = [i for i in range(begin, len(log)) if not (log[i][0] or b"@").startswith(b"@")]
        if told:
            log[told[which % len(told)]] = (b"@", DAMAGED)
            self.lost = True
        self.rest()

    def rest(self) -> None:
        for _ in range(3):
            self.chain.tell_progress()
            self.chain.settle()
            self.make_cells(9)
        self.chain.settle()

    @rule()
    def settle(self) -> None:
        self.chain.settle()

    @rule(window=st.sampled_from([0, 2, 4]))
    def change_the_window(self, window: int) -> None:
        """Let the engine go on with another setting."""
        self.chain._held_to = Bounds(window=WindowBounds(window))

    @invariant()
    def no_row_is_missed(self) -> None:
        if hasattr(self, "chain") and not self.lost:
            losses = [why for edge in self.chain.edges for why in edge.losses()]
            assert not [why for why in losses if "which are not here" in why], losses

    def teardown(self) -> None:
        if hasattr(self, "chain"):
            self.rest()
            self.no_row_is_missed()
            report = verify(self.chain.journal())
            assert report.clean and (self.lost or report.unjudged == 0), report.faults


TestInterruptedJoins = pytest.mark.deep(InterruptedJoins.TestCase)
TestInterruptedJoins.settings = settings(max_examples=deep_examples(60), stateful_step_count=35, deadline=None)
