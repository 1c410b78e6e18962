"""What a client holds of a filter is its rows, told one by one, or all at once as a slow reader is told."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.push.message import Missed, read_all
from tests.effort import deep_examples
from tidewire.client.delivery_reader import DeliveryReader
from tidewire.client.held_answer import HeldAnswer
from tidewire.client.records import Delivery
from tidewire.pure_pipeline import PurePipeline

DDL = "CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, s VARCHAR)"
WHERES = {
    "a >= 1": lambda row: row["a"] is not None and row["a"] >= 1,
    "a = 0 OR s LIKE 'x%'": lambda row: row["a"] == 0 or (row["s"] or "").startswith("x"),
    "s IS NULL": lambda row: row["s"] is None,
}
SHOWN = {"s": ("s",), "a, s": ("a", "s"), "id, a": ("id", "a")}
rows = st.fixed_dictionaries(
    {"id": st.integers(0, 3), "a": st.sampled_from([None, 0, 1, 2]), "s": st.sampled_from([None, "", "x", "xy"])}
)
changes = st.lists(rows | st.integers(0, 3) | st.just("restart"), max_size=12)
batches = st.lists(changes, max_size=4)


def take(pipeline: PurePipeline, table: dict[int, dict[str, Any]], batch: list[Any]) -> None:
    topic = pipeline.catalog.relations["t"].topic
    for change in batch:
        if change == "restart":
            pipeline.settle()
            pipeline.restart()
            continue
        key = change if isinstance(change, int) else change["id"]
        value = None if isinstance(change, int) else json.dumps(change).encode()
        table.pop(key, None)
        if value is not None:
            table[key] = change
        pipeline.append(topic, json.dumps({"id": key}).encode(), value)
    pipeline.settle()


def told(pipeline: PurePipeline) -> list[Delivery]:
    log, reader = pipeline.logs[pipeline.topics.deliveries][0], DeliveryReader()
    found = [one for key, value in log if value is not None for one in reader.read(key, value)]
    return [one for one in found if isinstance(one, Delivery)]


@pytest.mark.deep
@settings(max_examples=deep_examples(100), deadline=None)
@given(
    batches, batches, st.sampled_from(sorted(WHERES)), st.sampled_from(sorted(SHOWN)),
    st.sampled_from(["EVERY CHANGE", "LATEST"]), st.sampled_from(["records", "packed"]),
)  # fmt: skip
def test_a_client_holds_the_rows(
    before: list[Any], after: list[Any], where: str, shown: str, notify: str, deliver: str
) -> None:
    pipeline, table = PurePipeline(1), dict[int, dict[str, Any]]()
    pipeline.apply(DDL)
    for batch in before:
        take(pipeline, table, batch)
    record = {"sql": f"SELECT {shown} FROM t WHERE {where}", "notify": notify, "deliver": deliver}
    pipeline.append(pipeline.topics.subscriptions, b"s", msgspec.json.encode(record))
    pipeline.settle()
    for batch in after:
        take(pipeline, table, batch)
    expected = Counter(tuple(row[name] for name in SHOWN[shown]) for row in table.values() if WHERES[where](row))
    held = HeldAnswer()
    deliveries = told(pipeline)
    for one in deliveries:
        held.take(one)
    assert held.form == "bag" and held.rows == expected
    at_once = HeldAnswer()
    for one in conflated(deliveries):
        at_once.take(one)
    assert at_once.rows == expected and at_once.mark == held.mark


def conflated(deliveries: list[Delivery]) -> list[Delivery]:
    """Return the first delivery, and what a reader is told that takes nothing until all others have come."""
    first, *others = deliveries
    missed = Missed()
    for one in read_all(msgspec.json.encode(other) for other in others):
        if one.n > first.n:
            missed.add([one])
    return [first, *(msgspec.json.decode(line, type=Delivery) for line in missed.lines())]
