"""Expressions: what they compute, their types, and their text, which reads as the same again."""

import pytest

from catalog.schema.view import Arithmetic, Coalesce, ColumnOf, Constant, Map, Truncated
from tests.catalog.sample import of
from tests.catalog.viewed import declared


def item(text: str) -> tuple[object, str, bool]:
    """The expression, its canonical text, and whether it may be NULL."""
    view = declared(f"SELECT {text} AS x FROM seat")
    operator = view.stages[-1].operator
    assert isinstance(operator, Map)
    sql = view.sql.removeprefix("SELECT ").removesuffix(" FROM seat").removesuffix(" AS x")
    return operator.items[0], sql, view.relation.columns[0].nullable


def test_numbers_of_different_types_are_added_exactly() -> None:
    fare, tax = ColumnOf("fare", of("DECIMAL", 8, 2)), ColumnOf("tax", of("DECIMAL", 6, 2))
    assert item("fare + tax") == (Arithmetic("+", fare, tax, of("DECIMAL", 9, 2)), "fare + tax", True)


def test_a_minus_is_a_difference_from_zero() -> None:
    small = ColumnOf("small", of("SMALLINT"))
    assert item("-small")[0] == Arithmetic("-", Constant(0, of("SMALLINT")), small, of("BIGINT"))
    assert item("-risk")[0] == Arithmetic("-", Constant(0, of("DOUBLE")), ColumnOf("risk", of("DOUBLE")), of("DOUBLE"))


def test_doubles_make_doubles_and_constants_beside_them_are_doubles() -> None:
    made, _, _ = item("ratio * 2")
    assert isinstance(made, Arithmetic)
    assert (made.type, made.right.type, made.left.type) == (of("DOUBLE"), of("DOUBLE"), of("REAL"))


def test_coalesce_leaves_null_behind() -> None:
    made, sql, nullable = item("COALESCE(n, small, 0)")
    assert isinstance(made, Coalesce)
    assert (made.type, sql, nullable) == (of("INTEGER"), "COALESCE(n, small, 0)", False)
    assert item("COALESCE(fare, n)")[0].type == of("DECIMAL", 12, 2)  # type: ignore[attr-defined]
    assert item("COALESCE(day, '2026-03-01')")[0].type == of("DATE")  # type: ignore[attr-defined]


def test_a_moment_is_truncated() -> None:
    at = ColumnOf("at", of("TIMESTAMP"))
    assert item("date_trunc('HOUR', at)") == (Truncated("hour", at, at.type), "DATE_TRUNC('hour', \"at\")", True)


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("n - (small - 1)", "n - (small - 1)"),
        ("(n - small) - 1", "n - small - 1"),
        ("n + (small * 2)", "n + small * 2"),
        ("(n + small) * 2", "(n + small) * 2"),
        ("n * (small * 2)", "n * (small * 2)"),
        ("n - -1", "n - -1"),
        ("n * -1", "n * (-1)"),
        ("-(n + 1)", "-(n + 1)"),
        ("-(-n)", "-(-n)"),
        ("- - 5 + n", "5 + n"),
        ("N + 1.10", "n + 1.10"),
        ("seat.n", "n"),
        ("((n))", "n"),
        ("COALESCE((n), -1)", "COALESCE(n, -1)"),
    ],
)
def test_the_text_has_the_parentheses_that_it_needs(text: str, sql: str) -> None:
    made, shown, _ = item(text)
    assert shown == sql
    assert item(shown) == (made, shown, _)
