"""One SELECT as stages: which stand for what, what each has, in what order, and the one text of all spellings."""

from __future__ import annotations

import pytest

from catalog.ddl.statements import apply_ddl
from catalog.schema.view import ColumnOf, Map, TopK, View
from catalog.sql.errors import CatalogError
from catalog.view.select_plan import MOST_ITEMS
from tests.catalog import streamed
from tests.catalog.viewed import CATALOG, after, declared


def kinds(view: View) -> list[str]:
    return [type(stage.operator).__name__ for stage in view.stages]


def columns(view: View, stage: int = -1) -> list[str]:
    return [column.name for column in view.stages[stage].relation.columns]


def refused(query: str) -> tuple[str, str]:
    with pytest.raises(CatalogError) as caught:
        apply_ddl(CATALOG, f"CREATE VIEW v AS {query}", 7)
    return caught.value.code, caught.value.what


TOP = "QUALIFY ROW_NUMBER() OVER (PARTITION BY dest ORDER BY fare, flight) <= 2"


@pytest.mark.parametrize(
    ("query", "stages"),
    [
        ("SELECT * FROM seat", "Map"),
        ("SELECT flight FROM seat WHERE n > 1", "Map"),
        ("SELECT dest, COUNT(*) AS c FROM seat GROUP BY dest", "GroupBy"),
        ("SELECT COUNT(*) AS c, dest FROM seat GROUP BY dest", "GroupBy Map"),
        ("SELECT COUNT(*) AS c FROM seat GROUP BY dest", "GroupBy Map"),
        ("SELECT dest, COUNT(*) AS c FROM seat WHERE n > 1 GROUP BY dest", "Map GroupBy"),
        ("SELECT dest, SUM(n + 1) AS s FROM seat GROUP BY dest", "Map GroupBy"),
        ("SELECT dest, COUNT(*) AS c FROM seat GROUP BY dest HAVING COUNT(*) > 1", "GroupBy Map"),
        ("SELECT COUNT(*) AS c FROM seat", "GroupBy"),
        ("SELECT COUNT(*) AS c FROM seat WHERE n > 1", "Map GroupBy"),
        (f"SELECT * FROM seat {TOP}", "TopK"),
        (f"SELECT flight FROM seat {TOP}", "TopK Map"),
        (f"SELECT flight, fare, dest FROM seat WHERE n > 1 {TOP}", "Map TopK"),
        (f"SELECT flight, fare FROM seat WHERE n > 1 {TOP}", "Map TopK Map"),
        (
            "SELECT n, COUNT(*) AS c FROM seat GROUP BY n QUALIFY ROW_NUMBER() OVER (ORDER BY COUNT(*), n) <= 1",
            "GroupBy TopK",
        ),
        ("SELECT a.flight FROM seat a JOIN booked b ON a.flight = b.flight", "Joined Map"),
        (
            "SELECT a.dest, COUNT(*) AS c FROM seat a JOIN booked b ON a.flight = b.flight GROUP BY a.dest",
            "Joined GroupBy",
        ),
    ],
)
def test_a_stage_stands_only_where_there_is_something_to_do(query: str, stages: str) -> None:
    view = declared(query)
    assert " ".join(kinds(view)) == stages
    assert view.stages[-1].relation.name == "v"


def test_a_stream_is_folded_and_always_shown_by_a_map() -> None:
    hour = "DATE_TRUNC('hour', ts)"
    view = streamed.declared(f"SELECT symbol, {hour} AS hour, COUNT(*) AS n FROM trade GROUP BY symbol, {hour}")
    assert kinds(view) == ["Map", "Fold", "Map"]


def test_the_first_map_has_what_is_computed_for_the_next_stage_once() -> None:
    view = declared("SELECT n + 1 AS m, SUM(n + 1) AS s, MIN(fare) AS low FROM seat GROUP BY n + 1")
    assert columns(view, 0) == ["n + 1", "fare"]
    assert columns(view, 1) == ["m", "s", "low"]


def test_where_rows_are_only_counted_one_column_is_kept() -> None:
    view = declared("SELECT COUNT(*) AS c FROM booked WHERE n > 1")
    assert columns(view, 0) == ["booking"]


def test_the_latest_of_rows_needs_their_key() -> None:
    view = declared("SELECT dest, LATEST(fare BY at) AS last FROM seat WHERE n > 1 GROUP BY dest")
    assert columns(view, 0) == ["dest", "fare", '"at"', "flight"]


def test_groups_come_in_the_order_in_which_they_are_shown() -> None:
    view = declared("SELECT n, dest, COUNT(*) AS c FROM seat GROUP BY day, dest, n")
    assert columns(view, 0) == ["n", "dest", "day", "COUNT(*)"]
    assert view.sql.endswith("GROUP BY day, dest, n")


def test_a_rank_is_a_column_only_where_it_is_shown() -> None:
    shown = declared(
        f"SELECT flight, ROW_NUMBER() OVER (PARTITION BY dest ORDER BY fare, flight) AS place FROM seat {TOP}"
    )
    top, last = shown.stages[-2].operator, shown.stages[-1].operator
    assert isinstance(top, TopK) and top.ranked
    assert isinstance(last, Map)
    assert next(item.name for item in last.items if isinstance(item, ColumnOf)) == "flight"
    assert columns(shown) == ["flight", "place"]
    hidden = declared(f"SELECT flight FROM seat {TOP}").stages[-2].operator
    assert isinstance(hidden, TopK) and not hidden.ranked


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("select FLIGHT from SEAT", "SELECT flight FROM seat"),
        ("SELECT flight AS flight FROM seat AS s", "SELECT flight FROM seat"),
        ("SELECT (flight) AS f FROM seat WHERE (n) > 1 AND NOT open", None),
        ("SELECT n AS m, COUNT(*) AS c FROM seat GROUP BY m", "SELECT n AS m, COUNT(*) AS c FROM seat GROUP BY n"),
        ("SELECT n, COUNT(*) AS c FROM seat GROUP BY n, N, (n)", "SELECT n, COUNT(*) AS c FROM seat GROUP BY n"),
        ('SELECT "Odd Name" FROM booked', 'SELECT "Odd Name" FROM booked'),
        ('SELECT n AS "N" FROM booked', 'SELECT n AS "N" FROM booked'),
    ],
)
def test_all_spellings_have_one_text_which_says_the_same(query: str, text: str | None) -> None:
    view = declared(query)
    assert text in (None, view.sql)
    again = declared(view.sql)
    assert (again.sql, again.stages) == (view.sql, view.stages)


def test_a_name_of_a_group_is_a_column_before_it_is_an_item() -> None:
    """`dest` is grouped by as the table has it, though an item is called so."""
    assert refused("SELECT flight AS dest, COUNT(*) AS c FROM seat GROUP BY dest")[0] == "unsupported"
    assert declared("SELECT flight AS f, COUNT(*) AS c FROM seat GROUP BY f").sql.endswith("GROUP BY flight")


def test_a_select_list_ends_at_its_most() -> None:
    items = ", ".join(f"n AS n{i}" for i in range(MOST_ITEMS))
    assert len(columns(declared(f"SELECT {items} FROM seat"))) == MOST_ITEMS
    assert refused(f"SELECT {items}, n FROM seat") == (
        "unsupported",
        f"a SELECT list of more than {MOST_ITEMS} items is not supported",
    )


def test_names_have_up_to_255_characters() -> None:
    longest = "x" * 255
    assert columns(declared(f"SELECT n AS {longest} FROM seat")) == [longest]
    for name in (longest + "x", '""', '"a\tb"'):
        code, what = refused(f"SELECT n AS {name} FROM seat")
        assert (code, what[:44]) == ("malformed", "a name has 1 to 255 printable characters, go")


@pytest.mark.parametrize(
    ("query", "code", "what"),
    [
        ("SELECT n + 1 FROM seat", "syntax", "an item that is no plain column has no name"),
        ("SELECT n, dest AS n FROM seat", "conflict", "two columns are called `n`"),
        ("SELECT *, n FROM seat", "conflict", "two columns are called `n`"),
        ("SELECT * FROM seat GROUP BY n", "unsupported", "* in a grouped SELECT is not supported"),
        ("SELECT COUNT(*) AS c FROM seat GROUP BY 1", "unsupported", "GROUP BY of a constant is not supported"),
        ("SELECT n FROM seat WHERE SUM(n) > 1", "unsupported", "an aggregate in WHERE is not supported"),
        ("SELECT n FROM seat GROUP BY n + SUM(n)", "unsupported", "an aggregate in GROUP BY is not supported"),
        ("SELECT SUM(SUM(n)) AS s FROM seat", "unsupported", "an aggregate inside an aggregate is not supported"),
        (
            "SELECT ROW_NUMBER() OVER (ORDER BY flight) AS place FROM seat",
            "unsupported",
            "ROW_NUMBER() without QUALIFY is not supported",
        ),
        (
            f"SELECT ROW_NUMBER() OVER (ORDER BY flight) AS place FROM seat {TOP}",
            "unsupported",
            "a second ROW_NUMBER() of another order is not supported",
        ),
    ],
)
def test_what_is_refused(query: str, code: str, what: str) -> None:
    assert refused(query) == (code, what)


def test_parts_of_a_range_stand_behind_what_is_written() -> None:
    catalog = after("CREATE TABLE stay (k BIGINT PRIMARY KEY, nights DATERANGE, n INTEGER)")
    view = declared("SELECT nights AS at_night, n FROM stay", catalog)
    names = columns(view)
    assert (names[:2], len(names)) == (["at_night", "n"], 6)
    assert {c.of for c in view.relation.columns[2:]} == {"at_night"}
    assert view.sql == "SELECT nights AS at_night, n FROM stay"
    code, what = _in(catalog, 'SELECT nights, n AS "lower(nights)" FROM stay')
    assert (code, what) == ("conflict", "two columns are called `lower(nights)`")


def _in(catalog: object, query: str) -> tuple[str, str]:
    with pytest.raises(CatalogError) as caught:
        apply_ddl(catalog, f"CREATE VIEW v AS {query}", 9)  # type: ignore[arg-type]
    return caught.value.code, caught.value.what
