"""Grouped SELECTs: groups, aggregates, what is computed of them."""

import pytest

from catalog.schema.view import Aggregate, GroupBy, Map
from catalog.view.bounds import WIDE_INTEGER
from tests.catalog.sample import of
from tests.catalog.viewed import declared


def group_of(query: str) -> GroupBy:
    [found] = [s.operator for s in declared(query).stages if isinstance(s.operator, GroupBy)]
    return found


def test_each_aggregate_has_its_type() -> None:
    found = group_of(
        "SELECT COUNT(*) AS a, COUNT(dest) AS b, SUM(n) AS c, SUM(big) AS d, SUM(fare) AS e, SUM(ratio) AS f,"
        " AVG(n) AS g, MIN(dest) AS h, MAX(day) AS i, LATEST(fare BY at) AS j FROM seat"
    )
    assert found.by == ()
    assert found.aggregates == (
        Aggregate("COUNT", None, of("BIGINT")),
        Aggregate("COUNT", "dest", of("BIGINT")),
        Aggregate("SUM", "n", of("BIGINT")),
        Aggregate("SUM", "big", WIDE_INTEGER),
        Aggregate("SUM", "fare", of("DECIMAL", 18, 2)),
        Aggregate("SUM", "ratio", of("DOUBLE")),
        Aggregate("AVG", "n", of("DOUBLE")),
        Aggregate("MIN", "dest", of("VARCHAR")),
        Aggregate("MAX", "day", of("DATE")),
        Aggregate("LATEST", "fare", of("DECIMAL", 8, 2), "at"),
    )


@pytest.mark.parametrize("text", ["LATEST(n BY at)", "latest(n, at)", "MAX_BY(n, at)", "ARG_MAX(n, at)"])
def test_the_latest_has_one_text(text: str) -> None:
    assert declared(f"SELECT {text} AS x FROM seat").sql == 'SELECT LATEST(n, "at") AS x FROM seat'


def test_an_aggregate_is_computed_once_wherever_it_stands() -> None:
    view = declared("SELECT dest, SUM(n) - MIN(n) AS x, SUM(n) AS y FROM seat GROUP BY dest HAVING SUM(n) > COUNT(*)")
    group, last = (stage.operator for stage in view.stages)
    assert isinstance(group, GroupBy) and isinstance(last, Map)
    assert [a.kind for a in group.aggregates] == ["SUM", "MIN", "COUNT"]
    assert len(last.where) == 1


def test_groups_are_expressions_or_names_of_items() -> None:
    view = declared("SELECT n + 1 AS m, (n + 1) * 2 AS twice, COUNT(*) AS c FROM seat GROUP BY m")
    assert view.sql.endswith("GROUP BY n + 1")
    assert declared("SELECT n + 1 AS big, COUNT(*) AS c FROM seat GROUP BY n + 1, big").relation.key == ()
    assert declared("SELECT dest AS d, COUNT(*) AS c FROM seat GROUP BY dest, DEST").relation.key == ("d",)


def test_what_may_be_null() -> None:
    view = declared(
        "SELECT dest, COUNT(n) AS a, SUM(tax) AS b, SUM(fare) AS c, LATEST(tax BY at) AS d FROM seat GROUP BY dest"
    )
    assert [column.nullable for column in view.relation.columns] == [True, False, False, True, True]
    assert declared("SELECT SUM(tax) AS b FROM seat").relation.columns[0].nullable
