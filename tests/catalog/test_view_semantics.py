"""What a plan means is what DuckDB makes of the query's text, over rows with ties, NULLs and empty groups."""

from __future__ import annotations

import random
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import Any

import duckdb
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from catalog.ddl.statements import apply_ddl, to_ddl
from catalog.schema.relation import Relation
from catalog.sql.errors import CatalogError
from catalog.types.column_type import Kind
from tests.catalog import viewed
from tests.catalog.viewed import CATALOG
from tests.effort import deep_examples
from tests.oracle.naive_view_plan import Row, comparable, rows_of

_VALUES: dict[Kind, list[str]] = {
    Kind.VARCHAR: ["a", "b", "LHR"],
    Kind.SMALLINT: ["0", "1", "-2"],
    Kind.INTEGER: ["0", "1", "2"],
    Kind.BIGINT: ["0", "1", "3"],
    Kind.DECIMAL: ["0", "1.5", "-0.25", "2"],
    Kind.REAL: ["0.5", "1", "-2"],
    Kind.DOUBLE: ["0.5", "1", "-2"],
    Kind.BOOLEAN: ["true", "false"],
    Kind.DATE: ["2026-03-01", "2026-03-02"],
    Kind.TIMESTAMP: ["2026-03-01 12:00:00", "2026-03-01 12:00:30", "2026-03-02 00:00:00.000001"],
}


def texts_of(relation: Relation, draw: random.Random) -> list[list[str | None]]:
    """Rows of a table as texts, their keys unique."""
    rows: dict[tuple[str | None, ...], list[str | None]] = {}
    for number in range(draw.randint(0, 5)):
        row = []
        for column in relation.columns:
            values = [str(number)] if column.name == relation.key[-1] else _VALUES[column.type.kind]
            row.append(None if column.nullable and draw.random() < 0.2 else draw.choice(values))
        rows[tuple(row[relation.index(name)] for name in relation.key)] = row
    return list(rows.values())


def plain(value: Any) -> Any:
    """A value that DuckDB shows, as plans compute with it."""
    whole = isinstance(value, int | Decimal) and not isinstance(value, bool)
    return Fraction(value) if whole else value


def filled(seed: int) -> tuple[duckdb.DuckDBPyConnection, dict[str, tuple[Relation, list[Row]]]]:
    """A database with all tables and views of the catalog, and the rows of each."""
    connection, draw = duckdb.connect(), random.Random(seed)
    connection.execute("CREATE MACRO latest(x, t) AS arg_max_null(x, t)")
    known = {}
    for relation in CATALOG.relations.values():
        columns = ", ".join(f'"{c.name}" {c.type}' for c in relation.columns)
        connection.execute(f'CREATE TABLE "{relation.name}" ({columns})')
        for row in texts_of(relation, draw):
            connection.execute(f'INSERT INTO "{relation.name}" VALUES ({", ".join("?" for _ in row)})', row)
    for view in CATALOG.views.values():
        connection.execute(to_ddl(view))
    for name in CATALOG.names:
        relation = CATALOG.named(name)
        assert relation is not None
        found = connection.execute(f'SELECT * FROM "{name}"').fetchall()
        known[name] = relation, [tuple(map(plain, row)) for row in found]
    return connection, known


def bag(rows: list[Row]) -> Counter[Row]:
    return Counter(tuple(map(comparable, row)) for row in rows)


@pytest.mark.deep
@settings(max_examples=deep_examples(800), deadline=None)
@given(viewed.queries(), st.integers(0, 10**6))
def test_a_plan_makes_the_rows_that_duckdb_makes(query: str, seed: int) -> None:
    assume("LATEST" not in query)  # rows that are equal in its order are told apart by bytes of their keys
    try:
        view = apply_ddl(CATALOG, f"CREATE VIEW v AS {query}", 7).views["v"]
    except CatalogError:
        assume(False)
        raise
    database, known = filled(seed)
    try:
        expected = database.execute(view.sql).fetchall()
    except duckdb.Error as error:
        assume(not any(word in str(error) for word in ("DECIMAL", "out of range", "Overflow", "Could not cast")))
        raise
    assert bag(rows_of(view.stages, known)) == bag(expected), view.sql


@pytest.mark.parametrize("seed", range(20))
def test_views_below_make_their_rows(seed: int) -> None:
    _, known = filled(seed)
    for view in CATALOG.views.values():
        assert bag(rows_of(view.stages, known)) == bag(known[view.name][1])


@pytest.mark.parametrize("seed", range(20))
def test_the_latest_of_a_column_without_ties(seed: int) -> None:
    view = viewed.declared("SELECT flight, LATEST(paid BY booking) AS paid FROM booked GROUP BY flight")
    database, known = filled(seed)
    assert bag(rows_of(view.stages, known)) == bag(database.execute(view.sql).fetchall())
