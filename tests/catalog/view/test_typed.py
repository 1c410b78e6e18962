"""Expressions as operands: parentheses stand where they must, and nowhere else."""

from __future__ import annotations

import pytest
from sqlglot import exp

from catalog.schema.view import ColumnOf
from catalog.types.column_type import ColumnType, Kind
from catalog.view.typed import ATOM_LEVEL, PRODUCT_LEVEL, SUM_LEVEL, Typed
from tests.catalog.viewed import declared

BIGINT = ColumnType(Kind.BIGINT)


def typed(sql: str, level: int) -> Typed:
    return Typed(ColumnOf("n", BIGINT), sql, level, True, None, exp.column("n"))


@pytest.mark.parametrize("within", [SUM_LEVEL, PRODUCT_LEVEL, ATOM_LEVEL])
@pytest.mark.parametrize(("sql", "level"), [("a + b", SUM_LEVEL), ("a * b", PRODUCT_LEVEL), ("a", ATOM_LEVEL)])
def test_what_binds_less_tightly_stands_in_parentheses(sql: str, level: int, within: int) -> None:
    assert typed(sql, level).within(within) == (f"({sql})" if level < within else sql)


def test_the_type_is_that_of_its_values() -> None:
    assert typed("a", ATOM_LEVEL).type == BIGINT


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("(n) + (1)", "n + 1"),
        ("n + (n + 1)", "n + (n + 1)"),
        ("(n + n) + 1", "n + n + 1"),
        ("n - (n - 1)", "n - (n - 1)"),
        ("n * (n + 1)", "n * (n + 1)"),
        ("(n * n) + 1", "n * n + 1"),
        ("n * (n * 2)", "n * (n * 2)"),
        ("-(n + 1)", "-(n + 1)"),
        ("- n * 2", "-n * 2"),
        ("COALESCE((n + 1), 0)", "COALESCE(n + 1, 0)"),
    ],
)
def test_a_text_says_what_was_written(written: str, text: str) -> None:
    view = declared(f"SELECT {written} AS x FROM seat")
    assert view.sql == f"SELECT {text} AS x FROM seat"
    assert declared(view.sql).stages == view.stages
