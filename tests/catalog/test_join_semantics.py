"""Which rows a join holds, against DuckDB: tables of a few rows with ties and NULLs, statements drawn at random."""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter
from decimal import Decimal
from itertools import product

import duckdb
import pytest

from catalog.query.filter_terms import decode_terms
from catalog.query.shape import Region
from catalog.schema.join import join_of_name, place_of
from catalog.types.order_key import order_key
from catalog.types.value import code_of
from tests.catalog.joined import BARE, TABLES, asked, compiler
from tests.effort import deep_examples, drawn_from

ROWS = 6
TEXTS = [None, "a", "a", "a", "b", "", "ab"]
NUMBERS = [None, 0, 1, 1, 1, 2]
DAYS = [None, dt.date(2026, 3, 1), dt.date(2026, 3, 1), dt.date(2026, 3, 2)]
VALUES: dict[str, list[object]] = {
    "VARCHAR": TEXTS, "DATE": DAYS, "BOOLEAN": [None, True, False], "DOUBLE": [None, 0.0, -0.0, 1.0, 1.5],
    "DECIMAL(12,2)": [None, Decimal("1"), Decimal("1.5"), Decimal("0")], "DECIMAL(6,0)": [None, *map(Decimal, (0, 1))],
    "TIMESTAMP": [None, dt.datetime(2026, 3, 2), dt.datetime(2026, 3, 2, 12)],
}  # fmt: skip

Row = dict[str, object]


def rows_of(table: str, source: random.Random) -> list[Row]:
    """Rows without NULL in the key, which may be twice: the key is no part of what is asked here."""
    relation = BARE.relations[table]
    values = {c.name: VALUES.get(str(c.type), NUMBERS) for c in relation.columns}
    for name in relation.key:
        values[name] = [value for value in values[name] if value is not None]
    return [{name: source.choice(some) for name, some in values.items()} for _ in range(ROWS)]


def coded(table: str, column: str, value: object) -> int | bytes | None:
    type_ = BARE.relations[table].column(column).type
    if value is None or type_.coded:
        return None if value is None else code_of(type_, value)
    return order_key(type_, value)


def joined(region: Region, tables: dict[str, list[Row]]) -> Counter[tuple[object, ...]]:
    """The rows that a region holds, by trying all rows of all tables with each other."""
    join = join_of_name(region.shape.relation)
    assert join is not None
    tested = [place_of(name) for name in region.shape.tested]
    shown = [place_of(name) for name in region.shape.shown]
    boxes = decode_terms(region.terms)
    found: Counter[tuple[object, ...]] = Counter()
    for rows in product(*(tables[table] for table in join.tables)):
        equal = [[rows[position][column] for position, column in each] for each in join.classes]
        if any(None in values or any(value != values[0] for value in values) for values in equal):
            continue
        codes = [coded(join.tables[position], column, rows[position][column]) for position, column in tested]
        if any(all(values.holds(codes[i]) for i, values in box.items()) for box in boxes):
            found[tuple(rows[position][column] for position, column in shown)] += 1
    return found


@pytest.fixture(scope="module")
def database():
    source = random.Random(7)
    tables = {table: rows_of(table, source) for table in TABLES}
    connection = duckdb.connect()
    connection.execute("PRAGMA disable_optimizer")
    for table, rows in tables.items():
        columns = BARE.relations[table].columns
        declared = ", ".join(f'"{c.name}" {c.type}' for c in columns)
        connection.execute(f"CREATE TABLE {table} ({declared})")
        marks = ", ".join("?" * len(columns))
        connection.executemany(f"INSERT INTO {table} VALUES ({marks})", [[*row.values()] for row in rows])
    yield connection, tables
    connection.close()


@pytest.mark.deep
def test_a_join_holds_the_rows_that_the_sql_selects(database) -> None:
    connection, tables = database
    warm = compiler()
    source = drawn_from()
    seed = source.getrandbits(32)
    source.seed(seed)
    for _ in range(deep_examples(500)):
        sql = asked(source).spelled(source)
        region = warm.compile(sql).region
        assert joined(region, tables) == Counter(connection.execute(sql).fetchall()), (seed, sql)


def test_stars_are_in_the_order_of_from(database) -> None:
    connection, tables = database
    for shown in ("*", "s.*, q.price, q.*", "price, s.*"):
        for order in ("sector AS s JOIN quote q", "quote AS q JOIN sector s"):
            sql = f"SELECT {shown} FROM {order} ON q.symbol = s.symbol WHERE q.volume >= 0"
            region = compiler().compile(sql).region
            assert joined(region, tables) == Counter(connection.execute(sql).fetchall()), sql
