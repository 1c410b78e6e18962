"""Random queries: what is planned fits, says the same when it is read again, and nothing in it overflows."""

import contextlib

import duckdb
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from catalog.ddl.statements import apply_ddl, fold_ddl, to_ddl
from catalog.schema.catalog import Catalog
from catalog.schema.view import (
    Arithmetic,
    Coalesce,
    ColumnOf,
    Constant,
    Expression,
    GroupBy,
    Map,
    Stage,
    TopK,
    Union,
)
from catalog.sql.errors import CatalogError
from catalog.types.column_type import Kind
from catalog.view.bounds import bound_of
from tests.catalog import viewed
from tests.catalog.viewed import CATALOG, after, check_plan, declared
from tests.effort import deep_examples


def planned(query: str) -> Catalog:
    try:
        return apply_ddl(CATALOG, f"CREATE VIEW v AS {query}", 7)
    except CatalogError as error:
        event(error.code)
        assume(False)
        raise


@pytest.mark.deep
@settings(max_examples=deep_examples(1_000), deadline=None)
@given(viewed.queries())
def test_a_plan_fits_and_its_text_says_the_same(query: str) -> None:
    catalog = planned(query)
    view = catalog.views["v"]
    check_plan(view, catalog)
    assert apply_ddl(CATALOG, to_ddl(view), 7).views["v"] == view
    assert apply_ddl(catalog, f"CREATE VIEW v AS {query}", 8).views == catalog.views
    assert fold_ddl(CATALOG, to_ddl(view), 7) == catalog


@pytest.fixture(scope="module")
def database() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute("CREATE MACRO latest(x, t) AS arg_max(x, t)")
    for relation in CATALOG.relations.values():
        columns = ", ".join(f'"{c.name}" {c.type}' for c in relation.columns)
        connection.execute(f'CREATE TABLE "{relation.name}" ({columns})')
    for view in CATALOG.views.values():
        connection.execute(to_ddl(view))
    return connection


@pytest.mark.deep
@settings(max_examples=deep_examples(400), deadline=None)
@given(query=viewed.queries())
def test_duckdb_takes_the_text(database: duckdb.DuckDBPyConnection, query: str) -> None:
    view = planned(query).views["v"]
    try:
        found = database.execute(f"DESCRIBE {view.sql}").fetchall()
    except duckdb.Error as error:
        assume("DECIMAL" not in str(error))
        raise
    assert [row[0] for row in found] == [column.name for column in view.relation.columns]


def units(one: Expression, row: dict[str, int]) -> int:
    """The value of an exact expression in units of its type."""
    match one:
        case ColumnOf():
            return row[one.name]
        case Constant():
            assert one.value is not None
            return one.value if isinstance(one.value, int) else int(one.value.replace(".", ""))
        case Arithmetic():
            scales = [side.type.scale for side in (one.left, one.right)]
            left, right = units(one.left, row), units(one.right, row)
            if one.op == "*":
                return left * right
            left, right = (x * 10 ** (max(scales) - s) for x, s in zip((left, right), scales, strict=True))
            return left + right if one.op == "+" else left - right
        case Coalesce():
            first = one.operands[0]
            return units(first, row) * 10 ** (one.type.scale - first.type.scale)
    raise AssertionError(one)


def is_exact(one: Expression) -> bool:
    match one:
        case Arithmetic():
            return is_exact(one.left) and is_exact(one.right)
        case Coalesce():
            return bound_of(one.type) is not None and is_exact(one.operands[0])
    return bound_of(one.type) is not None


def extremes(stages: tuple[Stage, ...], tables: Catalog, high: bool) -> dict[str, dict[str, int]]:
    """The greatest, or least, exact numbers that columns of a chain can have where all below are so, by relation."""
    known: dict[str, dict[str, int]] = {}
    for name, relation in tables.relations.items():
        found = {c.name: bound_of(c.type) for c in relation.columns}
        known[name] = {n: b.most if high else -b.most for n, b in found.items() if b is not None}
    for view in tables.views.values():
        _extend(known, view.stages)
    _extend(known, stages)
    return known


def _extend(known: dict[str, dict[str, int]], stages: tuple[Stage, ...]) -> None:
    for stage in stages:
        names = [column.name for column in stage.relation.columns]
        rows = [known[name] for name in stage.operator.inputs]
        row: dict[str, int] = {}
        match stage.operator:
            case Map():
                for name, item in zip(names, stage.operator.items, strict=True):
                    with contextlib.suppress(KeyError):
                        if is_exact(item):
                            row[name] = units(item, rows[0])
            case GroupBy():
                by = len(stage.operator.by)
                row = {new: rows[0][old] for new, old in zip(names, stage.operator.by, strict=False) if old in rows[0]}
                for name, each in zip(names[by:], stage.operator.aggregates, strict=True):
                    if each.kind == "COUNT":
                        row[name] = 2**31
                    elif each.column in rows[0] and each.kind != "AVG":
                        row[name] = rows[0][each.column] * (2**31 if each.kind == "SUM" else 1)
            case TopK():
                row = dict(rows[0])
            case Union():
                pass
        known[stage.relation.name] = row


@pytest.mark.deep
@settings(max_examples=deep_examples(600), deadline=None)
@given(viewed.queries(), st.booleans())
def test_the_greatest_numbers_fit_their_types(query: str, high: bool) -> None:
    catalog = planned(query)
    view = catalog.views["v"]
    for stage in view.stages:
        row = extremes(view.stages, CATALOG, high)[stage.relation.name]
        for column in stage.relation.columns:
            if column.name in row and column.type.kind not in (Kind.REAL, Kind.DOUBLE):
                most = 10**column.type.precision - 1 if column.type.kind is Kind.DECIMAL else column.type.reach[1]
                assert abs(row[column.name]) <= most + (column.type.kind is not Kind.DECIMAL), (column, query)


_PIECES = (
    "", " ", "'", '"', "(", ")", ",", "*", ";", "1", "-", ".", "?", "\x00", "é", " AND ", " OR ", " NOT ", " NULL ",
    "SELECT ", " FROM ", " JOIN ", "COUNT(*)", "LATEST(n BY at)", " OVER ()", " UNION ALL ", "GROUP BY ",
)  # fmt: skip


@pytest.mark.deep
@settings(max_examples=deep_examples(800), deadline=None)
@given(st.data())
def test_a_text_with_slips_is_planned_or_refused(data: st.DataObject) -> None:
    text = f"CREATE VIEW v AS {data.draw(viewed.queries())}"
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 8)))
        text = text[:start] + data.draw(st.sampled_from(_PIECES)) + text[end:]
    with contextlib.suppress(CatalogError):
        for name, view in apply_ddl(CATALOG, text, 7).views.items():
            check_plan(view, after(catalog=CATALOG)) if name == "v" else None


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT {'(' * 2_000}n{')' * 2_000} AS x FROM seat",
        f"SELECT n{' + 1' * 3_000} AS x FROM seat",
        f"SELECT {'- ' * 3_000}n AS x FROM seat",
        f"SELECT {'COALESCE(1, ' * 500}n{')' * 500} AS x FROM seat",
        f"SELECT n FROM seat WHERE {'NOT ' * 2_000}open",
        f"SELECT n FROM seat WHERE n > 1{' AND n > 1' * 1_500}",
        f"SELECT n FROM seat WHERE n > 1{' OR n > 1' * 3_000}",
        f"SELECT n FROM seat WHERE n IN ({', '.join(map(str, range(5_000)))})",
        f"SELECT n FROM seat{' UNION ALL SELECT n FROM seat' * 1_000}",
        f"SELECT s.n FROM seat s{''.join(f' JOIN seat s{i} ON s{i}.flight = s.flight' for i in range(300))}",
        f"SELECT {', '.join(f'n AS n{i}' for i in range(2_000))} FROM seat",
        f"SELECT {'SUM(' * 500}n{')' * 500} AS x FROM seat",
        f"SELECT COUNT(*) AS n FROM seat GROUP BY {', '.join(f'n + {i}' for i in range(1_000))}",
        f"SELECT n * {'9' * 5_000} AS x FROM seat",
        f"SELECT n * 1e{'9' * 5_000} AS x FROM seat",
        f"SELECT n AS {'x' * 5_000} FROM seat",
        f"SELECT n FROM seat QUALIFY ROW_NUMBER() OVER (ORDER BY {'n, ' * 2_000}flight) <= 1",
        "(" * 500 + "SELECT n FROM seat" + ")" * 500,
        "SELECT n FROM seat WHERE risk > 1e-300 AND n < 1e300 AND fare < 1e300",
    ],
)
def test_a_long_text_is_planned_or_refused(query: str) -> None:
    with contextlib.suppress(CatalogError):
        catalog = apply_ddl(CATALOG, f"CREATE VIEW v AS {query}", 7)
        check_plan(catalog.views["v"], catalog)
        assert apply_ddl(CATALOG, to_ddl(catalog.views["v"]), 7) == catalog


def test_a_view_over_views_reads_all_their_tables() -> None:
    view = declared("SELECT s.flight, t.paid FROM seat s LEFT JOIN taken t ON s.flight = t.flight")
    assert (view.reads, view.tables, view.cell) == (("seat", "taken"), ("booked", "seat"), "cell/booked+seat/0")
    assert declared("SELECT dest FROM low").cell == ""


def test_numbers_of_a_union_become_one_type() -> None:
    view = declared("SELECT n, fare FROM seat UNION ALL SELECT paid, 1.005 AS x FROM booked")
    assert [str(column.type) for column in view.relation.columns] == ["BIGINT", "DECIMAL(9,3)"]
    assert view.relation.key == ()


def test_the_bank_adds_up_within_38_digits() -> None:
    catalog = after(
        "CREATE TABLE transfer (id BIGINT PRIMARY KEY, payer BIGINT, payee BIGINT, amount BIGINT);"
        "CREATE VIEW debits AS SELECT payer AS account, SUM(amount) AS debit FROM transfer GROUP BY payer;"
        "CREATE VIEW credits AS SELECT payee AS account, SUM(amount) AS credit FROM transfer GROUP BY payee;"
        "CREATE VIEW balance AS SELECT c.account, c.credit - d.debit AS balance FROM credits c JOIN debits d"
        " ON c.account = d.account;"
        "CREATE VIEW total AS SELECT COUNT(*) AS accounts, SUM(balance) AS total FROM balance"
    )
    (_, total) = catalog.views["total"].relation.columns
    assert (str(total.type), total.type.whole) == ("DECIMAL(38,0)", True)
    assert catalog.views["balance"].relation.key == ("account",)
