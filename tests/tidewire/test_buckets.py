"""A table in buckets answers as the same table in one piece: every delivery, byte for byte."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.json.writer import encode_key, encode_row
from overlay.subscriptions.summaries import Patience
from tests.effort import deep_examples
from tests.oracle.naive_database import Question
from tests.tidewire.test_pure_pipeline import BOUNDS, TEXTS, WIDE, aggregates, numbers
from tidewire.pure_pipeline import PurePipeline

COLUMNS = "e VARCHAR, id DECIMAL(3,1), x INTEGER, y BIGINT, t VARCHAR, w DECIMAL(20,2), d DOUBLE, PRIMARY KEY (e, id)"
PARTED = {"": "", "e": "'buckets'='4', 'bucket.by'='e'", "id, e": "'buckets'='3', 'bucket.by'='id, e'"}
EDGES = 2

es = st.sampled_from(["", "a", 'b"', "é", "c"])
ids = st.integers(0, 3).map(lambda i: Decimal(i) / 2)
policies = st.sampled_from(["", "", " NOTIFY LATEST", " NOTIFY MIN CHANGE 1"])
rows = st.fixed_dictionaries(
    {
        "e": es,
        "id": ids,
        "x": st.none() | st.integers(0, 5),
        "y": st.none() | st.integers(0, 4),
        "t": st.none() | st.sampled_from(TEXTS),
        "w": st.none() | st.sampled_from(WIDE),
        "d": st.none() | st.sampled_from([-0.1, 0.2, 1e300]),
    }
)


@st.composite
def statements(draw: st.DrawFn, both: bool) -> str:
    """A question about one bucket; about one by `e` and `id` if `both`."""
    policy = draw(policies)
    one = st.tuples(st.tuples(st.sampled_from(["min", "sum", "avg"]), numbers))
    many = st.lists(aggregates, min_size=1, max_size=3).map(tuple)
    members = st.tuples(st.tuples(st.just("distinct"), st.sampled_from("xyt")))
    outputs = draw(one if "MIN" in policy else one | many | members)
    range_ = draw(st.sampled_from(["x", "y", "t", "w"]))
    lo, hi = draw(st.none() | BOUNDS[range_]), draw(st.none() | BOUNDS[range_])
    equal = (("e", draw(es)), *([("id", draw(ids))] if both else []))
    return Question(outputs, equal, range_, lo, hi).sql("p") + policy


@st.composite
def lives(draw: st.DrawFn, by: str) -> list[tuple[str, Any]]:
    names = st.sampled_from(["s1", "s2", "s3", "s4", "s5"])
    step = st.one_of(
        st.tuples(st.just("publish"), st.lists(st.tuples(rows, st.integers(0, 9)), min_size=1, max_size=8)),
        st.tuples(st.just("subscribe"), st.lists(st.tuples(names, statements("id" in by)), min_size=1, max_size=3)),
        st.tuples(st.just("unsubscribe"), names),
        st.tuples(st.just("restart"), st.none()),
    )
    return draw(st.lists(step, min_size=3, max_size=10))


def spelled(row: dict[str, Any], style: int, pipeline: PurePipeline) -> bytes:
    """The key of a row, in the canonical spelling or another one."""
    key = encode_key(pipeline.catalog.relations["p"], row)
    if style < 6:
        return key
    members = json.loads(key)
    return json.dumps({"id": float(members["id"]), "e": members["e"]} if style < 8 else members).encode()


def deliveries(by: str, steps: list[tuple[str, Any]]) -> dict[bytes, list[bytes]]:
    """Return what each subscription is told, in order, and the dead letters."""
    pipeline = PurePipeline(virtual_edges=EDGES, patience=Patience(0, 0))
    pipeline.apply(f"CREATE TABLE p ({COLUMNS}) WITH ('topic'='p', 'format'='json'{', ' + by if by else ''})")
    subscriptions = pipeline.topics.subscriptions
    for kind, what in steps:
        if kind == "publish":
            for row, style in what:
                key, value = spelled(row, style, pipeline), encode_row(pipeline.catalog.relations["p"], row)
                pipeline.append("p", b"}" if style == 9 else key, None if style == 0 else value, hash(row["e"]) % 2)
        elif kind == "subscribe":
            for name, sql in what:
                pipeline.append(subscriptions, name.encode(), msgspec.json.encode({"sql": sql}))
        elif kind == "unsubscribe":
            pipeline.append(subscriptions, what.encode(), None)
        else:
            pipeline.restart()
        pipeline.settle()
    told: dict[bytes, list[bytes]] = defaultdict(list)
    for log in pipeline.logs[pipeline.topics.deliveries].values():
        for key, value in log:
            told[key or b""].append(value or b"")
    for key, value in pipeline.logs[pipeline.topics.dead_letters][0]:
        told[key or b""].append(re.sub(rb'"timestamp":[^,]*', b"", value or b""))
    return dict(told)


@pytest.mark.deep
@settings(max_examples=deep_examples(30), deadline=None)
@given(st.data())
def test_the_same_is_told_however_the_table_is_parted(data: st.DataObject) -> None:
    by = data.draw(st.sampled_from([by for by in PARTED if by]))
    steps = data.draw(lives(by))
    assert deliveries(PARTED[by], steps) == deliveries("", steps)


def test_a_question_about_all_buckets_is_refused() -> None:
    pipeline = PurePipeline(virtual_edges=EDGES)
    pipeline.apply(f"CREATE TABLE p ({COLUMNS}) WITH ({PARTED['e']})")
    pipeline.append(pipeline.topics.subscriptions, b"s", b'{"sql":"SELECT MIN(x) FROM p WHERE id = 1"}')
    pipeline.settle()
    [[(_, ack)]] = [log for log in pipeline.logs[pipeline.topics.acks].values() if log]
    assert b'"code":"unsupported"' in (ack or b"") and b"Add e = ..." in (ack or b"")


def test_a_row_without_a_key_is_a_dead_letter() -> None:
    pipeline = PurePipeline(virtual_edges=EDGES)
    pipeline.apply(f"CREATE TABLE p ({COLUMNS}) WITH ({PARTED['e']})")
    pipeline.append("p", None, b'{"e":"a","id":1}')
    pipeline.settle()
    [(_, letter)] = pipeline.logs[pipeline.topics.dead_letters][0]
    assert json.loads(letter or b"")["code"] == "missing_key"
