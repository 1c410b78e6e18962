"""What is computed of operands: read from DuckDB's tree and run, against DuckDB, which runs the same text."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from itertools import product
from typing import Any

import duckdb
import pytest

from tests.tidewire.verification.input.parsed import item
from tidewire.verification.input.query_tree import Node
from tidewire.verification.input.view_calls import computed
from tidewire.verification.input.view_plan import Call, Expression, Field, Literal
from tidewire.verification.input.view_source import NoView
from tidewire.verification.recompute.view_expressions import evaluator

TYPES = {"a": "INTEGER", "b": "DECIMAL(4,1)", "s": "VARCHAR", "f": "BOOLEAN", "t": "TIMESTAMP", "r": "INT4RANGE"}
ROWS: list[tuple[Any, ...]] = [
    (a, b, s, f, dt.datetime(2026, 3, 1, 13, 45, 59, 7), "[3,5)")
    for a, b, s, f in product([None, 0, 2], [None, Decimal("0.0"), Decimal("1.5")], [None, "u"], [None, True, False])
]
CONDITIONS = [
    "a = b", "a <> 2", "a < 1.5", "b <= a", "2 > a", "b >= '0.0'", "a BETWEEN b AND 2", "a IN (0, NULL)",
    "a NOT IN (2, 7)", "NOT f", "f AND a = 2", "f OR a = 2", "a IS NULL", "s IS NOT NULL", "s = 'u'", "'t' < s",
    "f AND f IS NULL OR NOT a = 0",
    "NOT (f AND s = 'u') OR a + b > 1", "a NOT IN (0, NULL)", "b BETWEEN 0 AND 0.1",
]  # fmt: skip
VALUES = [
    "a + b", "a - b * 2", "-a", "- b - a", "COALESCE(b, a)", "COALESCE(a, 7)", "a * a - 0.25", "COALESCE(s, 'v')",
    "DATE_TRUNC('minute', t)", "DATE_TRUNC('Hour', t)", "DATE_TRUNC('day', t)", "2 - -1", "COALESCE(NULL, a, b)",
]  # fmt: skip


def read(text: str) -> Expression:
    return of(item(text))


def of(node: Node) -> Expression:
    if node["class"] == "COLUMN_REF":
        [name] = node["column_names"]
        return Field(list(TYPES).index(name), TYPES[name])
    return computed(node, of)


def by_duckdb(texts: list[str]) -> list[tuple[Any, ...]]:
    """Return the values of all texts for each of the rows."""
    columns = ", ".join(f"{name} {type}" for name, type in list(TYPES.items())[:-1])
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE calls (place INTEGER, {columns})")
    marks = ", ".join(["(?, ?, ?, ?, ?, ?)"] * len(ROWS))
    connection.execute(f"INSERT INTO calls VALUES {marks}", [v for n, row in enumerate(ROWS) for v in (n, *row[:5])])
    return connection.execute(f"SELECT {', '.join(texts)} FROM calls ORDER BY place").fetchall()


def test_it_is_what_duckdb_computes() -> None:
    texts = [*CONDITIONS, *VALUES]
    for text, *expected in zip(texts, *by_duckdb(texts), strict=True):
        assert list(map(evaluator(read(text)), ROWS)) == expected, text


@pytest.mark.parametrize("text", CONDITIONS)
def test_conditions_are_of_that_type(text: str) -> None:
    assert read(text).type == "BOOLEAN"


@pytest.mark.parametrize(
    ("text", "type"),
    [("a + a", "HUGEINT"), ("a * b", "DECIMAL(38,1)"), ("b * b", "DECIMAL(38,2)"), ("-b", "DECIMAL(38,1)"),
     ("COALESCE(a, 1.25)", "DECIMAL(38,2)"), ("DATE_TRUNC('day', t)", "TIMESTAMP"), ("lower(r)", "INTEGER"),
     ("isempty(r)", "BOOLEAN"), ("COALESCE(s, 'u')", "VARCHAR")],
)  # fmt: skip
def test_types(text: str, type: str) -> None:
    assert read(text).type == type


def test_a_negative_constant_is_one() -> None:
    assert read("-1.5") == Literal(Decimal("-1.5"), "DECIMAL(38,1)")
    assert read("-NULL") == Literal(None, "NULL")


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("r && '[4,9]'", True), ("r && '[5,9]'", False), ("'[0,3)' && r", False), ("r @> 4", True), ("r @> 5", False),
        ("3 <@ r", True), ("2 <@ r", False), ("r <@ '[3,4]'", True), ("'[3,4]' @> r", True), ("'[4,4]' @> r", False),
        ("'[4,4]' <@ r", True), ("'[4,5]' <@ r", False), ("r && NULL", None), ("r = '[3,4]'", True),
        ("isempty(r)", False), ("lower(r) = 3", True), ("upper(r) < 5", False),
    ],
)  # fmt: skip
def test_operators_of_ranges_with_the_constant_on_either_side(text: str, holds: bool | None) -> None:
    assert evaluator(read(text))(ROWS[0]) is holds


def test_between_has_its_bounds_as_the_column_has_them() -> None:
    made = read("t BETWEEN '2026-03-01' AND DATE '2026-03-02'")
    assert isinstance(made, Call)
    sides = [one.operands[1] for one in made.operands if isinstance(one, Call)]
    assert sides == [Literal(dt.datetime(2026, 3, day), "TIMESTAMP") for day in (1, 2)]


@pytest.mark.parametrize(
    "text",
    ["s + 1", "a / 2", "abs(a)", "DATE_TRUNC('week', t)", "DATE_TRUNC(s, t)", "lower(s)", "CAST(a AS VARCHAR)",
     "s && 'x'", "r && r", "CASE WHEN f THEN a END", "a IS NOT DISTINCT FROM 1", "(SELECT 1)", "COALESCE(a, s)"],
)  # fmt: skip
def test_what_no_view_says_is_refused(text: str) -> None:
    with pytest.raises((NoView, KeyError)):  # `planned` makes NoView of both
        read(text)
