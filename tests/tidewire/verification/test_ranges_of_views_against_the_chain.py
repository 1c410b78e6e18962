"""Views of tables with ranges over the pure pipeline, judged: of every type, under any operator, shown and asked again.

What the chain tells of the views, and writes to their topics, is compared with what `verify` computes of the texts of
ranges by their bounds: it has no ends as codes, and no columns beside a range.
"""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.sql.errors import CatalogError
from tests.effort import deep_examples
from tests.oracle.naive_ranges import ELEMENTS, literal, random_condition, random_range
from tests.tidewire.verification.test_views_against_the_chain import Viewed
from tidewire.verification.records.journal import Journal
from tidewire.verification.verify import verify

POLICIES = ["", "", " NOTIFY LATEST"]


class Ranged(Viewed):
    """Tables t and u, each with two ranges of the same types, a and b."""

    def __init__(self, types: tuple[str, str], meant: str) -> None:
        super().__init__()
        columns = f"a {types[0]}, b {types[1]}, n INTEGER"
        options = f"WITH ('null.range'='{meant}')"
        self.types = dict(zip("ab", types, strict=True))
        self.apply("; ".join(f"CREATE TABLE {name} (k INTEGER PRIMARY KEY, {columns}) {options}" for name in "tu"))

    def journal(self) -> Journal:
        made = super().journal()
        made.relations = {topic: self.log(topic, 2) for topic in "tu"}
        return made

    def publish(self, choose: random.Random) -> None:
        k, table = choose.randrange(4), choose.choice("tu")
        row = {"k": k, "n": choose.choice([0, 1, None])}
        row |= {name: None if choose.random() < 0.15 else random_range(choose, its) for name, its in self.types.items()}
        value = None if choose.random() < 0.15 else json.dumps(row).encode()
        self.append(table, b"%d" % k, value, k % 2)

    def conditions(self, choose: random.Random, prefix: str = "") -> str:
        """Return what may stand between the ANDs of a view's WHERE."""
        made = [self._condition(choose, prefix) for _ in range(choose.choice([0, 1, 1, 2]))]
        return f" WHERE {' AND '.join(made)}" if made else ""

    def _condition(self, choose: random.Random, prefix: str) -> str:
        name = choose.choice("ab")
        type_, column = self.types[name], prefix + name
        one = "'" + random_range(choose, type_).replace("'", "''") + "'"
        value = literal(type_, choose.choice(ELEMENTS[type_]))
        return choose.choice([
            f"{column} && {one}", f"{one} && {column}", f"{column} @> {one}", f"{one} @> {column}",
            f"{column} <@ {one}", f"{column} @> {value}", f"{value} <@ {column}", f"{column} = {one}",
            f"{column} <> {one}", f"isempty({column})", f"NOT isempty({column})", f"{column} IS NOT NULL",
            f"{column} IN ({one}, 'empty')", f"lower({column}) <= {value}", f"upper({column}) IS NULL",
        ])  # fmt: skip

    def view(self, choose: random.Random) -> str:
        name = choose.choice("ab")
        where = self.conditions(choose)
        return choose.choice([
            f"SELECT k, a, b, n FROM t{where}",
            f"SELECT * FROM u{where}",
            f"SELECT k, {name} AS a, lower({name}) AS low, upper({name}) AS high FROM t{where}",
            f"SELECT k, a, n FROM t{where} UNION ALL SELECT k, a, n FROM u{self.conditions(choose)}",
            f"SELECT t.k, u.k AS other, t.a, u.b FROM t JOIN u ON t.n = u.n{self.conditions(choose, 't.')}",
            f"SELECT t.k, u.k AS other, t.a, u.{name} AS b FROM t LEFT JOIN u ON t.{name} = u.{name}",
            f"SELECT {name} AS a, COUNT(*) AS n, MIN(lower({name})) AS low FROM t{where} GROUP BY {name}",
            f"SELECT a, COUNT(b) AS n FROM t{where} GROUP BY a HAVING NOT isempty(a)",
            f"SELECT k, a, b FROM t{where} QUALIFY ROW_NUMBER() OVER (PARTITION BY n ORDER BY lower({name}), k) <= 2",
        ])  # fmt: skip

    def question_of_ranges(self, choose: random.Random, view: str) -> str:
        relation = self.catalog.views[view].relation
        ranges = {column.name: str(column.type) for column in relation.declared if column.type.is_range}
        name = choose.choice(list(ranges))
        where = f" WHERE {random_condition(choose, ranges)}" if choose.random() < 0.8 else ""
        items = choose.choice(["*", "*", name, f"lower({name}), upper({name})", f"COUNT(*), COUNT({name})"])
        if items == name and choose.random() < 0.3:
            return f"SELECT DISTINCT {name} FROM {view}"
        return f"SELECT {items} FROM {view}{where}{choose.choice(POLICIES)}"


def drive(seed: int) -> Ranged:
    choose = random.Random(seed)
    types = choose.sample(list(ELEMENTS), 2)
    chain = Ranged((types[0], types[1]), choose.choice(["nothing", "everything"]))
    for i in range(choose.randrange(8, 18)):
        for _ in range(choose.randrange(1, 6)):
            chain.publish(choose)
        views = list(chain.catalog.views)
        if len(views) < 3 and (not views or choose.random() < 0.4):
            declare(chain, f"v{i}", chain.view(choose), choose.random() < 0.5)
        views = list(chain.catalog.views)
        if views and choose.random() < 0.8:
            record = json.dumps({"sql": chain.question_of_ranges(choose, choose.choice(views))}).encode()
            chain.append(chain.topics.subscriptions, choose.choice([b"s1", b"s2", b"s3", b"s4"]), record)
        if choose.random() < 0.1:
            chain.restart()
        if choose.random() < 0.05:
            chain.begin_epoch()
        chain.write_views(choose)
        if choose.random() < 0.6:
            chain.settle()
    chain.settle()
    return chain


def declare(chain: Ranged, name: str, query: str, written: bool) -> None:
    """Declare a view; a constant that is no range, or is none of its type, is refused."""
    if not written or not chain.try_to(
        f"CREATE VIEW {name} WITH ('topic'='out-{name}') AS {query}", "unsupported", "type_mismatch"
    ):
        chain.try_to(f"CREATE VIEW {name} AS {query}", "type_mismatch")


@pytest.mark.deep
@settings(max_examples=deep_examples(60), deadline=None)
@given(st.integers(0, 10**9))
def test_views_of_ranges_are_clean(seed: int) -> None:
    report = verify(drive(seed).journal())
    assert report.clean and report.unjudged == 0, report.faults


def test_a_view_filters_ranges_and_is_asked_for_them() -> None:
    chain = Ranged(("INT4RANGE", "TSRANGE"), "nothing")
    chain.apply("CREATE VIEW adult AS SELECT k, a, b FROM t WHERE a @> 18 AND b && '[2026-03-01,)'")
    chain.apply("CREATE VIEW ages WITH ('topic'='out-ages') AS SELECT a, COUNT(*) AS n FROM adult GROUP BY a")
    for id, sql in {
        b"rows": "SELECT k, a FROM adult WHERE a && '[60,)'",
        b"n": "SELECT SUM(n) FROM ages WHERE a <@ '[0,99]'",
    }.items():
        chain.append(chain.topics.subscriptions, id, json.dumps({"sql": sql}).encode())
    march = "[2026-03-01 12:00:00,2026-03-02)"
    for k, a, b in (
        (1, "[18,65)", march),
        (2, "(17,30]", march),
        (3, "[18,65)", "(,2026-02-01)"),
        (4, "[10,18)", march),
    ):
        chain.append("t", b"%d" % k, json.dumps({"k": k, "a": a, "b": b, "n": 1}).encode(), 0)
        chain.write_views(random.Random(1))
        chain.settle()
    assert chain.answer("n") == 2
    told = [
        json.loads(value or b"")
        for log in chain.logs[chain.topics.deliveries].values()
        for key, value in log
        if key == b"rows"
    ]
    assert [one["added"] for one in told] == [[], [[1, "[18,65)"]]]
    written = [json.loads(value or b"") for _, value in chain.logs["out-ages"][0]]
    assert written[-1] == {"a": "[18,31)", "n": 1}, "what is kept beside a range is in no record"
    report = verify(chain.journal())
    assert report.clean and report.written == len(written) and report.unjudged == 0, report.faults


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("SELECT k FROM t WHERE NOT a && '[1,5)'", "NOT before an operator of ranges"),
        ("SELECT MAX(a) AS a FROM t", "MAX of the range"),
        ("SELECT k, COALESCE(a, a) AS a FROM t", "COALESCE of the range"),
        ("SELECT k FROM t WHERE a && b", "&& with anything but a constant"),
        ("SELECT k FROM t WHERE a < '[1,5)'", "< is not for ranges"),
        ("SELECT t.k, u.k AS o FROM t JOIN u ON t.a = u.b", "never equal"),
    ],
)
def test_what_a_view_does_not_do_with_ranges_is_refused(query: str, why: str) -> None:
    chain = Ranged(("INT4RANGE", "TSRANGE"), "nothing")
    with pytest.raises(CatalogError, match=why):
        chain.apply(f"CREATE VIEW v AS {query}")
