"""Streams, judged: random rows in several partitions, late ones, silences, restarts, epochs, views amid them."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.kafka.partitioner import home_partition
from operators.stored_rows import stored_rows
from shard.view_rows import view_rows
from tests.effort import deep_examples
from tests.tidewire.verification.test_against_the_chain import EDGES, Judged
from tidewire.verification.records.journal import Journal, TopicLog
from tidewire.verification.verify import verify

STREAM = """CREATE STREAM s (g VARCHAR, x INTEGER, m DECIMAL(6,2), ts TIMESTAMP)
  WITH ('topic'='s', 'event_time'='ts', 'lateness'='{late} s', 'ahead'='10 min'{keep})"""
OTHERS = """CREATE STREAM r (g VARCHAR, n INTEGER, ts TIMESTAMP) WITH ('topic'='r', 'event_time'='ts', 'lateness'='5 s',
  'ahead'='10 min'); CREATE TABLE t (g VARCHAR PRIMARY KEY, name VARCHAR)"""
VIEWS = {
    "v": "SELECT g, DATE_TRUNC('minute', ts) AS minute, MIN(x) AS low, MAX(m) AS high, COUNT(*) AS n, SUM(m) AS total, "
    "LATEST(x BY ts) AS last, AVG(x) AS mean FROM s WHERE COALESCE(x, 0) < 8 GROUP BY g, DATE_TRUNC('minute', ts)",
    "w": "SELECT DATE_TRUNC('hour', minute) AS hour, SUM(n) AS n, MAX(high) AS high FROM v "
    "GROUP BY DATE_TRUNC('hour', minute)",
    "first": "SELECT g, minute, low, n FROM v QUALIFY ROW_NUMBER() OVER (PARTITION BY minute ORDER BY n DESC, g) <= 1",
    "whole": "SELECT g, COUNT(*) AS n FROM s GROUP BY g",
    "x": "SELECT g, DATE_TRUNC('minute', ts) AS minute, SUM(n) AS n FROM r GROUP BY g, DATE_TRUNC('minute', ts)",
    "united": "SELECT g, minute, n FROM v UNION ALL SELECT g, minute, n FROM x",
    "pairs": "SELECT v.g, v.minute, v.n, x.n AS other FROM v JOIN x ON v.minute = x.minute AND v.g = x.g",
    "named": "SELECT v.g, v.minute, v.n, t.name FROM v LEFT JOIN t ON v.g = t.g",
}
READS = {"w": "v", "first": "v", "united": "vx", "pairs": "vx", "named": "v"}
MINUTES = [f"TIMESTAMP '2026-03-02 10:0{i}:00'" for i in range(5)]
START = 1_772_445_600


def moment(second: float) -> str:
    minute, rest = divmod(second, 60)
    return f"2026-03-02T10:{int(minute):02}:{rest:09.6f}"


class Flowing(Judged):
    """Whose records have times of their own: those of the events, or a while later."""

    def append(self, topic: str, key: bytes | None, value: bytes | None, partition: int | None = None) -> None:
        super().append(topic, key, value, partition)
        if topic in ("s", "r"):
            self.stamps[topic, partition or 0][-1] = (START + 200) * 1_000_000

    def journal(self) -> Journal:
        names = self.topics
        made = super().journal()
        made.relations = {"s": self.timed("s", 3), "r": self.timed("r", 2), "t": self.timed("t", 1)}
        return replace(made, silences=self.log(names.silences, 1), registrations=self.log(names.registrations, EDGES))

    def timed(self, topic: str, partitions: int) -> TopicLog:
        log = self.log(topic, partitions)
        records = [record._replace(timestamp=record.timestamp // 1_000) for record in log.all()]
        return TopicLog.of(topic, records, partitions)

    def row(self, partition: int, g: str | None, x: int | None, second: float) -> None:
        body = {"g": g, "x": x, "m": None if x is None else f"{x}.25", "ts": moment(second)}
        self.append("s", b"?", json.dumps(body).encode(), partition)

    def other(self, partition: int, g: str | None, second: float) -> None:
        self.append("r", None, json.dumps({"g": g, "n": 1, "ts": moment(second)}).encode(), partition)

    def name(self, g: str, name: str | None) -> None:
        value = None if name is None else json.dumps({"g": g, "name": name}).encode()
        self.append("t", json.dumps({"g": g}).encode(), value)

    def ask(self, id: str, sql: str) -> None:
        self.append(self.topics.subscriptions, id.encode(), json.dumps({"sql": sql}).encode())

    def tell(self, id: str) -> list[dict[str, Any]]:
        log = self.logs[self.topics.deliveries][home_partition(id.encode(), EDGES)]
        return [json.loads(value) for key, value in log if key == id.encode() and value is not None]


def thin() -> Flowing:
    chain = Flowing(virtual_edges=EDGES)
    chain.apply(STREAM.format(late=10, keep="") + f"; CREATE VIEW v AS {VIEWS['v']}")
    chain.ask("low", f"SELECT MIN(low) FROM v WHERE g = 'a' AND minute = {MINUTES[0]}")
    chain.ask("once", f"SELECT MAX(high) FROM v WHERE minute <= {MINUTES[0]} NOTIFY FINAL")
    for second, x in ((5, 4), (20, 3), (9, 1), (60, 5), (55, 2), (70, 7), (59, 0)):
        chain.row(0, "a", x, second)
        chain.settle()
    return chain


def test_a_stream_with_one_view_is_clean() -> None:
    chain = thin()
    report = verify(chain.journal())
    assert report.clean and report.unjudged == 0, report.faults
    assert report.dead_letters == 2
    assert [told["kind"] for told in chain.tell("once")] == ["snapshot", "final", "ended"]
    low = [(told["kind"], told["new"], told["at"]["batch"]) for told in chain.tell("low")]
    assert low == [("snapshot", None, -1), ("change", 4, 0), ("change", 3, 1), ("change", 2, 4), ("final", 2, 5)]


def planted(chain: Flowing, id: str, kind: str, **other: Any) -> Journal:
    """Return what the chain wrote, with one delivery of `id` told otherwise; `of=None` leaves it out."""
    journal, home = chain.journal(), home_partition(id.encode(), EDGES)
    log = journal.deliveries.records[home]
    for i, record in enumerate(log):
        told = json.loads(record.value or b"null")
        if record.key == id.encode() and told["kind"] == kind:
            log[i] = record._replace(value=json.dumps(told | other).encode())
            break
    return journal


def test_a_changed_final_is_found() -> None:
    report = verify(planted(thin(), "low", "final", new=1))
    assert (report.wrong, report.missed, report.extra) == (1, 0, 0), report.faults


def test_a_final_of_another_moment_is_found() -> None:
    at = {"epoch": 0, "batch": 6, "upto": "2026-03-02T10:02:00"}
    report = verify(planted(thin(), "low", "final", at=at))
    assert (report.wrong, report.missed, report.extra) == (1, 0, 0), report.faults


def test_a_final_too_early_is_found() -> None:
    report = verify(planted(thin(), "low", "final", at={"epoch": 0, "batch": 4, "upto": "2026-03-02T10:01:00"}))
    assert report.extra == 1 and not report.clean, report.faults


def test_a_final_that_was_missed_is_found() -> None:
    chain = thin()
    journal, home = chain.journal(), home_partition(b"low", EDGES)
    log = journal.deliveries
    log.records[home] = [record for record in log.records[home] if b'"final","version"' not in (record.value or b"")]
    report = verify(journal)
    assert report.missed >= 1 and not report.clean, report.faults


def test_what_is_told_behind_a_final_is_found() -> None:
    journal, home = thin().journal(), home_partition(b"low", EDGES)
    log = journal.deliveries.records[home]
    final = next(record for record in log if record.key == b"low" and b'"kind":"final"' in (record.value or b""))
    told = json.loads(final.value or b"") | {"kind": "resync", "n": 5, "at": {"epoch": 0, "batch": 7}}
    log.append(final._replace(offset=log[-1].offset + 1, value=json.dumps(told).encode()))
    assert verify(journal).extra == 1


def test_a_late_row_that_counted_is_found() -> None:
    journal = thin().journal()
    for records in journal.dead_letters.records.values():
        records.pop()
    report = verify(journal)
    assert report.taken_wrongly == 1 and not report.clean


def test_a_moment_that_the_question_does_not_say_is_found() -> None:
    report = verify(planted(thin(), "low", "snapshot", final_at="2026-03-02T10:02:00"))
    assert report.wrong == 1, report.faults


def kept_a_minute() -> Flowing:
    """Ask about the first minute before it has gone, while it is there, and when it is not."""
    chain = Flowing(virtual_edges=EDGES)
    chain.apply(STREAM.format(late=10, keep=", 'keep'='1 min'") + f"; CREATE VIEW v AS {VIEWS['v']}")
    first = f"SELECT MIN(low) FROM v WHERE minute = {MINUTES[0]}"
    chain.ask("early", first)
    for second in (5, 60, 75, 129):
        chain.row(0, "a", 4, second)
        chain.settle()
    chain.ask("there", first)
    chain.settle()
    chain.row(0, "a", 4, 130)
    chain.settle()
    chain.ask("gone", first)
    chain.settle()
    return chain


def refused_as_gone(chain: Flowing, id: str) -> Journal:
    """Return what the chain wrote, if `id` had been refused with `window_gone` instead of answered."""
    journal, home = chain.journal(), home_partition(id.encode(), EDGES)
    acks = journal.acks.records[home]
    for i, record in enumerate(acks):
        if record.key == id.encode():
            told = {"id": id, "status": "refused", "version": json.loads(record.value or b"")["version"]}
            acks[i] = record._replace(value=json.dumps(told | {"code": "window_gone"}).encode())
    log = journal.deliveries
    log.records[home] = [record for record in log.records[home] if record.key != id.encode()]
    return journal


def test_who_is_refused_where_windows_have_gone_is_rightly_so() -> None:
    chain = kept_a_minute()
    assert [told["kind"] for told in chain.tell("there")] == ["snapshot", "final"] and chain.tell("gone") == []
    report = verify(chain.journal())
    assert report.clean and report.unjudged == 0, report.faults


def test_a_refusal_of_windows_that_are_kept_is_found() -> None:
    report = verify(refused_as_gone(thin(), "low"))
    assert report.wrong == 1, report.faults
    assert "refused with window_gone" in str(report.faults) and "the windows are kept" in str(report.faults)


def test_an_end_because_of_windows_that_are_kept_is_found() -> None:
    report = verify(planted(thin(), "once", "ended", reason="window_gone"))
    assert report.wrong == 1 and "the windows that it asks about are kept" in str(report.faults), report.faults


def test_an_answer_about_windows_that_have_gone_is_found() -> None:
    """It says to be of the batch in which the first minute was kept no more."""
    chain = kept_a_minute()
    report = verify(planted(chain, "there", "snapshot", at={"epoch": 0, "batch": 7}))
    assert report.wrong and "windows that are kept no more" in str(report.faults), report.faults


CONDITIONS = [
    "minute = {}", "minute <= {}", "minute < {} AND g = 'a'", "minute BETWEEN TIMESTAMP '2026-03-02 10:00:00' AND {}",
    "g = 'a'", "minute IN ({}, TIMESTAMP '2026-03-02 10:02:00') AND n > 1", "(minute = {} OR minute = '2026-03-02')",
    "NOT (minute > {} OR g = 'b')", "minute >= {}",
]  # fmt: skip


def question(choose: random.Random) -> str:
    """Any question of any of the views."""
    view = choose.choice(["v", "v", "v", "w", "first", "whole", "united", "pairs", "named"])
    where = choose.choice(CONDITIONS).format(choose.choice(MINUTES))
    if view == "w":
        where = f"hour <= {choose.choice(MINUTES)}"
    elif view == "whole":
        where = "g = 'a'"
    elif view == "first":
        where = where.replace("g = ", "g >= ")
    items = ["SUM(n)", "MIN(n)", "COUNT(*)", "AVG(n)", "MAX(n), COUNT(n)", "DISTINCT n", "n", "*"]
    item = choose.choice(items if view == "whole" else [*items, "COUNT(DISTINCT n)"])
    several = "," in item or item in ("n", "*") or "DISTINCT" in item
    policy = choose.choice(["", "", " NOTIFY LATEST"] if several else ["", " NOTIFY MIN CHANGE 2", " NOTIFY FINAL"])
    if view != "united" and item in ("n", "*") and choose.random() < 0.4:
        key = {"v": "g, minute", "w": "hour", "whole": "g"}.get(view, "minute, g")
        return f"SELECT {item} FROM {view} WHERE {where} ORDER BY n DESC, {key} LIMIT 2{policy}"
    return f"SELECT {item} FROM {view} WHERE {where}{policy}{choose.choice(['', '', ' DELIVER PACKED'])}"


def drive(seed: int) -> Flowing:
    choose = random.Random(seed)
    chain = Flowing(virtual_edges=EDGES)
    stream = STREAM.format(late=choose.choice([0, 10, 30]), keep=choose.choice(["", "", ", 'keep'='1 min'"]))
    chain.apply(f"{stream}; {OTHERS}")
    views = choose.sample(list(VIEWS), len(VIEWS))
    for _ in range(choose.randrange(len(views) + 1)):
        declare(chain, views)
    now, partitions = 0.0, choose.choice([1, 2])
    for _ in range(choose.randrange(10, 30)):
        action = choose.random()
        if action < 0.5:
            for _ in range(choose.randrange(1, 7)):
                if choose.random() < 0.3:
                    chain.name(choose.choice("ab"), choose.choice(["x", "y", None]))
                if choose.random() < 0.5:
                    chain.other(
                        choose.randrange(2), choose.choice(["a", "b", None]), max(now - choose.choice([0, 9]), 0)
                    )
                now = min(now + choose.choice([0, 1, 5, 20]), 500)
                second = max(now - choose.choice([0, 0, 0, 5, 40]), 0)
                value = choose.choice([None, 1, 1, 2, 5, 8])
                chain.row(choose.randrange(partitions), choose.choice(["a", "a", "b", None]), value, second)
        elif action < 0.55:
            bad = choose.choice([None, b"{", b'{"g":"a"}', b'{"ts":null}', b'{"ts":"2099-01-01T00:00:00"}'])
            chain.append("s", b"k", bad, choose.randrange(partitions))
        elif action < 0.65:
            upto = (START + int(now) + choose.choice([0, 30, 60])) * 1_000_000
            chain.silence(choose.choice(["s", "s", "r"]), upto)
        elif action < 0.9:
            chain.ask(choose.choice(["s1", "s2", "s3", "s4", "s5"]), question(choose))
        elif action < 0.93:
            chain.restart()
        elif action < 0.95:
            partitions = min(partitions + 1, 3)
        elif action < 0.97 and chain.catalog.views:
            chain.settle()
            chain.begin_epoch()
        else:
            declare(chain, views)
        if choose.random() < 0.7:
            chain.settle()
    chain.settle()
    return chain


def declare(chain: Flowing, views: list[str]) -> None:
    """Create the first view that lacks and that can be."""
    there = chain.catalog.views
    for name in views:
        if name not in there and all(read in there for read in READS.get(name, "")):
            chain.apply(f"CREATE VIEW {name} AS {VIEWS[name]}")
            return


@pytest.mark.deep
@settings(max_examples=deep_examples(15), deadline=None)
@given(st.integers(0, 10**9))
def test_a_chain_with_a_stream_is_clean(seed: int) -> None:
    report = verify(drive(seed).journal())
    assert report.clean, report.faults


def test_the_rows_of_a_view_are_made_of_what_the_group_holds() -> None:
    chain = thin()
    view = chain.catalog.views["v"]
    shards = view_rows(view, chain.catalog, {"s/0": chain.groups["s/0"]})
    rows = stored_rows(view.relation, *(shard.table.stored for shard in shards))
    assert [(row["minute"], row["low"], row["n"]) for row in rows] == [
        ("2026-03-02T10:00:00", 2, 3),
        ("2026-03-02T10:01:00", 5, 2),
    ]
