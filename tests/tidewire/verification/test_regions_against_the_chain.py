"""Ranges of every type over the pure pipeline, judged: all kinds of ends published, all operators asked."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import deep_examples
from tests.oracle.naive_ranges import ELEMENTS, literal, random_condition, random_range
from tests.tidewire.verification.test_against_the_chain import EDGES, Judged
from tidewire.verification.verify import verify

TYPES = {f"c{i}": type_ for i, type_ in enumerate(ELEMENTS)}
POLICIES = ["", "", " NOTIFY LATEST", " NOTIFY TRANSITIONS", " NOTIFY ENTER"]


def ddl(chosen: dict[str, str], options: str) -> str:
    columns = ", ".join(f"{name} {type_}" for name, type_ in chosen.items())
    return f"CREATE TABLE t (k INTEGER PRIMARY KEY, {columns}, v VARCHAR) WITH ({options})"


def random_question(choose: random.Random, chosen: dict[str, str]) -> str:
    name = choose.choice(list(chosen))
    bound, kind = f"{choose.choice(['lower', 'upper'])}({name})", choose.random()
    value = literal(chosen[name], choose.choice(ELEMENTS[chosen[name]]))
    where = random_condition(choose, chosen)
    if kind < 0.5:
        shown = choose.choice(["*", f"k, {name}", f"k, {bound}, v", "k"])
        return f"SELECT {shown} FROM t WHERE {where}{choose.choice(POLICIES)}"
    if kind < 0.65:
        return f"SELECT COUNT(*), COUNT({name}), SUM(k) FROM t WHERE {where}"
    one = random_range(choose, chosen[name])
    plain = choose.choice([f"{bound} <= {value}", f"{bound} >= {value} AND v = 'x'", f"{name} = '{one}'"])
    if kind < 0.85:
        item = choose.choice([f"MIN({bound})", f"MAX({bound})", f"DISTINCT {name}", f"DISTINCT {bound}", "MAX(k)"])
        return f"SELECT {item} FROM t WHERE {plain}"
    order = choose.choice([f"{bound} DESC, k", f"lower({name}), upper({name}), k DESC", "k"])
    return f"SELECT k, {name} FROM t WHERE {plain} ORDER BY {order} LIMIT {choose.randrange(4)}"


def drive(seed: int) -> Judged:
    choose = random.Random(seed)
    chosen = {name: TYPES[name] for name in sorted(choose.sample(list(TYPES), 2))}
    absent, meant = choose.choice(["null", "keep"]), choose.choice(["nothing", "everything"])
    chain = Judged(virtual_edges=EDGES)
    chain.append("t", b"1", b"{}", 1)
    chain.apply(ddl(chosen, f"'absent'='{absent}', 'null.range'='{meant}'"))
    for _ in range(choose.randrange(6, 20)):
        for _ in range(choose.randrange(1, 6)):
            k = choose.randrange(5)
            row: dict[str, object] = {"k": k, "v": choose.choice(["x", "y"])}
            for name, type_ in chosen.items():
                if choose.random() < 0.8:
                    row[name] = None if choose.random() < 0.15 else random_range(choose, type_)
            value = None if choose.random() < 0.15 else json.dumps(row).encode()
            chain.append("t", b"%d" % k, value, k % 2)
        if choose.random() < 0.7:
            sql = random_question(choose, chosen)
            id = choose.choice(["s1", "s2", "s3", "s4"])
            chain.append(chain.topics.subscriptions, id.encode(), json.dumps({"sql": sql}).encode())
        if choose.random() < 0.1:
            chain.restart()
        if choose.random() < 0.6:
            chain.settle()
    chain.settle()
    return chain


@pytest.mark.deep
@settings(max_examples=deep_examples(30), deadline=None)
@given(st.integers(0, 10**9))
def test_the_chain_is_clean(seed: int) -> None:
    chain = drive(seed)
    report = verify(chain.journal())
    assert report.clean and report.unjudged == 0, report.faults
