"""A database's changes through the product's own code: judged by `verify`, and equal to the database's rows."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.connectors.debezium_source import COLUMNS, INLINE, UNITS, Pair, Source
from tests.effort import deep_examples
from tests.tidewire.verification.test_against_the_chain import EDGES, Judged
from tidewire.verification.records.journal import TopicLog
from tidewire.verification.verify import verify

DOCS = [None, "", "short", "long " * 20, "other " * 20, "é" * 40]
PRICES = [None, "-1.00", "0.00", "1.28", "327.68", "99.99", "-128.00"]
QUESTIONS = [
    "SELECT MIN(price) FROM t WHERE weight < 2", "SELECT MAX(price) FROM t", "SELECT COUNT(*) FROM t",
    "SELECT COUNT(*) FROM t WHERE kind = 'a' AND weight < 2", "SELECT COUNT(doc), MIN(doc) FROM t",
    "SELECT DISTINCT doc FROM t", "SELECT MIN(price) FROM t NOTIFY LATEST", "SELECT COUNT(*) FROM t NOTIFY LATEST",
    "SELECT SUM(price) FROM t NOTIFY MIN CHANGE 1", "SELECT MAX(at), SUM(price) FROM t WHERE weight <= 1.5",
    "SELECT DISTINCT kind FROM t NOTIFY LATEST", "SELECT AVG(price) FROM t WHERE doc > 'l'",
]  # fmt: skip
QUESTIONS += [
    "SELECT * FROM t",
    "SELECT kind, price FROM t WHERE NOT price BETWEEN 0 AND 10",
    "SELECT doc FROM t WHERE id <> 3",
    "SELECT id, doc FROM t WHERE doc LIKE 'o%' OR kind IS NULL",
    "SELECT kind FROM t WHERE weight IN (0.5, 2.5)",
    "SELECT id, kind FROM t WHERE kind = 'a' OR price > 1 NOTIFY TRANSITIONS",
    "SELECT price, id FROM t NOTIFY ENTER",
    "SELECT weight, kind FROM t WHERE id > 2 NOTIFY LATEST",
    "SELECT kind FROM t WHERE at IS NOT NULL SNAPSHOT NONE",
    "SELECT id, at FROM t WHERE kind <> 'b' NOTIFY TRANSITIONS SNAPSHOT NONE",
    "SELECT id FROM t WHERE doc NOT IN ('')",
    "SELECT SUM(price), COUNT(doc) FROM t WHERE kind = 'a' OR weight < 1",
    "SELECT COUNT(*) FROM t WHERE id IN (1, 5)",
    "SELECT AVG(price) FROM t WHERE kind <> 'a' NOTIFY MIN CHANGE 1",
    "SELECT COUNT(at) FROM t WHERE NOT doc > 'm'",
]
LISTS = [
    "SELECT * FROM t ORDER BY id LIMIT 2",
    "SELECT id, price FROM t ORDER BY price DESC, id LIMIT 3",
    "SELECT kind FROM t WHERE weight < 2 ORDER BY kind NULLS FIRST, id DESC LIMIT 2 NOTIFY LATEST",
    "SELECT doc FROM t WHERE kind = 'a' ORDER BY doc, id LIMIT 4",
    "SELECT id, doc FROM t WHERE doc > 'l' ORDER BY at, id LIMIT 1",
    "SELECT price FROM t WHERE price BETWEEN 0 AND 100 ORDER BY weight DESC NULLS LAST, id LIMIT 5",
    "SELECT weight FROM t ORDER BY price DESC, id LIMIT 8 NOTIFY EVERY CHANGE",
    "SELECT kind FROM t WHERE id > 2 ORDER BY id LIMIT 0",
]
QUESTIONS += LISTS
GARBAGE = [
    b"{", b"{}", b"[]", b'{"op":"u","after":null}', b'{"op":"x"}', b'{"op":"c","after":{"id":1,"at":"x"}}', b"\xff",
    b'{"op":"u","after":{"id":77,"kind":null,"weight":1,"price":null,"doc":"__debezium_unavailable_value","at":null}}',
    b'{"schema":{"type":"struct","fields":[{}]},"payload":{"op":"t"}}',
]  # fmt: skip


def random_row(choose: random.Random, id: int, old: dict | None) -> dict:
    row = {
        "id": id,
        "kind": choose.choice(["a", "b", None]),
        "weight": choose.choice([0.5, 1.5, 2.5, None]),
        "price": choose.choice(PRICES),
        "doc": choose.choice(DOCS),
        "at": choose.choice([None, 0, 1_772_409_599_999_999]),
    }
    return row | {"doc": old["doc"]} if old and choose.random() < 0.5 else row


def change(choose: random.Random, source: Source) -> list:
    chance, here = choose.random(), sorted(source.rows)
    free = [id for id in range(8) if id not in source.rows]
    if chance < 0.05:
        return source.truncate()
    if chance < 0.1:
        return source.beside()
    if chance < 0.3 and here and free:
        return source.move(choose.choice(here), choose.choice(free))
    if chance < 0.45 and here:
        return source.delete(choose.choice(here))
    id = choose.randrange(8)
    return source.put(random_row(choose, id, source.rows.get(id)))


def told_again(choose: random.Random, groups: list[list[Pair]]) -> list[Pair]:
    """What a connector that was killed publishes when it goes on: sometimes its last changes once more."""
    again = groups[-choose.randrange(1, 12) :] if choose.random() < 0.15 else []
    return [pair for group in again for pair in group]


def drive(seed: int, partitions: int) -> tuple[Judged, Source]:
    choose = random.Random(seed)
    source = Source(choose.random() < 0.5, choose.choice(["default", "full"]), partitions > 1 or choose.random() < 0.7)
    chain = Judged(virtual_edges=EDGES)
    chain.apply(f"CREATE TABLE t ({COLUMNS}) WITH ({INLINE if source.schema else UNITS})")
    groups: list[list[Pair]] = []
    for _ in range(choose.randrange(5, 16)):
        fresh = [change(choose, source) for _ in range(choose.randrange(1, 6))]
        groups += fresh
        for key, value in [*(pair for group in fresh for pair in group), *told_again(choose, groups)]:
            place = 0 if partitions == 1 or key is None else len(key) + key[-2] % 2 & 1
            chain.append("t", key, value, place)
            if choose.random() < 0.1:
                chain.settle()
        if choose.random() < 0.2:
            chain.append("t", choose.choice([None, b'{"id":1}', b"1"]), choose.choice(GARBAGE), 0)
        if choose.random() < 0.4:
            id = choose.choice(["s1", "s2", "s3", "s4"])
            chain.append(
                chain.topics.subscriptions, id.encode(), json.dumps({"sql": choose.choice(QUESTIONS)}).encode()
            )
        if choose.random() < 0.05:
            chain.restart()
        if choose.random() < 0.5:
            chain.settle()
    chain.settle()
    return chain, source


@pytest.mark.deep
@pytest.mark.parametrize("partitions", [1, 2])
@settings(max_examples=deep_examples(5), deadline=None)
@given(seed=st.integers(0, 10**9))
def test_the_chain_is_clean(seed: int, partitions: int) -> None:
    chain, _ = drive(seed, partitions)
    journal = chain.journal()
    journal.relations["t"] = TopicLog.of("t", chain.log("t", partitions).all(), partitions)
    report = verify(journal)
    assert report.clean and report.unjudged == 0, report.faults


@pytest.mark.deep
@settings(max_examples=deep_examples(8), deadline=None)
@given(seed=st.integers(0, 10**9))
def test_a_subscriber_holds_what_the_database_has(seed: int) -> None:
    choose = random.Random(seed)
    source = Source(identity=choose.choice(["default", "full"]), keyed=choose.random() < 0.7)
    chain = Judged(virtual_edges=1)
    chain.apply(f"CREATE TABLE t ({COLUMNS}) WITH ({UNITS})")
    sql = "SELECT COUNT(*), COUNT(doc), MIN(doc), MAX(doc), COUNT(price) FROM t"
    chain.append(chain.topics.subscriptions, b"s", json.dumps({"sql": sql}).encode())
    groups: list[list[Pair]] = []
    for _ in range(25):
        groups.append(change(choose, source))
        for key, value in [*groups[-1], *told_again(choose, groups)]:
            chain.append("t", key, value)
            if choose.random() < 0.3:
                chain.settle()
    chain.settle()
    docs = [row["doc"] for row in source.rows.values() if row["doc"] is not None]
    prices = sum(row["price"] is not None for row in source.rows.values())
    held = [json.loads(value)["new"] for key, value in chain.logs[chain.topics.deliveries][0] if key == b"s"][-1]
    assert held == [len(source.rows), len(docs), min(docs, default=None), max(docs, default=None), prices]
