"""Views through the whole chain, each part moved on by itself and interrupted anywhere.

Whenever everything has come to rest, what each subscriber holds after all that it was told is what DuckDB answers over
its own views of the rows that were published; nothing is told twice, and what is told names a publication. That every
publication is told rightly by itself is checked in `tests/shard/test_views.py`.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import duckdb
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from overlay.subscriptions.summaries import Patience
from tests.effort import deep_examples
from tidewire.client.delivery_reader import DeliveryReader
from tidewire.pure_pipeline import PurePipeline
from tidewire.scenario.subscriber import Subscriber

EDGES = 2
TABLES = {
    "t": "CREATE TABLE t (id INTEGER PRIMARY KEY, g VARCHAR, x INTEGER)",
    "u": "CREATE TABLE u (id INTEGER PRIMARY KEY, g VARCHAR, x INTEGER) WITH ('format'='debezium-json')",
    "b": "CREATE TABLE b (g VARCHAR, id INTEGER, x INTEGER, PRIMARY KEY (g, id)) WITH ('buckets'='3', 'bucket.by'='g')",
}
VIEWS = {
    "groups": "SELECT g, MIN(x) AS low, MAX(x) AS high, COUNT(*) AS n FROM t WHERE x > 0 GROUP BY g",
    "of_groups": "SELECT n, COUNT(*) AS m, SUM(low) AS s FROM groups GROUP BY n",
    "plus": "SELECT id, g, x + id AS y FROM t WHERE g IS NOT NULL",
    "total": "SELECT COUNT(*) AS n, SUM(x) AS s, AVG(x) AS a FROM u",
    "top": "SELECT id, g, x FROM u QUALIFY ROW_NUMBER() OVER (PARTITION BY g ORDER BY x DESC, id) <= 2",
    "pairs": "SELECT t.id AS i, u.id AS j, t.g AS g, u.x AS x FROM t JOIN u ON t.g = u.g",
    "outer_join": "SELECT v.g AS g, v.n AS n, w.x AS x FROM groups v LEFT JOIN top w ON v.g = w.g",
    "all_rows": "SELECT id, g, x FROM t UNION ALL SELECT id, g, x FROM u",
    "parts": "SELECT g, MIN(x) AS low, COUNT(*) AS n FROM b WHERE id < 4 GROUP BY g",
    "per_group": "SELECT g, COUNT(*) AS n, MAX(x) AS high FROM all_rows GROUP BY g HAVING COUNT(*) > 1",
}
QUESTIONS = [
    "SELECT MAX(low) FROM groups WHERE n >= 1",
    "SELECT MIN(high) FROM groups WHERE g = 'a'",
    "SELECT DISTINCT low FROM groups WHERE n BETWEEN 1 AND 2",
    "SELECT g, low FROM groups WHERE low < 2 OR g IS NULL",
    "SELECT g, high FROM groups ORDER BY high DESC, g LIMIT 2",
    "SELECT SUM(n), COUNT(*) FROM groups NOTIFY LATEST",
    "SELECT m, s FROM of_groups WHERE n > 0",
    "SELECT MAX(m) FROM of_groups",
    "SELECT COUNT(*) FROM plus WHERE y > 2",
    "SELECT MIN(y) FROM plus WHERE g = 'b'",
    "SELECT n, s FROM total",
    "SELECT MAX(n) FROM total",
    "SELECT id, x FROM top WHERE g = 'a'",
    "SELECT COUNT(*), SUM(x) FROM top WHERE x >= 1",
    "SELECT i, j, x FROM pairs WHERE x > 0",
    "SELECT COUNT(*) FROM pairs WHERE i BETWEEN 0 AND 1",
    "SELECT g, n, x FROM outer_join WHERE x IS NULL OR x > 1",
    "SELECT COUNT(*) FROM all_rows",
    "SELECT n, low FROM parts WHERE g = 'a'",
    "SELECT MIN(low) FROM parts WHERE g = 'b'",
    "SELECT COUNT(*), SUM(n) FROM parts WHERE g = 'c' AND low > 0",
    "SELECT MAX(high) FROM per_group WHERE n > 1",
    "SELECT g, n FROM per_group WHERE n > 1 NOTIFY LATEST",
]
STEADY = ["groups", "top", "all_rows"]
NAMES = [b"s%d" % i for i in range(8)]
numbers, names, seeds = st.integers(0, EDGES - 1), st.sampled_from(NAMES), st.integers(0, 10**6)
Value = Any


class InterruptedViews(RuleBasedStateMachine):
    """Anything may happen between any two steps of anybody."""

    @initialize()
    def begin(self) -> None:
        self.chain = PurePipeline(EDGES, Patience(0, 0))
        self.chain.apply("; ".join(TABLES.values()))
        self.rows: dict[str, dict[Value, tuple[Value, ...]]] = {name: {} for name in TABLES}
        for name, sql in VIEWS.items():
            self.chain.declare(f"CREATE VIEW {name} AS {sql}")
        self.read = dict.fromkeys(range(EDGES), 0)
        self.reader = DeliveryReader()
        self.asked: dict[str, str | None] = {}
        self.subscribers: dict[str, tuple[int, str, Subscriber]] = {}

    @rule(seed=seeds, count=st.integers(1, 8))
    def publish(self, seed: int, count: int) -> None:
        choose = random.Random(seed)
        for _ in range(count):
            self.change(choose, choose.choice("ttuub"))

    def change(self, choose: random.Random, table: str) -> None:
        rows, id = self.rows[table], choose.randrange(5)
        row = {"id": id, "g": choose.choice(["a", "b", None]), "x": choose.choice([None, 0, 1, 2, 3])}
        key, roll = json.dumps({"id": id}).encode(), choose.random()
        if table == "b":
            row = {"g": choose.choice("abc"), "id": id, "x": row["x"]}
            key, id = json.dumps({"g": row["g"], "id": id}).encode(), (row["g"], id)
        if table == "u" and roll < 0.05:
            rows.clear()
            self.chain.append("u", None, b'{"op":"t"}')
        elif roll < 0.25:
            rows.pop(id, None)
            self.chain.append(table, key, b'{"op":"d"}' if table == "u" else None)
        elif table == "u":
            before = choose.randrange(5)
            rows.pop(before, None)
            rows[id] = tuple(row.values())
            self.chain.append("u", None, json.dumps({"op": "u", "before": {"id": before}, "after": row}).encode())
        else:
            rows[id] = tuple(row.values())
            self.chain.append(table, key, json.dumps(row).encode())

    @rule(name=names, which=seeds)
    def subscribe(self, name: bytes, which: int) -> None:
        sql = QUESTIONS[which % len(QUESTIONS)]
        self.chain.append(self.chain.topics.subscriptions, name, json.dumps({"sql": sql}).encode())
        self.asked[name.decode()] = sql

    @rule(name=names)
    def unsubscribe(self, name: bytes) -> None:
        self.chain.append(self.chain.topics.subscriptions, name, None)
        self.asked[name.decode()] = None

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

    @rule(name=st.sampled_from([name for name in VIEWS if name not in STEADY]), rest=st.booleans())
    def drop_or_create(self, name: str, rest: bool) -> None:
        """Drop a view that no other reads, or create it again, amid everything."""
        there = name in self.chain.catalog.views
        if rest:
            self.settle()
        self.chain.declare(f"DROP VIEW {name}" if there else f"CREATE VIEW {name} AS {VIEWS[name]}")

    @precondition(lambda self: self.chain.epoch < 2)
    @rule()
    def begin_epoch(self) -> None:
        self.chain.begin_epoch()

    @rule(seconds=st.sampled_from([5, 90]))
    def pass_time(self, seconds: int) -> None:
        self.chain.clock += seconds
        self.chain.tell_progress()

    def settle(self) -> None:
        """Let everything come to rest, and read what was told."""
        self.chain.settle()
        for number in range(EDGES):
            log = self.chain.logs[self.chain.topics.deliveries][number]
            for key, value in log[self.read[number] :]:
                for told in self.reader.objects(key, value or b""):
                    if told["kind"] != "progress":
                        self.take(told)
            self.read[number] = len(log)

    def take(self, told: dict[str, Value]) -> None:
        name, version = told["id"], told["version"]
        if name not in self.subscribers or self.subscribers[name][0] != version:
            self.subscribers[name] = version, told["sql"], Subscriber()
        self.subscribers[name][2].take(told)
        if told["kind"] == "change":
            assert told["at"]["topic"] in TABLES, told
        if told["kind"] == "ended":
            del self.subscribers[name]

    @rule()
    def rest(self) -> None:
        """Compare all that is held with what DuckDB says."""
        self.settle()
        with duckdb.connect() as database:
            for name, rows in self.rows.items():
                columns = "g VARCHAR, id INTEGER" if name == "b" else "id INTEGER, g VARCHAR"
                database.execute(f"CREATE TABLE {name} ({columns}, x INTEGER)")
                for row in rows.values():
                    database.execute(f"INSERT INTO {name} VALUES (?, ?, ?)", row)
            for name, view in self.chain.catalog.views.items():
                database.execute(f"CREATE VIEW {name} AS {view.sql}")
            for name, (_, sql, subscriber) in self.subscribers.items():
                self.compare(name, sql, subscriber, database.execute(sql.partition(" NOTIFY ")[0]).fetchall())
        for name, sql in self.asked.items():
            if sql is None:
                assert name not in self.subscribers
            elif any(f" FROM {view}" in sql for view in STEADY):
                assert self.subscribers[name][1] == sql, "what can be answered is live"

    def compare(self, name: str, sql: str, subscriber: Subscriber, rows: list[tuple[Value, ...]]) -> None:
        assert subscriber.fault is None, (name, sql, subscriber.fault)
        answer, meant = subscriber.answer, [tuple(map(plain, row)) for row in rows]
        if isinstance(answer, list) and "SELECT DISTINCT" in sql:
            assert Counter(map(plain, answer)) == Counter(row[0] for row in meant), (name, sql)
        elif "LIMIT" in sql:
            assert [tuple(row) for row in subscriber.rows] == meant, (name, sql)
        elif rows_shown(sql):
            assert Counter(tuple(row) for row in subscriber.rows) == Counter(meant), (name, sql)
        else:
            told = tuple(answer) if isinstance(answer, list) else (answer,)
            assert told == meant[0], (name, sql)

    def teardown(self) -> None:
        if hasattr(self, "chain"):
            self.rest()


def rows_shown(sql: str) -> bool:
    return not any(f"{name}(" in sql.split(" FROM ")[0] for name in ("MIN", "MAX", "SUM", "COUNT"))


def plain(value: Value) -> Value:
    """A number as it is told."""
    return int(value) if value is not None and not isinstance(value, str | float | bool) else value


InterruptedViews.TestCase.settings = settings(max_examples=deep_examples(150), stateful_step_count=30, deadline=None)
TestInterruptedViews = pytest.mark.deep(InterruptedViews.TestCase)
