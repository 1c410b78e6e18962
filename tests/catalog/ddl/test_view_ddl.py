"""Statements about views: which views a catalog has after them, what is kept and what planned again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from catalog.ddl.cell_ddl import MAX_CELLS
from catalog.ddl.statements import apply_ddl, fold_ddl, to_ddl
from catalog.schema.catalog import Catalog
from catalog.schema.cell import cell_name
from catalog.schema.view import GroupBy, Joined, Map, TopK, Union
from catalog.sql.errors import CatalogError
from tests.catalog import refusals
from tests.catalog.viewed import CATALOG, after, check_plan, declared

LOW = "CREATE VIEW low AS SELECT dest, MIN(fare) AS low, COUNT(*) AS n FROM seat GROUP BY dest"
BOTH = "CREATE VIEW both AS SELECT s.dest, t.paid FROM seat s JOIN taken t ON s.flight = t.flight"


@pytest.mark.parametrize(("sql", "code", "message"), refusals.read("refusals_view.txt"))
def test_refused_views(sql: str, code: str, message: str) -> None:
    error = refusals.refuse_view(sql)
    assert error is not None, "accepted"
    assert (error.code, str(error)) == (code, message)


@pytest.mark.parametrize(
    "text",
    [
        LOW,
        LOW.lower(),
        "CREATE VIEW low AS (SELECT q.dest dest, MIN((fare)) low, COUNT(*) n FROM seat AS q GROUP BY q.dest)",
        "CREATE VIEW IF NOT EXISTS low AS SELECT flight FROM seat",
    ],
)
def test_the_same_view_again_changes_nothing(text: str) -> None:
    assert after(text).views == CATALOG.views


def test_a_view_that_is_dropped_and_created_again_is_another_one() -> None:
    anew = after("CREATE VIEW v AS SELECT dest FROM seat; DROP VIEW v", "CREATE VIEW v AS SELECT dest FROM seat")
    assert (anew.views["v"].born, anew.views["v"].relation.born, anew.views["low"].born) == (2, 2, 0)
    assert "v" not in after("CREATE VIEW v AS SELECT dest FROM seat; DROP VIEW IF EXISTS x, v").views


def test_views_stand_behind_those_that_they_read() -> None:
    catalog = after("CREATE VIEW b AS SELECT dest FROM low; CREATE VIEW a AS SELECT dest FROM b WHERE dest > 'x'")
    assert list(catalog.views)[-2:] == ["b", "a"]
    assert [view.name for view in catalog.views_below(catalog.views["a"])] == ["low", "b", "a"]
    assert list(after("DROP VIEW low, b, a", catalog=catalog).views) == ["taken", "dear"]


def test_a_view_makes_the_cell_of_its_tables() -> None:
    catalog = after(BOTH)
    name = cell_name(["seat", "booked"])
    assert (catalog.cells[name].tables, catalog.cells[name].born) == (("booked", "seat"), 1)
    assert after("CREATE JOIN seat, booked", BOTH).cells[name].born == 1
    assert name in after("DROP VIEW both", catalog=catalog).cells
    assert not after("DROP VIEW both; DROP JOIN seat, booked", catalog=catalog).cells
    refused = after("REFUSE JOIN seat, booked BECAUSE 'large'", catalog=catalog)
    assert (refused.uncelled("both"), dict(refused.unserved)) == (("booked", "seat"), {name: "large"})
    assert catalog.uncelled("both") == catalog.uncelled("low") == catalog.uncelled("seat") == ()


def test_a_view_without_room_for_its_cell_is_refused_but_stands_where_it_is_folded() -> None:
    tables = "".join(f"CREATE TABLE t{i} (k BIGINT PRIMARY KEY);" for i in range(MAX_CELLS))
    full = after(tables + "".join(f"CREATE JOIN t{i};" for i in range(MAX_CELLS)))
    with pytest.raises(CatalogError, match=f"there are {MAX_CELLS} joins"):
        apply_ddl(full, BOTH, 9)
    folded = fold_ddl(full, BOTH, 9)
    assert folded.uncelled("both") and f"there are {MAX_CELLS} joins" in folded.unserved[cell_name(["seat", "booked"])]


GROWN = (
    "CREATE TABLE booked (booking BIGINT PRIMARY KEY, flight VARCHAR, n INTEGER NOT NULL, paid BIGINT,"
    ' "Odd Name" SMALLINT, dest VARCHAR)'
)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM booked",
        "SELECT b.flight, dest, paid FROM booked b JOIN seat s ON b.flight = s.flight",
        "SELECT a.booking, b.paid FROM booked a LEFT JOIN booked b ON a.flight = b.flight JOIN taken c ON "
        "c.flight = a.flight",
        "SELECT * FROM booked QUALIFY ROW_NUMBER() OVER (PARTITION BY flight ORDER BY booking) <= 2",
        "SELECT * FROM booked UNION ALL SELECT * FROM booked",
        "SELECT flight, SUM(n) AS n FROM booked GROUP BY flight",
    ],
)
def test_a_view_shows_the_same_when_its_table_grows(query: str) -> None:
    before = after(f"CREATE VIEW v AS {query}", "CREATE VIEW above AS SELECT * FROM v")
    grown = after(GROWN, catalog=before)
    was, now = before.views["v"], grown.views["v"]
    stages = tuple(replace(s, relation=replace(s.relation, born=now.born)) for s in now.stages)
    check_plan(replace(now, stages=stages), grown)
    assert (now.sql, now.relation, now.born) == (was.sql, was.relation, 1)
    assert grown.views["above"] == before.views["above"]
    assert [s.relation.born for s in now.stages[:-1]] == [1 if s in was.stages else 3 for s in now.stages[:-1]]
    assert after(GROWN, catalog=grown).views == grown.views
    assert declared(now.sql, grown).relation.columns == now.relation.columns


def test_inner_stages_that_hold_more_columns_begin_anew() -> None:
    grown = after("CREATE VIEW v AS SELECT a.booking FROM booked a JOIN seat s ON s.flight = a.flight", GROWN)
    joined, last = grown.views["v"].stages
    assert (joined.relation.born, last.relation.born, len(joined.relation.columns)) == (2, 1, 6 + 13)


@pytest.mark.parametrize(
    ("query", "operators"),
    [
        ("SELECT * FROM seat", [Map]),
        ("SELECT dest, SUM(n) AS n FROM seat GROUP BY dest", [GroupBy]),
        ("SELECT SUM(n) AS n, dest FROM seat GROUP BY dest", [GroupBy, Map]),
        ("SELECT dest, SUM(n) AS n FROM seat WHERE open GROUP BY dest", [Map, GroupBy]),
        ("SELECT dest, SUM(n) AS n FROM seat WHERE open GROUP BY dest HAVING COUNT(*) > 1", [Map, GroupBy, Map]),
        ("SELECT * FROM low QUALIFY ROW_NUMBER() OVER (ORDER BY low, dest) <= 3", [TopK]),
        ("SELECT flight FROM seat QUALIFY ROW_NUMBER() OVER (ORDER BY fare, flight) <= 3", [TopK, Map]),
        ("SELECT s.flight, l.low FROM seat s JOIN low l ON s.dest = l.dest", [Joined, Map]),
        ("SELECT dest, low FROM low UNION ALL SELECT flight, fare FROM seat", [Map, Map, Union]),
        ("SELECT * FROM low UNION ALL SELECT * FROM low", [Union]),
    ],
)
def test_stages_are_as_few_as_can_be(query: str, operators: list[type]) -> None:
    assert [type(stage.operator) for stage in declared(query).stages] == operators


def test_a_catalog_of_views_is_declared_by_its_own_statements() -> None:
    catalog = after(BOTH, "CREATE VIEW top AS SELECT dest FROM low")
    text = ";".join(to_ddl(each) for each in (*catalog.relations.values(), *catalog.views.values()))
    again = apply_ddl(Catalog(), text, 0)
    assert {name: view.sql for name, view in again.views.items()} == {n: v.sql for n, v in catalog.views.items()}
    assert again.cells.keys() == catalog.cells.keys()


def test_what_is_wrong_leaves_the_catalog_as_it_was() -> None:
    with pytest.raises(CatalogError):
        apply_ddl(CATALOG, "CREATE VIEW a AS SELECT dest FROM seat; CREATE VIEW b AS SELECT x FROM seat", 1)
    assert "a" not in CATALOG.views
