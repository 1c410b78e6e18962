"""Tables that choose their subscribers over the pure pipeline, judged; and that whom they leave out cannot tell.

Two runs differ in what is published for others alone: what a subscriber is told is the same to the byte.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.kafka.partitioner import home_partition
from tests.effort import deep_examples
from tests.tidewire.verification.test_against_the_chain import EDGES, Judged
from tidewire.verification.verify import verify

DDL = (
    "CREATE TABLE t (k INTEGER PRIMARY KEY, age INT4RANGE, region VARCHAR, fan BOOLEAN, v INTEGER, p NUMRANGE(6,2)) "
    "WITH ('audience'='age:age, region:region, fan:fan', 'null.range'='{meant}', 'absent'='{absent}')"
)
VIEW = "CREATE VIEW w AS SELECT region AS r, COUNT(*) AS n, SUM(v) AS v FROM s GROUP BY region"
PLAIN = "CREATE TABLE s (k INTEGER PRIMARY KEY, region VARCHAR, v INTEGER) WITH ('audience'='region:region'{meant})"
AGES = [None, "[0,18)", "[18,)", "(,)", "empty", "[17,18]", "5"]
REGIONS, FANS = [None, "n", "s", ""], [None, True, False]
POLICIES = ["", "", " NOTIFY LATEST", " NOTIFY TRANSITIONS", " NOTIFY ENTER", " SNAPSHOT NONE"]
ASKED = [
    "SELECT * FROM t",
    "SELECT k, v FROM t",
    "SELECT k, age FROM t WHERE v > 1",
    "SELECT k FROM t WHERE p && '[1,2)'",
]
SUMS = ["SELECT COUNT(*), SUM(v) FROM t", "SELECT AVG(v), COUNT(region) FROM t WHERE v > 0 OR p @> 1.5"]
Who = dict[str, Any]


def random_row(choose: random.Random) -> dict[str, object]:
    row: dict[str, object] = {
        "k": choose.randrange(5), "age": choose.choice(AGES), "region": choose.choice(REGIONS),
        "fan": choose.choice(FANS), "v": choose.randrange(4), "p": choose.choice(["[1,2)", "[1.5,3]", "empty", None]),
    }  # fmt: skip
    return {name: value for name, value in row.items() if name == "k" or choose.random() < 0.85}


def random_subscriber(choose: random.Random) -> Who:
    return {
        "age": choose.choice([5, 17, 18, 31]),
        "region": choose.choice(["n", "s", ""]),
        "fan": choose.choice(FANS[1:]),
    }


def record(choose: random.Random, who: Who) -> bytes:
    """Return a question of `who`, whose attributes stand in the SQL, beside it, or partly here and there."""
    summed = choose.random() < 0.3
    sql = choose.choice(SUMS if summed else ASKED)
    policy = choose.choice(["", " NOTIFY LATEST"] if summed else POLICIES)
    beside = {name: value for name, value in who.items() if choose.random() < 0.4}
    within = {name: value for name, value in who.items() if name not in beside}
    if choose.random() < 0.3:
        pairs = ", ".join(f"{name} = ?" for name in within)
        template = sql + (f" ATTRIBUTES ({pairs})" if within else "") + policy
        return json.dumps({"template": template, "params": [*within.values()], "attributes": beside}).encode()
    pairs = ", ".join(f"{name.upper()} = {said(value)}" for name, value in within.items())
    asked: dict[str, object] = {"sql": sql + (f" ATTRIBUTES ({pairs})" if within else "") + policy}
    return json.dumps(asked | ({"attributes": {**beside, "other": 1}} if beside else {})).encode()


def said(value: object) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value).upper()


def drive(seed: int) -> Judged:
    choose = random.Random(seed)
    meant, absent = choose.choice(["nothing", "everything"]), choose.choice(["null", "keep"])
    chain = Judged(virtual_edges=EDGES)
    chain.apply(DDL.format(meant=meant, absent=absent))
    for _ in range(choose.randrange(4, 11)):
        for _ in range(choose.randrange(1, 6)):
            row = random_row(choose)
            value = None if choose.random() < 0.15 else json.dumps(row).encode()
            chain.append("t", b"%d" % row["k"], value, row["k"] % 2)  # type: ignore[operator]
        for _ in range(choose.randrange(3)):
            subscribe(chain, choose.choice(["s1", "s2", "s3", "s4"]), record(choose, random_subscriber(choose)))
        if choose.random() < 0.1:
            chain.restart()
        if choose.random() < 0.6:
            chain.settle()
    chain.settle()
    return chain


def subscribe(chain: Judged, id: str, value: bytes) -> None:
    chain.append(chain.topics.subscriptions, id.encode(), value, home_partition(id.encode(), EDGES))


@pytest.mark.deep
@settings(max_examples=deep_examples(30), deadline=None)
@given(st.integers(0, 10**9))
def test_the_chain_is_clean(seed: int) -> None:
    chain = drive(seed)
    report = verify(chain.journal())
    assert report.clean and report.unjudged == 0, report.faults
    assert any(b'"live"' in value for value in acks(chain))


def acks(chain: Judged) -> list[bytes]:
    return [r.value for some in chain.journal().acks.records.values() for r in some if r.value is not None]


def sees(row: dict[str, object], who: Who) -> bool:
    """Whether a row whose NULLs are for everybody is for `who`: a naive reading of the audience."""
    ages: dict[object, Callable[[int], bool]] = {
        None: lambda age: True, "(,)": lambda age: True, "[0,18)": lambda age: 0 <= age < 18,
        "[18,)": lambda age: age >= 18, "empty": lambda age: False, "[17,18]": lambda age: age in (17, 18),
        "5": lambda age: age == 5,
    }  # fmt: skip
    return ages[row.get("age")](who["age"]) and all(row.get(n) in (None, who[n]) for n in ("region", "fan"))


def told(rows: list[dict[str, object] | None], asked: list[tuple[int, bytes]], restart: int) -> list[bytes]:
    """Return all that is told of questions, each put before the publication of this number; None deletes nobody."""
    chain = Judged(virtual_edges=EDGES)
    chain.apply(DDL.format(meant="everything", absent="null"))
    for i, row in enumerate(rows):
        for number, value in asked:
            if number == i:
                subscribe(chain, f"s{number}", value)
        key = -1 if row is None else row["k"]
        chain.append("t", b"%d" % key, None if row is None else json.dumps(row).encode(), 0)  # type: ignore[operator]
        if i == restart:
            chain.restart()
        if i % 3 == 2:
            chain.settle()
    chain.settle()
    journal = chain.journal()
    logs = (journal.deliveries, journal.acks)
    return [r.value or b"" for log in logs for p in sorted(log.records) for r in log.records[p]]


@pytest.mark.deep
@settings(max_examples=deep_examples(40), deadline=None)
@given(st.integers(0, 10**9))
def test_whom_a_publication_leaves_out_is_never_told_and_cannot_tell(seed: int) -> None:
    choose = random.Random(seed)
    who = random_subscriber(choose)
    hidden = [row for row in (random_row(choose) for _ in range(200)) if not sees(row, who)]
    one, other = list[dict[str, object] | None](), list[dict[str, object] | None]()
    held: dict[object, bool] = {}
    for _ in range(choose.randrange(6, 25)):
        row = random_row(choose)
        one.append(row)
        if sees(row, who) or held.get(row["k"]):
            other.append(row if sees(row, who) else {**choose.choice(hidden), "k": row["k"]})
        else:  # it was hidden before and is hidden now: anything else that is hidden, or nothing at all
            other.append(choose.choice([None, {**choose.choice(hidden), "k": row["k"]}]))
        held[row["k"]] = sees(row, who)
    asked = [(choose.randrange(len(one)), record(choose, who)) for _ in range(4)]
    restart = choose.choice([-1, choose.randrange(len(one))])
    assert told(one, asked, restart) == told(other, asked, restart)


@pytest.mark.deep
@settings(max_examples=deep_examples(12), deadline=None)
@given(st.integers(0, 10**9))
def test_a_view_has_the_audience_of_its_table(seed: int) -> None:
    choose = random.Random(seed)
    chain = Judged(virtual_edges=EDGES)
    chain.apply(PLAIN.format(meant=choose.choice(["", ", 'null.range'='everything'"])) + "; " + VIEW)
    chain.apply("CREATE TABLE t (k INTEGER PRIMARY KEY)")
    for _ in range(choose.randrange(2, 6)):
        for _ in range(choose.randrange(1, 5)):
            k = choose.randrange(4)
            row = {"k": k, "region": choose.choice(REGIONS), "v": choose.randrange(4)}
            chain.append("s", b"%d" % k, None if choose.random() < 0.2 else json.dumps(row).encode())
        sql = choose.choice(["SELECT r, n FROM w", "SELECT COUNT(*), SUM(v) FROM w", "SELECT * FROM w WHERE n > 1"])
        subscribe(chain, choose.choice("ab"), json.dumps({"sql": f"{sql} ATTRIBUTES (region = 'n')"}).encode())
        chain.settle()
    journal = chain.journal()
    journal.relations["s"] = chain.log("s", 1)
    report = verify(journal)
    assert report.clean and report.unjudged == 0, report.faults
