"""Conditions: what they compare, with NOT and BETWEEN written out."""

import pytest

from catalog.schema.view import Among, Comparison, Condition, Constant, IsNull, Map
from tests.catalog.sample import of
from tests.catalog.viewed import declared


def conditions(text: str) -> tuple[list[Condition], str]:
    view = declared(f"SELECT flight FROM seat WHERE {text}")
    operator = view.stages[-1].operator
    assert isinstance(operator, Map)
    return list(operator.where), view.sql.partition(" WHERE ")[2]


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("open", "open = TRUE"),
        ("NOT open", "open = FALSE"),
        ("NOT NOT open", "open = TRUE"),
        ("fare > 1 AND (n < 2 AND small = 3)", "fare > 1 AND n < 2 AND small = 3"),
        ("NOT fare > 1", "fare <= 1"),
        ("NOT fare = tax", "fare <> tax"),
        ("n BETWEEN 1 AND big", "n >= 1 AND n <= big"),
        ("n IN (1, 1, 2)", "n IN (1, 2)"),
        ("NOT n IN (1)", "n NOT IN (1)"),
        ("n NOT IN (1)", "n NOT IN (1)"),
        ("n IS NOT NULL", "n IS NOT NULL"),
        ("NOT n IS NULL", "n IS NOT NULL"),
        ("NOT n IS NOT NULL", "n IS NULL"),
        ("n + 1 IS NULL", "n + 1 IS NULL"),
        ("5 < n", "5 < n"),
        ("day > '2026-03-01'", "day > '2026-03-01'"),
        ("n < 1e300", "n < 1e300"),
    ],
)
def test_one_text_for_all_spellings(text: str, sql: str) -> None:
    read, shown = conditions(text)
    assert shown == sql
    assert conditions(shown) == (read, shown)


def test_constants_are_of_the_type_that_they_are_compared_with() -> None:
    [moment, real, exact], _ = conditions("at = DATE '1970-01-02' AND ratio = 0.5 AND fare = 1.005")
    assert isinstance(moment, Comparison) and isinstance(real, Comparison) and isinstance(exact, Comparison)
    assert moment.right == Constant(86_400_000_000, of("TIMESTAMP"))
    assert real.right.type == of("REAL")
    assert exact.right == Constant(1_005, of("DECIMAL", 4, 3))


def test_lists_and_null() -> None:
    [among, null], _ = conditions("dest IN ('a', 'b') AND n IS NULL")
    assert isinstance(among, Among) and isinstance(null, IsNull)
    assert [value.value for value in among.values] == ["a", "b"]
    assert (among.negated, null.negated) == (False, False)
