"""What a client holds of a join is what the rows of both tables make, and changes name the record that they are of."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import deep_examples
from tests.tidewire.client.test_held_rows import conflated, told
from tidewire.client.held_answer import HeldAnswer
from tidewire.pure_pipeline import PurePipeline

DDL = """CREATE TABLE quote (id INTEGER PRIMARY KEY, symbol VARCHAR, price DECIMAL(4,1));
CREATE TABLE filing (no INTEGER PRIMARY KEY, symbol VARCHAR, kind VARCHAR) WITH ('topic'='filings');
CREATE JOIN filing, quote"""
SQL = "SELECT q.symbol, f.symbol, q.price FROM quote q JOIN filing f ON q.symbol = f.symbol WHERE f.kind <> 'x'"
SYMBOLS = st.sampled_from(["a", "b", "", None])
quotes = st.fixed_dictionaries({"id": st.integers(0, 2), "symbol": SYMBOLS, "price": st.sampled_from(["1.0", "2.5"])})
filings = st.fixed_dictionaries({"no": st.integers(0, 2), "symbol": SYMBOLS, "kind": st.sampled_from(["x", "y", None])})
keys = st.tuples(st.sampled_from(["id", "no"]), st.integers(0, 2))
batches = st.lists(st.lists(quotes | filings | keys | st.just("restart"), max_size=8), max_size=4)
TOPICS = {"id": "quote", "no": "filings"}


class World:
    """A pipeline, and the rows that it was told."""

    def __init__(self) -> None:
        self.pipeline = PurePipeline(1)
        self.pipeline.apply(DDL)
        self.rows: dict[str, dict[int, dict[str, Any]]] = {"id": {}, "no": {}}
        self.topics: list[str] = []

    def take(self, batch: list[Any]) -> None:
        for change in batch:
            if change == "restart":
                self.pipeline.settle()
                self.pipeline.restart()
                continue
            name, key = next((n, change[n]) for n in TOPICS if n in change) if isinstance(change, dict) else change
            self.rows[name].pop(key, None)
            if isinstance(change, dict):
                self.rows[name][key] = change
            value = json.dumps(change).encode() if isinstance(change, dict) else None
            self.pipeline.append(TOPICS[name], json.dumps({name: key}).encode(), value)
        self.pipeline.settle()

    def joined(self) -> Counter[tuple[Any, ...]]:
        pairs = ((q, f) for q in self.rows["id"].values() for f in self.rows["no"].values())
        return Counter(
            (q["symbol"], f["symbol"], q["price"])
            for q, f in pairs
            if q["symbol"] is not None and q["symbol"] == f["symbol"] and f["kind"] not in ("x", None)
        )


@pytest.mark.deep
@settings(max_examples=deep_examples(100), deadline=None)
@given(batches, batches, st.sampled_from(["EVERY CHANGE", "LATEST"]), st.sampled_from(["records", "packed"]))
def test_a_client_holds_what_rows_make(before: list[Any], after: list[Any], notify: str, deliver: str) -> None:
    world = World()
    for batch in before:
        world.take(batch)
    record = msgspec.json.encode({"sql": SQL, "notify": notify, "deliver": deliver})
    world.pipeline.append(world.pipeline.topics.subscriptions, b"s", record)
    world.pipeline.settle()
    for batch in after:
        world.take(batch)
    held, at_once, deliveries = HeldAnswer(), HeldAnswer(), told(world.pipeline)
    for one in deliveries:
        held.take(one)
        assert one.kind != "change" or one.at.topic in TOPICS.values()
    assert held.form == "bag" and held.rows == world.joined()
    for one in conflated(deliveries):
        at_once.take(one)
    assert at_once.rows == held.rows and at_once.mark == held.mark


def test_a_change_names_the_table_whose_record_it_is_of() -> None:
    world = World()
    world.pipeline.append(world.pipeline.topics.subscriptions, b"s", msgspec.json.encode({"sql": SQL}))
    world.take([{"id": 1, "symbol": "a", "price": "1.0"}])
    world.take([{"no": 7, "symbol": "a", "kind": "y"}, {"no": 8, "symbol": "a", "kind": "x"}])
    world.take([{"id": 1, "symbol": "a", "price": "2.5"}, ("no", 7)])
    told_of = [(one.at.topic, one.at.offset, one.removed, one.added) for one in told(world.pipeline)]
    assert told_of == [
        (None, None, [], []),
        ("filings", 0, [], [("a", "a", "1.0")]),
        ("quote", 1, [("a", "a", "1.0")], [("a", "a", "2.5")]),
        ("filings", 2, [("a", "a", "2.5")], []),
    ]
