import pytest
from hypothesis import given, settings

from catalog.ddl.statements import apply_ddl, fold_ddl, to_ddl
from catalog.schema.catalog import Catalog
from catalog.schema.view import Aggregate, Fold, GroupBy, Map
from catalog.sql.errors import SqlError
from catalog.types.column_type import ColumnType, Kind
from tests.catalog import viewed
from tests.catalog.streamed import CATALOG, STREAM, after, declared
from tests.effort import deep_examples

SEATS = apply_ddl(
    Catalog(),
    viewed.DDL.replace("CREATE TABLE seat", "CREATE STREAM seat")
    .replace("flight VARCHAR PRIMARY KEY, dest", "flight VARCHAR, dest")
    .replace("wide DECIMAL(38,10))", "wide DECIMAL(38,10)) WITH ('event_time'='at', 'lateness'='1 s')"),
    0,
)
"""The catalog of other tests of views, with its widest table as a stream."""


def test_a_fold_stands_between_maps() -> None:
    view = declared(
        "SELECT symbol, DATE_TRUNC('hour', ts) AS hour, LATEST(price BY ts) AS last, AVG(price) AS mean, "
        "MIN(n) AS least FROM trade WHERE n > 0 GROUP BY symbol, DATE_TRUNC('hour', ts) HAVING COUNT(*) > 1"
    )
    first, fold, last = [stage.operator for stage in view.stages]
    assert isinstance(first, Map) and first.input == "trade" and len(first.where) == 1
    assert isinstance(last, Map) and last.input == "stage/v/1" and len(last.where) == 1
    hour = "DATE_TRUNC('hour', ts)"
    assert isinstance(fold, Fold) and fold.by == ("symbol", hour)
    assert [(each.kind, each.column, each.by) for each in fold.aggregates] == [
        ("LATEST", "price", "ts"),
        ("AVG", "price", None),
        ("MIN", "n", None),
        ("COUNT", None, None),
        ("MAX", "ts", None),
        ("SUM", "price", None),
        ("COUNT", "price", None),
    ]
    assert [column.name for column in view.stages[1].relation.columns][:2] == ["symbol", hour]
    assert view.stages[1].relation.key == ("symbol", hour)
    assert [column.name for column in view.relation.columns] == ["symbol", "hour", "last", "mean", "least"]
    assert view.relation.key == ("symbol", "hour") and view.tables == ("trade",)


def test_what_is_asked_is_kept_once() -> None:
    view = declared("SELECT symbol, SUM(n) AS n, AVG(n) AS mean, COUNT(n) AS c FROM trade GROUP BY symbol")
    fold = view.stages[-2].operator
    assert isinstance(fold, Fold)
    assert fold.aggregates == (
        Aggregate("SUM", "n", ColumnType(Kind.BIGINT)),
        Aggregate("AVG", "n", ColumnType(Kind.DOUBLE)),
        Aggregate("COUNT", "n", ColumnType(Kind.BIGINT)),
    )


def test_a_fold_stands_for_itself_where_its_columns_are_those_of_the_view() -> None:
    view = declared("SELECT symbol, n FROM trade GROUP BY symbol, n")
    assert [type(stage.operator) for stage in view.stages] == [Fold, Map]
    assert view.stages[0].relation.name == "stage/v/0"


def test_what_is_behind_it_is_as_over_tables() -> None:
    assert [type(stage.operator) for stage in CATALOG.views["daily"].stages] == [Map, GroupBy]


def test_a_view_stays_as_it_is_where_its_stream_grows() -> None:
    assert after(STREAM.replace("ts TIMESTAMP", "ts TIMESTAMP, venue VARCHAR")).views == CATALOG.views


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM trade",
        "SELECT COUNT(*) AS n FROM trade",
        "SELECT symbol, n FROM trade QUALIFY ROW_NUMBER() OVER (ORDER BY n, symbol) <= 3",
        "SELECT symbol, SUM(risk) AS r FROM trade GROUP BY symbol",
        "SELECT symbol, AVG(risk) AS r FROM trade GROUP BY symbol",
        "SELECT t.symbol, COUNT(*) AS n FROM trade t JOIN company c ON c.symbol = t.symbol GROUP BY t.symbol",
        "SELECT c.symbol FROM company c LEFT JOIN trade t ON c.symbol = t.symbol",
        "SELECT symbol FROM hourly UNION ALL SELECT symbol FROM trade",
        "SELECT symbol FROM trade GROUP BY symbol UNION ALL SELECT symbol FROM trade GROUP BY symbol",
        "SELECT symbol FROM trade GROUP BY symbol UNION ALL SELECT symbol FROM quote GROUP BY symbol",
    ],
)
def test_what_is_refused(query: str) -> None:
    with pytest.raises(SqlError) as refused:
        declared(query)
    assert refused.value.code in ("unsupported", "unsupported_type") and refused.value.hint


@pytest.mark.deep
@settings(max_examples=deep_examples(1_000, few=10), deadline=None)
@given(viewed.queries())
def test_a_plan_fits_and_its_text_says_the_same(query: str) -> None:
    """Whatever is taken over a table is refused over a stream, or has a fold behind all that reads it."""
    try:
        catalog = apply_ddl(SEATS, f"CREATE VIEW v AS {query}", 5)
    except SqlError as refused:
        assert refused.hint
        return
    view = catalog.views["v"]
    viewed.check_plan(view, catalog)
    assert fold_ddl(SEATS, to_ddl(view), 5) == catalog
    if "seat" in view.reads:
        kinds = [type(stage.operator) for stage in view.stages]
        assert kinds.count(Fold) == 1 and kinds[: kinds.index(Fold)] in ([], [Map]) and kinds[-1] is not Fold
        assert view.tables == ("seat",) and GroupBy not in kinds
    else:
        assert all(stage.relation.closing is None for stage in view.stages) or "low" in view.reads
