"""What stands in FROM: tables, what they are called, and the columns that join them."""

import pytest
from sqlglot import exp

from catalog.query.from_clause import FromReader, KeyEquality, Source
from catalog.query.statement_names import StatementNames
from catalog.sql.errors import SubscriptionError
from catalog.sql.statement_text import StatementText


def read(from_: str) -> tuple[tuple[Source, ...], tuple[KeyEquality, ...]]:
    text = StatementText(f"SELECT k FROM {from_}", SubscriptionError)
    (tree,) = text.statements
    assert isinstance(tree, exp.Select)
    return FromReader(text, StatementNames(text, bool(tree.args.get("joins")))).read(tree, True)


def said(from_: str) -> tuple[list[tuple[str, str]], list[str]]:
    sources, equal = read(from_)
    return [(s.table.text, s.called) for s in sources], [f"{e.left.said} = {e.right.said}" for e in equal]


@pytest.mark.parametrize(
    ("from_", "sources", "equal"),
    [
        ("Stock", [("stock", "stock")], []),
        ('stock AS "S"', [("stock", "S")], []),
        ("a JOIN b ON a.k = b.k", [("a", "a"), ("b", "b")], ["a.k = b.k"]),
        ("a x INNER JOIN a AS y ON (x.k = Y.J AND k = j)", [("a", "x"), ("a", "y")], ["x.k = y.j", "k = j"]),
        ("a JOIN b ON a.k = b.k JOIN c z ON (z.k) = a.k", [("a", "a"), ("b", "b"), ("c", "z")],
         ["a.k = b.k", "z.k = a.k"]),
    ],
)  # fmt: skip
def test_tables_and_equalities(from_: str, sources: list[tuple[str, str]], equal: list[str]) -> None:
    assert said(from_) == (sources, equal)


@pytest.mark.parametrize(
    ("from_", "what"),
    [
        ("a JOIN b ON c.k = a.k JOIN c ON c.k = b.k", "no table of this subscription"),
        ("a JOIN a ON a.k = a.k", "two tables are called `a`"),
        ("a JOIN b", "without ON"),
        ("a, b", "comma"),
        ("a JOIN (b JOIN c ON b.k = c.k) ON a.k = b.k", "a join within a join"),
        ("a JOIN b ON a.k = b.k OR a.j = b.j", "ON with anything but"),
    ],
)
def test_refused(from_: str, what: str) -> None:
    with pytest.raises(SubscriptionError, match=what):
        read(from_)
