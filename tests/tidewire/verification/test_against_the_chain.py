"""The product's own code, judged: random publications of every type, good and bad, over the pure pipeline."""

from __future__ import annotations

import json
import random
import zlib
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.json.writer import encode_key, encode_row
from connectors.kafka.partitioner import home_partition
from operators.packed import PackedSummary, unpack
from tests.effort import deep_examples
from tests.oracle.naive_condition import random_condition
from tests.tidewire.verification.records.test_question import VALUES
from tidewire.pure_pipeline import PurePipeline
from tidewire.verification.records.journal import Journal, Record, TopicLog
from tidewire.verification.verify import verify

EDGES = 2
DDL = """CREATE TABLE t (k INTEGER PRIMARY KEY, v VARCHAR, b BOOLEAN, l BIGINT, r REAL, d DOUBLE, m DECIMAL(6,2),
  day DATE, "at" TIMESTAMP, w DECIMAL(38,4)) WITH ('absent'='keep')"""
WIDER = DDL.replace("w DECIMAL(38,4))", "w DECIMAL(38,4), extra BIGINT)")
MEASURES = ["l", "r", "d", "m", "day", '"at"', "k", "b", "v", "w"]
NUMBERS = ["l", "r", "d", "m", "k", "w"]
WIDE = ["-9999999999999999999999999999999999.9999", "0.0000", "0.0001", "1234567890123456789.5", "1.2500"]
POLICIES = ["", "", "", " NOTIFY LATEST", " NOTIFY EVERY CHANGE"]
LEAST = ["", " NOTIFY MIN CHANGE 1.5", " NOTIFY MIN CHANGE 20 %", " notify min change 0", " NOTIFY LATEST"]
TTLS = ["", "", "", " TTL 90", " TTL 2 MINUTES;"]
CONDITIONS = [
    "", "WHERE v = 'x'", "WHERE b = TRUE AND d >= 0.1", "WHERE l BETWEEN -1 AND 9007199254740992e0", "WHERE m < 1.005",
    "WHERE day <= '2024-02-29 12:00:00'", "WHERE \"at\" > '2024-02-29'", "WHERE r <= 0.1 AND v = 'x'",
    "WHERE l > 5 AND l < 2", "WHERE v BETWEEN 'X' AND 'xx'", "WHERE v > 'it''s'", "WHERE w < 0.00005", "WHERE w = 1.25",
    "WHERE w BETWEEN -1e40 AND 1e30", "WHERE w >= -0.00001 AND b = FALSE",
]  # fmt: skip
DOMAINS: dict[str, list[Any]] = {
    "k": [0, 1, 2, 5], "v": ["x", "X", "", "xx"], "b": [True, False], "l": [-1, 0, 3, 2**53, 2**53 + 1],
    "r": [0.1, 1.5], "d": [0.1, 2.5, 5e-324], "m": [Decimal("1.00"), Decimal("1.005"), 0],
    "day": ["2024-02-29", "1970-01-01"], '"at"': ["2024-02-29", "2024-02-29 23:59:59.999999"], "w": [1.25, 0.00005, -1],
}  # fmt: skip
SHOWN = ["*", "k, v", "v", "k", 'v, k, v, "at"', "b, w, r", "d, *", "m AS amount, t.k", "l"]
ORDERS = ["l", "d DESC", "v NULLS FIRST", "w DESC NULLS LAST", "b, m DESC", '"at"', "r DESC NULLS FIRST", "day"]
KINDS = ["items", "distinct", "sums", "bag", "list"]
"""What is drawn of: also `sums` under any condition, `bag` for filters, `list` for best-k."""
GARBAGE = [b"{", b"[]", b'{"k":1,"l":1.5}', b'{"k":2,"m":"0.001"}', b'{"k":1,"d":1e999}', b"\xff", b'{"k":77}']


class Judged(PurePipeline):
    """Ten seconds pass with each progress."""

    def tell_progress(self) -> None:
        self.clock += 10
        super().tell_progress()

    def journal(self) -> Journal:
        names = self.topics
        return Journal(
            catalog=self.log(names.catalog, 1),
            batches=self.log(names.batches, 1),
            subscriptions=self.log(names.subscriptions, EDGES),
            acks=self.log(names.acks, EDGES),
            deliveries=self.log(names.deliveries, EDGES),
            dead_letters=self.log(names.dead_letters, 1),
            relations={"t": self.log("t", 2)},
        )

    def log(self, topic: str, partitions: int) -> TopicLog:
        records = [
            Record(p, offset, self.stamps[topic, p][offset], key, value, self.headers[topic, p].get(offset))
            for p, pairs in self.logs[topic].items()
            for offset, (key, value) in enumerate(pairs)
        ]
        return TopicLog.of(topic, records, partitions)


def random_row(choose: random.Random, relation: Any) -> dict[str, Any]:
    row: dict[str, Any] = {"k": choose.randrange(6)}
    for column in relation.columns[1:]:
        chance = choose.random()
        if chance < 0.7:
            row[column.name] = choose.choice(WIDE if column.name == "w" else VALUES.get(column.name, [1, 2, 3]))
        elif chance < 0.85:
            row[column.name] = None
    return row


def random_question(choose: random.Random) -> str:
    """A question of any family, under any policy."""
    return QUESTIONS[choose.choice(KINDS)](choose) + choose.choice(TTLS)


def random_sums(choose: random.Random) -> str:
    items = [f"{choose.choice(['SUM', 'AVG', 'COUNT'])}({choose.choice(NUMBERS)})" for _ in range(choose.randrange(3))]
    selected = ", ".join([*items, "COUNT(*)"][: choose.randrange(1, 4)])
    policy = choose.choice(POLICIES if "," in selected else LEAST)
    return f"SELECT {selected} FROM t WHERE {random_condition(choose, DOMAINS).sql()}{policy}"


def random_bag(choose: random.Random) -> str:
    shown = choose.choice(SHOWN)
    where = f" WHERE {random_condition(choose, DOMAINS).sql()}" if choose.random() < 0.9 else ""
    keyed = "*" in shown or "k" in shown
    policy = choose.choice([*POLICIES, *([" NOTIFY TRANSITIONS", " NOTIFY ENTER"] if keyed else [])])
    return f"SELECT {shown} FROM t{where}{policy}{choose.choice(['', '', '', ' SNAPSHOT NONE'])}"


def random_list(choose: random.Random) -> str:
    order = f"{choose.choice(['', choose.choice(ORDERS) + ', '])}k{choose.choice(['', ' DESC'])}"
    best = f"ORDER BY {order} LIMIT {choose.randrange(5)}"
    return f"SELECT {choose.choice(SHOWN)} FROM t {choose.choice(CONDITIONS)} {best}{choose.choice(POLICIES)}"


def random_distinct(choose: random.Random) -> str:
    return f"SELECT DISTINCT {choose.choice(MEASURES)} FROM t {choose.choice(CONDITIONS)}{choose.choice(POLICIES)}"


def random_items(choose: random.Random) -> str:
    """Aggregates over a range."""

    def item() -> tuple[str, bool]:
        function = choose.choice(["MIN", "MAX", "COUNT", "SUM", "AVG"])
        if choose.random() < 0.15:
            return f"COUNT(DISTINCT {choose.choice(MEASURES)})", True
        column = choose.choice(NUMBERS if function in ("SUM", "AVG") else [*MEASURES, "*"])
        return (
            f"{'COUNT' if column == '*' else function}({column})",
            column in NUMBERS or function == "COUNT" or column == "*",
        )

    items = [item() for _ in range(choose.choice([1, 1, 1, 2, 3]))]
    alone = len(items) == 1 and items[0][1]
    selected = ", ".join(text for text, _ in items)
    policy = choose.choice(LEAST if alone else POLICIES)
    return f"SELECT {selected} FROM t {choose.choice(CONDITIONS)}{policy}"


QUESTIONS: dict[str, Callable[[random.Random], str]] = {
    "items": random_items, "distinct": random_distinct, "sums": random_sums, "bag": random_bag, "list": random_list
}  # fmt: skip


def drive(seed: int, losses: bool = False) -> Judged:
    choose = random.Random(seed)
    chain = Judged(virtual_edges=EDGES)
    chain.append("t", b"1", b"{}", 1)
    chain.apply(DDL)
    for _ in range(choose.randrange(10, 40)):
        relation = chain.catalog.relations["t"]
        action = choose.random()
        if action < 0.6:
            for _ in range(choose.randrange(1, 8)):
                row = random_row(choose, relation)
                chain.append("t", encode_key(relation, row), encode_row(relation, row), row["k"] % 2)
        elif action < 0.7:
            key = choose.randrange(6)
            chain.append("t", b'{"k":%d}' % key, None, key % 2)
        elif action < 0.75:
            chain.append("t", choose.choice([b'{"k":1}', b"2", b"x", None]), choose.choice(GARBAGE), 1)
        elif action < 0.9:
            sql = random_question(choose)
            id = choose.choice(["s1", "s2", "s3", "s4"])
            chain.append(chain.topics.subscriptions, id.encode(), json.dumps({"sql": sql}).encode())
        elif action < 0.93:
            chain.append(chain.topics.subscriptions, choose.choice([b"s1", b"s2"]), None)
        elif action < 0.96:
            chain.restart()
        elif action < 0.98:
            chain.apply(choose.choice([WIDER, "DROP TABLE t; " + WIDER]) if "extra" not in str(relation) else WIDER)
        if losses and choose.random() < 0.2:
            topic, key = choose.choice([(chain.topics.notifications, b"t/0"), (chain.topics.registrations, b"t/0")])
            chain.append(topic, key, b"\xff\xff\xff\xffdamaged", choose.randrange(EDGES))
        if choose.random() < 0.6:
            chain.settle()
    chain.settle()
    assert losses or not [lost for edge in chain.edges for lost in edge.losses()]
    return chain


@pytest.mark.deep
@settings(max_examples=deep_examples(15), deadline=None)
@given(st.integers(0, 10**9))
def test_the_chain_is_clean(seed: int) -> None:
    report = verify(drive(seed).journal())
    assert report.clean and report.unjudged == 0, report.faults


@pytest.mark.deep
@settings(max_examples=deep_examples(15), deadline=None)
@given(st.integers(0, 10**9))
def test_what_was_lost_on_the_way_to_an_edge_is_made_up_for_by_resyncs(seed: int) -> None:
    report = verify(drive(seed, losses=True).journal())
    assert report.clean and report.unjudged == 0, report.faults


BUCKETS = """CREATE TABLE t ("H" VARCHAR, k DECIMAL(4,1), l BIGINT, PRIMARY KEY (k, "H"))
  WITH ('buckets'='3', 'bucket.by'='"H"')"""


BUCKET_CONDITIONS = [
    "l < 5", "(l <> 3 OR k IN (1, 2.0))", "NOT (k = 2 AND l > 1)", "k IS NOT NULL AND l NOT IN (0, 4)",
    "k BETWEEN 0.5 AND 2.5", "(l IS NULL OR l = 2)",
]  # fmt: skip


class Skewed(Judged):
    """Whose partitions have clocks that jump: a shard takes records by the running maximum of its own."""

    def append(self, topic: str, key: bytes | None, value: bytes | None, partition: int | None = None) -> None:
        super().append(topic, key, value, partition)
        if topic == "t":
            stamps = self.stamps[topic, partition or 0]
            stamps[-1] += 5 * (zlib.crc32(key or b"") % 7)


def drive_buckets(seed: int) -> Skewed:
    choose = random.Random(seed)
    chain = Skewed(virtual_edges=EDGES)
    chain.apply(BUCKETS)
    subscribed = [f"s{i}" for i in range(5)]
    for step in range(choose.randrange(6, 16)):
        for _ in range(choose.randrange(1, 12)):
            h, k, odd = choose.choice(["", "a", "\u00e9", '"']), choose.randrange(4), choose.random()
            key = json.dumps({"H": h, "k": f"{k}.0"} if odd < 0.8 else {"k": f"{k}", "H": h}, ensure_ascii=odd < 0.5)
            value = json.dumps({"H": h, "k": k, "l": choose.randrange(6)}) if odd < 0.9 else "[" if odd < 0.95 else None
            chain.append("t", b"?" if odd > 0.98 else key.encode(), value and value.encode(), choose.randrange(2))
        if step == 0 or choose.random() < 0.6:
            item = choose.choice(["MIN(l)", "SUM(l), COUNT(*)", "DISTINCT k", "COUNT(DISTINCT k), MAX(l)", "AVG(l)"])
            home, policy = f"\"H\" = '{choose.choice(['', 'a', 'é'])}'", choose.choice(POLICIES)
            sql = f"SELECT {item} FROM t WHERE {home} AND l < 5{policy}"
            if choose.random() < 0.5:
                shown = choose.choice(["*", "l", 'k, "H"', 'k, l, "H"', "SUM(l), COUNT(*)", "AVG(l)", "COUNT(k)"])
                policy = choose.choice([policy, " NOTIFY TRANSITIONS", " NOTIFY ENTER"] if '"H"' in shown else [policy])
                sql = f"SELECT {shown} FROM t WHERE {choose.choice(BUCKET_CONDITIONS)} AND {home}{policy}"
            record = json.dumps({"sql": sql}).encode()
            chain.append(chain.topics.subscriptions, choose.choice(subscribed).encode(), record)
        if choose.random() < 0.1:
            chain.restart()
        if choose.random() < 0.1:
            chain.begin_epoch()
        chain.settle()
    return chain


@pytest.mark.deep
@settings(max_examples=deep_examples(15), deadline=None)
@given(st.integers(0, 10**9))
def test_a_table_in_buckets_is_clean(seed: int) -> None:
    report = verify(drive_buckets(seed).journal())
    assert report.clean and report.unjudged == 0 and report.right, report.faults


def test_filters_of_one_bucket_need_nothing_of_the_rows_of_another() -> None:
    chain = Judged(virtual_edges=1)
    chain.apply(BUCKETS)
    for i, home in enumerate("abcdef"):
        item, condition = [("k", "l IS NULL"), ("COUNT(*)", "k > 0"), ('"H"', "k < 9")][i % 3]
        sql = f"SELECT {item} FROM t WHERE \"H\" = '{home}' AND ({condition} OR k = 5)"
        chain.append(chain.topics.subscriptions, b"s%d" % i, json.dumps({"sql": sql}).encode())
        for k in range(3):
            row = {"H": home, "k": f"{k}.0", "l": k or None}
            key = json.dumps({"H": home, "k": f"{k}.0"}).encode()
            chain.append("t", key, json.dumps(row).encode(), 0)
        chain.settle()
    assert chain.edges[0].counters.losses == 0
    chain.restart()
    chain.append("t", b'{"H":"a","k":"0.0"}', b'{"H":"a","k":"0.0","l":7}', 0)
    chain.settle()
    assert chain.edges[0].counters.losses == 0
    assert chain.answer("s1") == 2


def lists_of_one_channel(ddl: str, questions: list[str]) -> Judged:
    """Return a chain with these questions s0, s1, .. over `t`, one settled after the other, and nobody else."""
    chain = Judged(virtual_edges=1)
    chain.apply(ddl)
    for i, sql in enumerate(questions):
        chain.append(chain.topics.subscriptions, b"s%d" % i, json.dumps({"sql": sql}).encode())
        chain.settle()
    return chain


def test_lists_of_one_bucket_need_nothing_of_the_rows_of_another() -> None:
    homes = {home: ["k", "l", '"H"'][i % 3] for i, home in enumerate("abcdef")}
    questions = [f'SELECT {shown} FROM t WHERE "H" = \'{h}\' ORDER BY k, "H" LIMIT 2' for h, shown in homes.items()]
    chain = lists_of_one_channel(BUCKETS, questions)
    for home in homes:
        for k in range(3):
            key = json.dumps({"H": home, "k": f"{k}.0"}).encode()
            chain.append("t", key, json.dumps({"H": home, "k": f"{k}.0", "l": k or None}).encode(), 0)
        chain.settle()
    assert chain.edges[0].counters.losses == 0
    assert chain.answer("s1") == [[None], [1]]
    assert verify(chain.journal()).right


@pytest.mark.parametrize("nothing", ["l > 5 AND l < 2", "v > 'b' AND v < 'a'"])
def test_a_list_that_no_row_can_meet_needs_nothing_of_rows(nothing: str) -> None:
    column = nothing[0]
    met = f"SELECT k FROM t WHERE {column} > {'1' if column == 'l' else chr(39) + 'a' + chr(39)} ORDER BY k LIMIT 2"
    chain = lists_of_one_channel(DDL, [met, f"SELECT v, b FROM t WHERE {nothing} ORDER BY k LIMIT 2"])
    for k in range(3):
        chain.append("t", b"%d" % k, b'{"k":%d,"l":9,"v":"x"}' % k, 0)
        chain.settle()
    assert chain.edges[0].counters.losses == 0
    assert (chain.answer("s0"), chain.answer("s1")) == ([[0], [1]], [])


def mortal_chain() -> Judged:
    chain = Judged(virtual_edges=EDGES)
    chain.apply("CREATE TABLE t (k INTEGER PRIMARY KEY, l BIGINT)")
    for i in range(12):
        if i == 3:
            sql = json.dumps({"sql": "SELECT MIN(l) FROM t TTL 40"}).encode()
            chain.append(chain.topics.subscriptions, b"s", sql)
        chain.append("t", b"%d" % i, b'{"k":%d,"l":0}' % i, 0)
        chain.settle()
    return chain


@pytest.mark.parametrize("shift", [-2, -1, 1, 2])
def test_an_end_by_ttl_at_another_progress_is_found(shift: int) -> None:
    chain = mortal_chain()
    journal = chain.journal()
    assert verify(journal).clean
    home = home_partition(b"s", EDGES)
    log = journal.deliveries.records[home]
    told = [json.loads(record.value or b"") for record in log]
    place = next(i for i, one in enumerate(told) if one.get("reason") == "expired")
    ticks = [i for i, one in enumerate(told) if one["kind"] == "progress"]
    target = ticks[ticks.index(place + 1) + shift]
    at = {name: told[target][name] for name in ("epoch", "batch")}
    end = log[place]._replace(value=json.dumps(told[place] | {"at": at}).encode())
    moved = log[:place] + log[place + 1 :]
    moved.insert(target if target < place else target - 1, end)
    journal.deliveries.records[home] = [record._replace(offset=i) for i, record in enumerate(moved)]
    assert not verify(journal).clean


def test_filters_of_one_bucket_stay_where_lists_and_filters_of_another_have_gone() -> None:
    """A summary about lists says what is needed of a bucket whose images are told until another one is due."""
    one = "SELECT l FROM t WHERE \"H\" = '{}'"
    best = one + ' ORDER BY k, "H" LIMIT 2'
    chain = lists_of_one_channel(BUCKETS, [f"{one.format(home)} AND l IS NULL" for home in "ab"] + [best.format("b")])
    chain.append(chain.topics.subscriptions, b"s0", None)
    log = chain.logs[chain.topics.registrations][0]
    while not isinstance(unpack(log[-1][1] or b""), PackedSummary):
        for value in (json.dumps({"sql": best.format("a")}).encode(), None):
            chain.append(chain.topics.subscriptions, b"a", value)
            chain.settle()
    for k in range(3):
        chain.append("t", b'{"H":"a","k":"%d.0"}' % k, b'{"H":"a","k":"%d.0"}' % k, 0)
        chain.settle()
    assert chain.edges[0].counters.losses == 0
