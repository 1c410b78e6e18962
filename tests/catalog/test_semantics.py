"""Which rows a region holds, against DuckDB: an independent reading of the same SQL.

Left out is where DuckDB casts and we don't: it cuts a plain string '2026-03-01 12:00' to a date beside a DATE, and
compares a numeric literal with an exponent as a DOUBLE, whatever the column. The longest constant has 21 digits before
the point and the finest 17 behind it, as DuckDB makes one DECIMAL(38, s) of both bounds of a BETWEEN.
"""

import datetime as dt
from decimal import Decimal

import duckdb
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catalog.query.shape import Region
from catalog.types.value import code_of
from tests.catalog.sample import CATALOG, compiler
from tests.effort import examples

STOCK = CATALOG.relations["stock"]
VALUES = {
    "volume": [None, -(2**63), -6, -5, 0, 2, 3, 5, 2**53, 2**53 + 1, 2**63 - 1],
    "price": [None, *map(Decimal, ["-9999999999.99", "-1.01", "-1", "0", "1", "1.01", "2.5", "9999999999.99"])],
    "risk": [None, -1e308, -0.1, 0.0, 5e-324, 0.1, 0.30000000000000004, 1.5, 9007199254740992.0, 1e308],
    "small": [None, -32768, -1, 0, 2, 3, 32767],
    "open": [None, True, False],
    "day": [None, *map(dt.date, (1, 2025, 2026, 2026, 9999), (1, 12, 3, 3, 12), (1, 31, 1, 2, 31))],
    "at": [None, *map(dt.datetime.fromisoformat, ("2026-03-01", "2026-03-01T00:00:00.000001", "2026-03-01T12:00:00"))],
    "exchange": [None, "", "A", "a", "b", "it's", "Ö", "日本"],
}  # fmt: skip

NUMBERS = """
0 1 2 2.5 2.50 3 5 -5 -5.5 1.005 1.01 -1.005 0.1 0.3 0.30000000000000004 1.5 32767 32768 -32769 0.000001 -0.000001
9007199254740992 9007199254740993 9223372036854775807 9223372036854775808 -9223372036854775809
9999999999.99 10000000000 9999999999.995 123456789012345678901.5
"""
numbers = st.sampled_from(NUMBERS.split())
MOMENTS = ["'2026-03-01'", "DATE '2026-03-01'", "TIMESTAMP '2026-03-01 00:00:00.000001'", "'0001-01-01'"]
moments = st.sampled_from([*MOMENTS, "TIMESTAMP '2026-03-01 12:00:00'"])
CONSTANTS = {
    **dict.fromkeys(("volume", "price", "risk", "small"), numbers),
    "open": st.sampled_from(["TRUE", "FALSE"]),
    "day": moments,
    "at": moments,
    "exchange": st.sampled_from(["''", "'A'", "'b'", "'it''s'", "'日本'"]),
}
MIRRORED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


@st.composite
def conditions(draw: st.DrawFn, column: str) -> str:
    column = f'"{column}"'

    def one() -> str:
        operator = "=" if column == '"exchange"' else draw(st.sampled_from([*MIRRORED, "BETWEEN"]))
        a, b = draw(CONSTANTS[column[1:-1]]), draw(CONSTANTS[column[1:-1]])
        if operator == "BETWEEN":
            return f"{column} BETWEEN {a} AND {b}"
        return draw(st.sampled_from([f"{column} {operator} {a}", f"{a} {MIRRORED[operator]} {column}"]))

    return " AND ".join(one() for _ in range(draw(st.integers(1, 3))))


def holds(region: Region, column: str, value: object) -> bool:
    """Whether a row with this value is in the region, as a shard finds it."""
    if region.empty or value is None:
        return False
    type_ = STOCK.column(column).type
    code = value if isinstance(value, str) else code_of(type_, value)
    if region.shape.equal:
        return msgspec.json.encode((code,)) == region.group
    return region.lo <= code <= region.hi


@pytest.fixture(scope="module")
def database():
    connection = duckdb.connect()
    for column, values in VALUES.items():
        connection.execute(f'CREATE TABLE {column}_rows (i INTEGER, "{column}" {STOCK.column(column).type})')
        connection.executemany(f"INSERT INTO {column}_rows VALUES (?, ?)", list(enumerate(values)))
    yield connection
    connection.close()


@pytest.mark.parametrize("column", VALUES)
def test_a_region_holds_the_rows_that_the_sql_selects(database, column) -> None:
    warm = compiler()

    @given(conditions(column))
    @settings(deadline=None, max_examples=examples(60), suppress_health_check=list(HealthCheck))
    def check(condition) -> None:
        region = warm.compile(f"SELECT MIN(price) FROM stock WHERE {condition}").region
        ours = [i for i, value in enumerate(VALUES[column]) if holds(region, column, value)]
        theirs = database.execute(f"SELECT i FROM {column}_rows WHERE {condition} ORDER BY i").fetchall()
        assert ours == [i for (i,) in theirs]

    check()
