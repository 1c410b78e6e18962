"""Whole queries of views: run over a few rows they give what DuckDB makes of the same text; unions; refusals."""

from __future__ import annotations

import random
from collections import Counter
from decimal import Decimal
from itertools import product
from typing import Any

import pytest

from tests.effort import examples
from tests.tidewire.verification.random_views import Database, random_views
from tests.tidewire.verification.scratch import SCRATCH
from tidewire.verification.input.column import Column
from tidewire.verification.input.view_planner import Plan, planned
from tidewire.verification.input.view_source import NoView, Source
from tidewire.verification.recompute.history import FOREVER
from tidewire.verification.recompute.version import Version
from tidewire.verification.recompute.view_versions import versions_of

P = Source(
    tuple(Column(*one, True) for one in (("id", "INTEGER"), ("g", "VARCHAR"), ("x", "INTEGER"), ("y", "BIGINT"))),
    ("id",),
)
Q = Source(
    tuple(Column(*one, True) for one in (("id", "INTEGER"), ("g", "VARCHAR"), ("x", "DECIMAL(4,1)"), ("z", "DOUBLE"))),
    ("id",),
)
ROWS = {
    "p": [(n, g, x, (n % 3) or None) for n, (g, x) in enumerate(product(["u", "v", None], [None, 0, 2]))],
    "q": [
        (n, g, x, z)
        for n, (g, x, z) in enumerate([("u", Decimal("0.0"), 1.0), ("u", Decimal("2.0"), None), (None, None, 2.5)])
    ],
}


def plan(query: str) -> Plan:
    return planned(SCRATCH, query, {"p": P, "q": Q})


@pytest.fixture(scope="module")
def database() -> Database:
    made = Database({})
    for table, rows in ROWS.items():
        for row in rows:
            marks = ", ".join("?" * len(row))
            made.connection.execute(f"INSERT INTO {table} VALUES ({marks})", row)
    return made


def same(value: Any) -> Any:
    return Decimal(value) if isinstance(value, int | float) else value


def test_random_queries_over_ties_and_nulls(database: Database) -> None:
    choose = random.Random(7)
    relations = {name: [Version(1, FOREVER, row[:1], row) for row in rows] for name, rows in ROWS.items()}
    for _ in range(examples(600)):
        query = next(iter(random_views(choose).values()))
        found = versions_of(plan(query).selects, relations)
        database.connection.execute("DROP VIEW IF EXISTS one")
        database.create_view("one", query)
        expected = Counter(tuple(map(same, row)) for row in database.rows("one"))
        assert Counter(tuple(map(same, version.row)) for version in found) == expected, query


def test_the_latest_is_written_with_by_and_nothing_else_of_that_name_is_touched() -> None:
    made = plan('SELECT LATEST ( x  BY y ) AS n, MAX(y) AS "by" FROM p GROUP BY g')
    assert made.tree == plan('SELECT max_by(x, y) AS n, MAX(y) AS "by" FROM p GROUP BY g').tree.replace(
        "max_by", "latest"
    )
    [select] = plan("SELECT latest(x + (y) by COALESCE(y, id)) AS n FROM p").selects
    assert select.group is not None and len(select.group.aggregates) == 1


@pytest.mark.parametrize(
    "query",
    ["SELECT MAX(x BY y) AS n FROM p", "SELECT LATEST(MAX(x) BY y) AS n FROM p", "SELECT LATEST(x) AS n FROM p"],
)
def test_by_belongs_to_the_latest_alone(query: str) -> None:
    with pytest.raises(NoView):
        plan(query)


def test_a_union_is_named_by_its_first_select_and_typed_by_all() -> None:
    made = plan(
        "SELECT x AS n, g, id FROM p UNION ALL SELECT z, g, x FROM q UNION ALL SELECT NULL a, 'w' b, 7 c FROM p"
    )
    assert [(column.name, column.type) for column in made.columns] == [
        ("n", "DOUBLE"),
        ("g", "VARCHAR"),
        ("id", "DECIMAL(38,1)"),
    ]
    assert made.key == () and made.reads == ("p", "q")
    assert all(
        [item.type for item in select.items] == ["DOUBLE", "VARCHAR", "DECIMAL(38,1)"] for select in made.selects
    )


def test_one_meaning_has_one_tree() -> None:
    one = plan("SELECT x, COUNT(*) AS n FROM p WHERE x > 1 GROUP BY x")
    assert one.tree == plan("select x,\n count(*) n from p where (x > 1) group by x").tree
    others = [
        "SELECT x, COUNT(*) AS m FROM p WHERE x > 1 GROUP BY x",
        "SELECT x, COUNT(*) AS n FROM p WHERE x > 2 GROUP BY x",
    ]
    assert one.tree not in {plan(query).tree for query in others}


def test_reads_are_in_lower_case_in_the_order_of_the_text() -> None:
    assert plan("SELECT a.id FROM Q a JOIN P b ON a.id = b.id JOIN q c ON c.id = b.id").reads == ("q", "p")
    assert plan("SELECT id FROM p UNION ALL SELECT id FROM Q").reads == ("p", "q")


@pytest.mark.parametrize(
    "query",
    [
        "", "SELECT", "no SQL", "SELECT id FROM p; SELECT id FROM q", "DROP TABLE p",
        "SELECT id FROM p UNION SELECT id FROM q",
        "SELECT id FROM p INTERSECT ALL SELECT id FROM q", "SELECT id, g FROM p UNION ALL SELECT id FROM q",
        "SELECT id FROM p UNION ALL SELECT g FROM q", "SELECT id, x AS ID FROM p", "SELECT id FROM p WHERE x > 'two'",
        "SELECT id FROM p WHERE x IS NOT DISTINCT FROM 1", "SELECT LATEST(x, y, id) AS n FROM p",
        "SELECT id FROM (SELECT id FROM p)",
        "SELECT lower() AS n FROM p", "VALUES (1)", "SELECT " + "(" * 3_000 + "x" + ")" * 3_000 + " AS n FROM p",
    ],
)  # fmt: skip
def test_what_is_no_view_is_told_as_that_and_nothing_else(query: str) -> None:
    with pytest.raises(NoView):
        plan(query)
