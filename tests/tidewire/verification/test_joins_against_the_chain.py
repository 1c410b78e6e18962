"""Joins of the product's own code, judged: tables of several formats, changed at random, over the pure pipeline."""

from __future__ import annotations

import json
import random
import zlib
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.row_window import WindowBounds
from overlay.subscriptions.summaries import PATIENT, Patience
from shard.bounds import Bounds
from tests.effort import deep_examples
from tests.tidewire.verification.damaged_delivery import check_that_damage_is_found
from tests.tidewire.verification.test_against_the_chain import EDGES, Judged
from tidewire.verification.records.journal import Journal
from tidewire.verification.verify import verify

DDL = """CREATE TABLE a (k INTEGER PRIMARY KEY, g VARCHAR, n DECIMAL(6,2), l BIGINT) WITH ('absent'='keep');
CREATE TABLE b (id INTEGER PRIMARY KEY, g VARCHAR, l INTEGER, d DOUBLE) WITH ('format'='debezium-json');
CREATE TABLE c ("H" VARCHAR, k INTEGER, g VARCHAR, n DECIMAL(8,1), PRIMARY KEY (k, "H"))
  WITH ('buckets'='3', 'bucket.by'='"H"')"""
WIDER = DDL.replace("l BIGINT)", "l BIGINT, more VARCHAR)").split(";")[0]
VALUES: dict[str, list[Any]] = {
    "g": ["u", "v", "", None], "n": ["0.00", "1", "1.50", "2.0", None], "l": [None, 0, 1, 2],
    "d": [None, 0.5, 1.0, 2.0], "more": ["x", None],
}  # fmt: skip
FORMS = {
    "a JOIN b ON a.g = b.g": "a b",
    "b AS x JOIN a AS y ON y.l = x.l": "y:a x:b",
    "a JOIN b ON a.n = b.d": "a b",
    "a JOIN b ON b.d = a.l AND a.g = b.g": "a b",
    "a JOIN c ON a.g = c.g AND a.n = c.n": "a c",
    "b x JOIN b y ON x.l = y.l": "x:b y:b",
    "c x JOIN c y ON x.k = y.n": "x:c y:c",
    "a JOIN b ON a.g = b.g JOIN c ON c.k = b.l": "a b c",
    "c JOIN b ON c.k = b.l JOIN a ON a.l = b.l AND a.g = c.g": "a b c",
    "a x JOIN b ON x.l = b.l JOIN a y ON y.g = b.g": "x:a b y:a",
}
COLUMNS = {"a": ["k", "g", "n", "l"], "b": ["id", "g", "l", "d"], "c": ['"H"', "k", "g", "n"]}
CONDITIONS = {
    "a": ["{}.l BETWEEN 0 AND 1", "{}.g = 'u'", "{}.n > 0.995", "({}.l IS NULL OR {}.k < 3)", "{}.l > 5 AND {}.l < 3"],
    "b": ["{}.d <= 1", "{}.g <> 'v'", "{}.id IN (0, 2, 3)", "NOT {}.l = 1", "{}.g > 'a' AND {}.d >= 0.5"],
    "c": ["{}.\"H\" = 'é'", "{}.k >= 1", "{}.n < 1.95", "{}.g LIKE 'u%'"],
}


class Joined(Judged):
    """Whose partitions have clocks that jump, and whose edges ask for cells."""

    def __init__(self, patience: Patience = PATIENT, window: int = 0) -> None:
        super().__init__(EDGES, patience, bounds=Bounds(window=WindowBounds(window)))
        self.lsn = 0
        self.rows: dict[int, dict[str, Any]] = {}

    def append(self, topic: str, key: bytes | None, value: bytes | None, partition: int | None = None) -> None:
        super().append(topic, key, value, partition)
        if topic in ("a", "c"):
            self.stamps[topic, partition or 0][-1] += 5 * (zlib.crc32((key or b"") + (value or b"")) % 7)

    def journal(self) -> Journal:
        made = super().journal()
        made.relations = {topic: self.log(topic, 2) for topic in ("a", "b", "c")}
        return made

    def change_b(self, choose: random.Random) -> None:
        """Let a database's table change as Debezium tells it."""
        self.lsn += choose.random() < 0.9
        source = {"lsn": self.lsn}
        id, action = choose.randrange(5), choose.random()
        row = {"id": id} | {name: choose.choice(VALUES[name]) for name in ("g", "l", "d")}
        old = self.rows.get(id)
        if action < 0.05:
            self.rows = {}
            return self.append("b", None, _json(op="t", before=None, after=None, source=source), 0)
        if old is None:
            self.rows[id] = row
            return self.append("b", _json(id=id), _json(op="c", before=None, after=row, source=source), 0)
        if action < 0.2:
            del self.rows[id]
            self.append("b", _json(id=id), _json(op="d", before=old, after=None, source=source), 0)
            return self.append("b", _json(id=id), None, 0)
        if action < 0.4:
            free = [other for other in range(5) if other not in self.rows]
            row["id"] = choose.choice(free) if free else id
            del self.rows[id]
        self.rows[row["id"]] = row
        return self.append("b", None, _json(op="u", before=old, after=row, source=source), 0)

    def change_a(self, choose: random.Random) -> None:
        key = choose.randrange(5)
        row = {"k": key} | {n: choose.choice(VALUES[n]) for n in ("g", "n", "l", "more") if choose.random() < 0.8}
        garbage, whole = choose.choice([b"{", b"[]", b'{"k":77}']), json.dumps(row).encode()
        [value] = choose.choices([whole, None, garbage], [80, 15, 5])
        self.append("a", b'{"k":%d}' % key, value, key % 2)

    def change_c(self, choose: random.Random) -> None:
        home, k = choose.choice(["", "é", "x"]), choose.randrange(3)
        key = {"k": k, "H": home}
        row = key | {"g": choose.choice(VALUES["g"]), "n": choose.choice(VALUES["n"])}
        text = json.dumps(key).encode()
        value = None if choose.random() < 0.15 else json.dumps(row).encode()
        self.append("c", text, value, zlib.crc32(text) % 2)


def _json(**members: Any) -> bytes:
    return json.dumps(members).encode()


def random_question(choose: random.Random) -> str:
    form = choose.choice(list(FORMS))
    names = {name.split(":")[0]: name.split(":")[-1] for name in FORMS[form].split()}
    shown = [f"{n}.{c}" for n, table in names.items() for c in COLUMNS[table]]
    items = [choose.choice([*shown, *(f"{n}.*" for n in names), "*"]) for _ in range(choose.choice([1, 1, 2, 3]))]
    met = [choose.choice(CONDITIONS[table]).replace("{}", n) for n, table in names.items() if choose.random() < 0.5]
    where = f" WHERE {' AND '.join(met)}" if met else ""
    options = choose.choice(["", "", "", " NOTIFY LATEST", " NOTIFY EVERY CHANGE", " DELIVER PACKED", " SNAPSHOT NONE"])
    return f"SELECT {', '.join(items)} FROM {form}{where}{options}{choose.choice(['', '', ' TTL 90'])}"


def drive(seed: int, losses: bool = False) -> Joined:
    choose = random.Random(seed)
    chain = Joined()
    chain.apply(DDL)
    for _ in range(choose.randrange(10, 40)):
        action = choose.random()
        if action < 0.6:
            for _ in range(choose.randrange(1, 10)):
                choose.choice([chain.change_a, chain.change_b, chain.change_c])(choose)
        elif action < 0.85:
            record = json.dumps({"sql": random_question(choose)}).encode()
            chain.append(chain.topics.subscriptions, choose.choice([b"s1", b"s2", b"s3", b"s4", b"s5"]), record)
        elif action < 0.88:
            chain.append(chain.topics.subscriptions, choose.choice([b"s1", b"s2"]), None)
        elif action < 0.91:
            chain.restart()
        elif action < 0.94:
            chain.begin_epoch()
        elif action < 0.97 and chain.catalog.cells:
            tables = choose.choice(list(chain.catalog.cells.values())).tables
            chain.apply(choose.choice([f"DROP JOIN {', '.join(tables)}", WIDER]))
        elif losses:
            cell = choose.choice(list(chain.catalog.cells) or ["a/0"])
            topic = choose.choice([chain.topics.notifications, chain.topics.registrations])
            chain.append(topic, cell.encode(), b"\xff\xff\xff\xffdamaged", choose.randrange(EDGES))
        if choose.random() < 0.6:
            chain.settle()
        if choose.random() < 0.6:
            chain.make_cells()
    chain.settle()
    chain.make_cells()
    chain.settle()
    return chain


@pytest.mark.deep
@settings(max_examples=deep_examples(40), deadline=None)
@given(st.integers(0, 10**9))
def test_joins_are_clean(seed: int) -> None:
    report = verify(drive(seed).journal())
    assert report.clean and report.unjudged == 0, report.faults


@pytest.mark.deep
@settings(max_examples=deep_examples(15), deadline=None)
@given(st.integers(0, 10**9))
def test_what_was_lost_on_the_way_to_an_edge_is_made_up_for_by_resyncs(seed: int) -> None:
    report = verify(drive(seed, losses=True).journal())
    assert report.clean and report.unjudged == 0, report.faults


def in_text_order(rows: list[Any]) -> list[Any]:
    return sorted(rows, key=lambda row: json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode())


def without_a_row(told: dict[str, Any]) -> dict[str, Any] | None:
    side = next((name for name in ("added", "removed") if told.get(name)), None)
    return None if side is None else {side: told[side][1:]}


def with_a_row_again(told: dict[str, Any]) -> dict[str, Any] | None:
    side = next((name for name in ("removed", "added") if told.get(name)), None)
    return None if side is None else {side: [told[side][0], *told[side]]}


def with_a_row_of_none(told: dict[str, Any]) -> dict[str, Any] | None:
    side = next((name for name in ("removed", "added") if told.get(name)), None)
    if side is None or not isinstance(told[side][0], list) or [None] * len(told[side][0]) in told[side]:
        return None
    return {"added": in_text_order([*told["added"], [None] * len(told[side][0])])}


def of_another_topic(told: dict[str, Any]) -> dict[str, Any] | None:
    at = told["at"]
    return {"at": at | {"topic": "b" if at["topic"] != "b" else "a"}} if told["kind"] == "change" else None


def of_another_batch(told: dict[str, Any]) -> dict[str, Any] | None:
    return {"at": told["at"] | {"batch": told["at"]["batch"] - 1}} if told["kind"] == "change" else None


DAMAGE = {
    "a pair missing": without_a_row,
    "a pair twice": with_a_row_again,
    "a pair too many": with_a_row_of_none,
    "another topic": of_another_topic,
    "another batch": of_another_batch,
    "a wrong n": lambda told: {"n": told["n"] + 1},
}


@cache
def journal_of(seed: int) -> Journal:
    """Return what a chain told, which is run once for all damages: each of them is mended again."""
    return drive(seed).journal()


@pytest.mark.deep
@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_of_what_the_chain_told_is_found(damage: str) -> None:
    check_that_damage_is_found(journal_of, DAMAGE[damage])
