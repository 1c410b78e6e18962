"""Conditions as they are read: which column, which operator, which constants, under which AND and OR."""

import time

import pytest

from catalog.query.condition_tree import And, Condition, Tree
from catalog.query.question import Question, read_question
from catalog.sql.errors import SubscriptionError
from catalog.sql.statement_text import StatementText


def question(condition: str) -> Question:
    return read_question(StatementText(f"SELECT a FROM t WHERE {condition}", SubscriptionError), True)


def written(condition: str) -> str:
    """A condition as the reader takes it, written out again."""
    asked = question(condition)

    def constant(i: int) -> str:
        return ("-" if asked.operands[i].negative else "") + asked.operands[i].text

    def shown(tree: Tree) -> str:
        if isinstance(tree, Condition):
            return " ".join([tree.column.text, tree.operator, *map(constant, tree.operands)])
        joint = " & " if isinstance(tree, And) else " | "
        return f"({joint.join(map(shown, tree.sides))})"

    assert asked.condition is not None
    return shown(asked.condition)


@pytest.mark.parametrize(
    ("condition", "read"),
    [
        ("x <> 1", "x <> 1"),
        ("1 != x", "x <> 1"),
        ("x IN (1, -2, NULL)", "x in 1 -2 NULL"),
        ("x IN ((1))", "x in 1"),
        ("x NOT IN ('a', 'b')", "x not in a b"),
        ("x LIKE 'a%'", "x like a%"),
        ("x NOT LIKE 'a%' ESCAPE '!'", "x not like a% !"),
        ("starts_with(x, 'a')", "x prefix a"),
        ("x IS NULL", "x null"),
        ("x IS NOT NULL", "x not null"),
        ("x", "x = TRUE"),
        ("NOT x", "x = FALSE"),
        ("NOT NOT x", "x = TRUE"),
        ("NOT x = 1", "x <> 1"),
        ("NOT x <> 1", "x = 1"),
        ("NOT x < 1", "x >= 1"),
        ("NOT x > 1", "x <= 1"),
        ("NOT 1 <= x", "x < 1"),
        ("NOT x IN (1)", "x not in 1"),
        ("NOT x NOT IN (1)", "x in 1"),
        ("NOT x LIKE 'a'", "x not like a"),
        ("NOT x NOT LIKE 'a'", "x like a"),
        ("NOT starts_with(x, ?)", "x not prefix ?"),
        ("NOT x IS NULL", "x not null"),
        ("NOT (x IS NOT NULL)", "x null"),
        ("x BETWEEN 1 AND 2", "(x >= 1 & x <= 2)"),
        ("x NOT BETWEEN 1 AND 2", "(x < 1 | x > 2)"),
        ("NOT x NOT BETWEEN 1 AND 2", "(x >= 1 & x <= 2)"),
        ("x = 1 OR y = 2 OR z = 3", "(x = 1 | y = 2 | z = 3)"),
        ("x = 1 OR y = 2 AND z = 3", "(x = 1 | (y = 2 & z = 3))"),
        ("(x = 1 OR y = 2) AND z", "((x = 1 | y = 2) & z = TRUE)"),
        ("NOT (x = 1 AND (y = 2 OR NOT z))", "(x <> 1 | (y <> 2 & z = TRUE))"),
        ("t.x IN (?, 5) AND y LIKE ?", "(x in ? 5 & y like ?)"),
    ],
)
def test_conditions(condition, read) -> None:
    assert written(condition) == read


def test_columns_may_have_the_names_of_foreign_words() -> None:
    condition = """unknown = 1 AND "unknown" = 2 AND x = 'UNKNOWN' AND startswith = '!' AND NOT unknown"""
    names = "(unknown = 1 & unknown = 2 & x = UNKNOWN & startswith = ! & unknown = FALSE)"
    assert written(condition) == names


def test_constants_are_numbered_in_the_order_of_the_text() -> None:
    condition = "5 < a AND (b IN (6, 7) OR NOT (c BETWEEN 8 AND 9 AND d LIKE '10' ESCAPE '11')) AND e = 12"
    assert [operand.text for operand in question(condition).operands] == list(map(str, range(5, 13)))
    assert [name.text for name in question(condition).compared] == ["a", "b", "b", "c", "c", "d", "d", "e"]


def test_long_chains_are_read_and_deep_ones_refused() -> None:
    chain = " OR ".join(f"c{i} = {i}" for i in range(900))
    begin = time.perf_counter()
    assert len(question(chain).operands) == 900 and len(question("NOT " * 50 + "x").operands) == 1
    assert time.perf_counter() - begin < 20
    for levels in (10, 200):
        deep = "x = 1"
        for i in range(levels):
            deep = f"(({deep}) OR y = {i}) AND z = {i}"
        if levels == 10:
            assert question(deep)
            continue
        with pytest.raises(SubscriptionError, match="nested"):
            question(deep)
