"""Which rows a filter holds, against DuckDB: an independent reading of the same SQL.

Left out is where DuckDB casts and we don't, as in `test_semantics.py`: strings with a time beside a DATE, exponents,
and constants that it would first make one type which cannot hold them all.
"""

from __future__ import annotations

import datetime as dt
import random
from decimal import Decimal

import duckdb
import pytest

from catalog.query.filter_terms import Box, decode_terms, encode_terms
from catalog.query.like_pattern import beyond_prefix
from catalog.types.order_key import order_key
from catalog.types.value import code_of, decimal_text
from tests.catalog.sample import CATALOG, compiler
from tests.effort import deep_examples, drawn_from

STOCK = CATALOG.relations["stock"]
LAST = chr(0x10FFFF)
VALUES: dict[str, list[object]] = {
    "symbol": ["", "A", "a", "ab", "ab%", "a%c", "b", "it's", "Ö", "日本", LAST, LAST + "a"],
    "exchange": [None, "", "A", "a", "ab", "abc", "b", "it's", "\x7f", "\x80"],
    "volume": [None, -(2**63), -5, 0, 2, 3, 5, 2**63 - 1],
    "price": [None, *map(Decimal, ["-9999999999.99", "-1.01", "0", "1", "1.01", "2.5", "9999999999.99"])],
    "risk": [None, -1e308, -0.1, 0.0, 0.1, 0.30000000000000004, 1.5, 1e308],
    "ratio": [None, -2.5, 0.0, 0.10000000149011612, 1.5],
    "small": [None, -32768, -1, 0, 2, 3, 32767],
    "wide": [None, *map(Decimal, ["-3", "0", "0.0000000001", "1.5", "3", "9" * 27])],
    "open": [None, True, False],
    "day": [None, *map(dt.date, (1, 2026, 2026, 9999), (1, 3, 3, 12), (1, 1, 2, 31))],
    "at": [None, *map(dt.datetime.fromisoformat, ("2026-03-01", "2026-03-01T00:00:00.000001", "2026-03-01T12:00:00"))],
    "Lot Size": [None, 1, 2],
}  # fmt: skip
MOMENTS = ["DATE '2026-03-01'", "TIMESTAMP '2026-03-01 00:00:00.000001'", "TIMESTAMP '2026-03-01 12:00:00'"]
INTEGERS = ["0", "2", "3", "-5", "2.5", "1", "32767", "40000"]
DECIMALS = ["0", "1", "1.01", "2.5", "1.005", "3", "-1.01", "1.5"]
FRACTIONS = ["0", "0.1", "1.5", "-0.1", "0.25", "-2.5"]
TEXTS = ["''", "'A'", "'ab'", "'b'", "'it''s'", "'日本'", f"'{LAST}'"]
CONSTANTS = {
    "volume": INTEGERS, "small": INTEGERS, "Lot Size": INTEGERS, "price": DECIMALS, "wide": DECIMALS, "risk": FRACTIONS,
    "ratio": FRACTIONS, "open": ["TRUE", "FALSE"], "day": MOMENTS, "at": MOMENTS, "symbol": TEXTS, "exchange": TEXTS,
}  # fmt: skip
PATTERNS = [
    "''", "'%'", "'%%'", "'a%'", "'ab'", "'ab%%'", "'A%'", "'日%'", f"'{LAST}%'", "'\x7f%'", "NULL",
    "'ab!%' ESCAPE '!'", "'a!%%' ESCAPE '!'", "'a%' ESCAPE '!'", "'a%' ESCAPE ''",
]  # fmt: skip
ROWS = 60


def condition(source: random.Random) -> str:
    """One condition of one column."""
    name = source.choice(list(CONSTANTS))
    column = f'"{name}"'
    constants = [*CONSTANTS[name], "NULL"]
    weights = [4] * (len(constants) - 1) + [1]

    def one() -> str:
        return source.choices(constants, weights)[0]

    kinds = ["compare"] * 4 + ["mirrored", "in", "not in", "between", "not between", "null", "not null"]
    if name == "open":
        kinds += ["alone"] * 6
    if name in ("symbol", "exchange"):
        kinds += ["like", "not like", "prefix"] * 2
    match source.choice(kinds):
        case "compare":
            return f"{column} {source.choice(['=', '<>', '!=', '<', '<=', '>', '>='])} {one()}"
        case "mirrored":
            return f"{one()} {source.choice(['=', '<>', '<', '<=', '>', '>='])} {column}"
        case "between" | "not between" as kind:
            return f"{column} {kind.upper()} {one()} AND {one()}"
        case "in" | "not in" as kind:
            return f"{column} {kind.upper()} ({', '.join(one() for _ in range(source.randint(1, 4)))})"
        case "like" | "not like" as kind:
            return f"{column} {kind.upper()} {source.choice(PATTERNS)}"
        case "prefix":
            return f"starts_with({column}, {source.choice(TEXTS)})"
        case "null" | "not null" as kind:
            return f"{column} IS {kind.upper()}"
    return column


def tree(source: random.Random, depth: int) -> str:
    """A condition of several columns, or of one column several times."""
    if depth == 0 or source.random() < 0.25:
        return condition(source)
    joint = source.choice([" AND ", " OR "])
    joined = joint.join(tree(source, depth - 1) for _ in range(source.randint(1, 3)))
    return source.choice(["({})", "NOT ({})", "(({}))"]).format(joined)


def coded(column: str, value: object) -> int | bytes | None:
    """A value as boxes compare it."""
    type_ = STOCK.column(column).type
    if value is None or type_.coded:
        return None if value is None else code_of(type_, value)
    return order_key(type_, value if isinstance(value, str) else decimal_text(value, type_.scale))


def holds(boxes: list[Box], tested: tuple[str, ...], row: dict[str, int | bytes | None]) -> bool:
    return any(all(values.holds(row[tested[place]]) for place, values in box.items()) for box in boxes)


@pytest.fixture(scope="module")
def database():
    source = random.Random(7)
    rows = [{name: source.choice(values) for name, values in VALUES.items()} for _ in range(ROWS)]
    connection = duckdb.connect()
    columns = ", ".join(f'"{name}" {STOCK.column(name).type}' for name in VALUES)
    connection.execute(f"CREATE TABLE stock (i INTEGER, {columns})")
    marks = ", ".join("?" * (len(VALUES) + 1))
    connection.executemany(f"INSERT INTO stock VALUES ({marks})", [[i, *row.values()] for i, row in enumerate(rows)])
    yield connection, [{name: coded(name, value) for name, value in row.items()} for row in rows]
    connection.close()


def selected(connection, some: list[str]) -> list[list[int]]:
    """Which rows meet each of some conditions."""
    items = ", ".join(f"COALESCE({each}, FALSE)" for each in some)
    answer = connection.execute(f"SELECT {items} FROM stock ORDER BY i").fetchall()
    return [[i for i, row in enumerate(answer) if row[k]] for k in range(len(some))]


@pytest.mark.deep
@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_boxes_hold_the_rows_that_the_sql_selects(database, depth) -> None:
    connection, rows = database
    warm = compiler()
    source = drawn_from()
    seed = source.getrandbits(32)
    source.seed(seed)
    for _ in range(deep_examples(3_200) // 40):
        some = [tree(source, depth) for _ in range(40)]
        for text, theirs in zip(some, selected(connection, some), strict=True):
            region = warm.compile(f"SELECT symbol FROM stock WHERE {text}").region
            boxes = decode_terms(region.terms)
            ours = [i for i, row in enumerate(rows) if holds(boxes, region.shape.tested, row)]
            assert ours == theirs, (seed, text)
            assert region.empty == (not boxes) and encode_terms(boxes) == region.terms


def test_a_prefix_ends_where_the_next_text_begins() -> None:
    texts = ["", "a", "ab", "b", "\x7f", "\x80", "퟿", "\ue000", LAST, LAST + "a", "a" + LAST, "a" + LAST + "x"]
    for prefix in texts:
        end = beyond_prefix(prefix)
        assert [t for t in texts if t.startswith(prefix)] == [
            t for t in texts if prefix <= t and (end is None or t < end)
        ]
