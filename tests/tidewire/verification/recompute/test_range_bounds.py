"""Bounds stand beside ranges: those that the text of each says, whatever else is in the row."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal

import duckdb
import pytest

from tidewire.verification.input.column import Column
from tidewire.verification.recompute.range_bounds import beside_ranges, stored_as, with_bounds

ID, AGES = Column("id", "INTEGER", False), Column("ages", "INT4RANGE", True)
PRICE, WHEN = Column("Its price", "NUMRANGE(6,2)", True), Column("when", "TSRANGE", True)
PARTS = ["lower({})", "upper({})", "lower closed({})", "upper closed({})", "empty({})"]


@pytest.fixture
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as made:
        yield made


def rows(database: duckdb.DuckDBPyConnection, columns: list[Column], versions: str) -> list[tuple[object, ...]]:
    selected, made = with_bounds(database, versions, columns)
    found = database.execute(f"{selected} ORDER BY 1")
    assert [name for name, *_ in found.description or ()] == with_parts(columns)
    assert sorted(column.name for column in made) == sorted(with_parts(columns))
    return found.fetchall()


def with_parts(columns: list[Column]) -> list[str]:
    """The names of the columns, then those of the parts of each range."""
    names = [column.name for column in columns]
    return names + [part.format(column.name) for column in columns if "RANGE" in column.type for part in PARTS]


def test_what_stands_beside_the_ranges_among_the_columns() -> None:
    made = beside_ranges([ID, AGES, PRICE])
    parts = [[part.format(column.name) for part in PARTS] for column in (AGES, PRICE)]
    assert [column.name for column in made] == ["id", "ages", *parts[0], "Its price", *parts[1]]
    assert [column.type for column in made[2:7]] == ["INTEGER", "INTEGER", "BOOLEAN", "BOOLEAN", "BOOLEAN"]
    assert made[-5].type == "DECIMAL(6,2)"
    assert beside_ranges([ID]) == [ID]
    assert [stored_as(column.type) for column in (ID, AGES, PRICE)] == ["INTEGER", "VARCHAR", "VARCHAR"]


def test_each_range_has_its_bounds(database: duckdb.DuckDBPyConnection) -> None:
    values = "VALUES (1, '[3,5)'), (2, '(,)'), (3, 'empty'), (4, NULL), (5, '[3,5)'), (6, '(,8)'), (7, '[7,)')"
    found = rows(database, [ID, AGES], f"SELECT * FROM ({values}) AS t (id, ages)")
    assert [row[2:] for row in found] == [
        (3, 5, True, False, False),
        (None, None, False, False, False),
        (None, None, False, False, True),
        (None, None, None, None, None),
        (3, 5, True, False, False),
        (None, 8, False, False, False),
        (7, None, True, False, False),
    ]


def test_bounds_are_of_the_type_of_the_values_and_several_ranges_do_not_mix(
    database: duckdb.DuckDBPyConnection,
) -> None:
    values = ", ".join(
        (
            "(1, '(1.5,2]', '[\"2026-03-01 00:00:00\",)')",
            "(2, NULL, '(,\"2026-03-01 12:00:00\")')",
            "(3, 'empty', NULL)",
        )
    )
    found = rows(database, [ID, PRICE, WHEN], f'SELECT * FROM (VALUES {values}) AS t (id, "Its price", "when")')
    day = dt.datetime(2026, 3, 1)
    assert found[0][3:] == (Decimal("1.50"), Decimal("2.00"), False, True, False, day, None, True, False, False)
    assert found[1][3:] == (None,) * 5 + (None, day.replace(hour=12), False, False, False)
    assert found[2][3:] == (None, None, False, False, True) + (None,) * 5


def test_without_a_range_or_a_row_nothing_is_in_the_way(database: duckdb.DuckDBPyConnection) -> None:
    assert with_bounds(database, "SELECT 1 AS id", [ID]) == ("SELECT 1 AS id", [ID])
    assert rows(database, [ID, AGES], "SELECT 1 AS id, NULL::VARCHAR AS ages") == [(1, *[None] * 6)]
    assert rows(database, [ID, AGES], "SELECT 1 AS id, '(,)' AS ages WHERE 1 > 2") == []
