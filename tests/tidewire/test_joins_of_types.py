"""Joins over columns of every type, under conditions on them, while virtual edges of a process run apart; judged."""

from __future__ import annotations

import json
import random
import zlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.subscriptions.summaries import Patience
from tests.effort import deep_examples
from tests.tidewire.verification.test_against_the_chain import EDGES, Judged
from tidewire.verification.records.journal import Journal
from tidewire.verification.verify import verify

DDL = """CREATE TABLE a (id INTEGER PRIMARY KEY, t VARCHAR, x INTEGER, w DECIMAL(30,4), r REAL, "at" TIMESTAMP,
  f BOOLEAN);
CREATE TABLE b (p VARCHAR, id INTEGER, t VARCHAR, x BIGINT, w DECIMAL(38,4), d DOUBLE, "at" TIMESTAMP,
  PRIMARY KEY (p, id)) WITH ('buckets'='2', 'bucket.by'='p');
CREATE JOIN a, b; CREATE JOIN a; CREATE JOIN b"""
TEXTS = ["", "a", "ab", "b", "é", "zz", None]
WIDE = ["-1.5", "0", "0.0001", "123456789012345678901.5", "2", None]
TIMES = ["2024-02-29 00:00:00", "2024-02-29 23:59:59.999999", None]
VALUES: dict[str, dict[str, list[Any]]] = {
    "a": {
        "t": TEXTS,
        "x": [0, 1, 2, None],
        "w": WIDE,
        "r": [0.1, 1.5, -0.0, 2.0, None],
        '"at"': TIMES,
        "f": [True, None],
    },
    "b": {"t": TEXTS, "x": [0, 2, 2**60, None], "w": WIDE, "d": [0.1, 0.0, 1.5, 2.0, None], '"at"': TIMES},
}
EQUAL = [
    "a m JOIN b n ON m.t = n.t", "a m JOIN b n ON m.x = n.x", "a m JOIN b n ON m.w = n.w", "a m JOIN b n ON m.r = n.d",
    'a m JOIN b n ON m."at" = n."at"', "a m JOIN b n ON m.x = n.x AND m.t = n.t", "a m JOIN b n ON m.w = n.x",
    "a m JOIN b n ON m.x = n.d AND m.x = n.w", "a m JOIN a n ON m.t = n.t", "a m JOIN a n ON m.x = n.w",
    "b m JOIN b n ON m.t = n.p", "b m JOIN a n ON m.id = n.x JOIN b o ON o.t = n.t",
]  # fmt: skip
NUMBERS = ["0", "1", "1.5", "0.1", "-1", "123456789012345678901.25", "0.00005"]
OPTIONS = ["", "", "", "", " NOTIFY LATEST", " DELIVER PACKED", " SNAPSHOT NONE", " TTL 200"]


def condition(choose: random.Random, column: str, of: list[Any]) -> str:
    if column.endswith(".f"):
        return choose.choice([f"{column} = TRUE", f"{column} IS NULL"])
    if of is TIMES:
        return choose.choice([f"{column} > '2024-02-29'", f"{column} <= '2024-02-29 23:59:59.999999'"])
    constants = [f"'{text}'" for text in TEXTS if text is not None] if of is TEXTS else NUMBERS
    one, other = choose.choice(constants), choose.choice(constants)
    forms = [">= {}", "< {}", "= {}", "<> {}", "BETWEEN {} AND {}", "IN ({}, {})", "IS NULL OR {column} > {}"]
    form = choose.choice([*forms, "LIKE 'a%'"] if of is TEXTS else forms)
    return f"({column} {form.format(one, other, column=column)})"


def question(choose: random.Random) -> str:
    tables = choose.choice(EQUAL)
    names = {word.split()[1]: word.split()[0] for word in tables.split(" JOIN ")}
    columns = [(f"{name}.{column}", of) for name, table in names.items() for column, of in VALUES[table].items()]
    shown = [choose.choice([*(name for name, _ in columns), "m.*", "*"]) for _ in range(choose.choice([1, 1, 2]))]
    met = [condition(choose, *choose.choice(columns)) for _ in range(choose.choice([0, 1, 2, 3]))]
    return (
        f"SELECT {', '.join(shown)} FROM {tables}{' WHERE ' if met else ''}{' AND '.join(met)}{choose.choice(OPTIONS)}"
    )


class Chain(Judged):
    """Two tables, of which one is kept in buckets."""

    def journal(self) -> Journal:
        made = super().journal()
        made.relations = {topic: self.log(topic, 2) for topic in "ab"}
        return made

    def change(self, choose: random.Random) -> None:
        table, id = choose.choice("ab"), choose.randrange(4)
        key = {"id": id} if table == "a" else {"p": choose.choice(["", "a", "ab"]), "id": id}
        row = key | {column.strip('"'): choose.choice(of) for column, of in VALUES[table].items()}
        text = json.dumps(key).encode()
        value = None if choose.random() < 0.12 else json.dumps(row).encode()
        self.append(table, text, value, zlib.crc32(text) % 2)

    def ask(self, choose: random.Random) -> None:
        record = json.dumps({"sql": question(choose)}).encode()
        self.append(self.topics.subscriptions, b"s%d" % choose.randrange(14), record)

    def follow(self, choose: random.Random) -> None:
        """Let some batches run, which the edges follow, one behind the other."""
        for _ in range(choose.randint(1, 3)):
            for _ in range(choose.randint(1, 10)):
                self.change(choose)
            self.run_batch()
            for number in choose.sample(range(EDGES), EDGES):
                self.run_edge(number, choose.choice([None, None, 2]))


def drive(seed: int) -> Chain:
    choose = random.Random(seed)
    chain = Chain(EDGES, choose.choice([Patience(0, 0), Patience(0, 1)]))
    chain.apply(DDL)
    for _ in range(choose.randrange(8, 20)):
        action = choose.random()
        if action < 0.3:
            for _ in range(choose.randint(1, 5)):
                chain.ask(choose)
        elif action < 0.85:
            chain.follow(choose)
        elif action < 0.9:
            chain.lose_edge(choose.randrange(EDGES), choose.random() < 0.5)
        elif action < 0.93 and chain.epoch < 2:
            chain.begin_epoch()
        else:
            chain.settle()
    chain.settle()
    return chain


@pytest.mark.deep
@settings(max_examples=deep_examples(60), deadline=None)
@given(st.integers(0, 10**9))
def test_joins_of_every_type_are_clean(seed: int) -> None:
    chain = drive(seed)
    report = verify(chain.journal())
    assert report.clean and report.unjudged == 0, report.faults
    assert not any(b'"refused"' in (value or b"") for log in chain.logs[chain.topics.acks].values() for _, value in log)
