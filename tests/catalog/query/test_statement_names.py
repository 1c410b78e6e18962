"""Names of columns, with and without their table's."""

import pytest

from catalog.query.statement_names import Name, StatementNames
from catalog.sql.errors import SubscriptionError
from catalog.sql.statement_text import StatementText


def column(written: str, *called: str) -> Name:
    text = StatementText(f"SELECT {written} FROM t", SubscriptionError)
    names = StatementNames(text, len(called) > 1)
    names.called += called or ["t"]
    return names.column(text.statements[0].expressions[0])


@pytest.mark.parametrize(
    ("written", "name"), [("Price", "price"), ('"Lot Size"', "Lot Size"), ("T.price", "price"), ('"t"."A"', "A")]
)
def test_columns(written, name) -> None:
    found = column(written)
    assert found.text == name and found.span is not None


@pytest.mark.parametrize(
    ("written", "code"), [("s.price", "unknown_column"), ("a.b.price", "unsupported"), ('"T".price', "unknown_column")]
)
def test_refused(written, code) -> None:
    with pytest.raises(SubscriptionError) as caught:
        column(written)
    assert caught.value.code == code


def test_the_alias_hides_the_name() -> None:
    assert column("s.price", "s").text == "price"
    with pytest.raises(SubscriptionError, match="no table of this subscription"):
        column("t.price", "s")


def test_a_column_of_a_join_keeps_its_table() -> None:
    assert [(c.text, c.of, c.said) for c in (column("S.price", "s", "r"), column("price", "s", "r"))] == [
        ("price", "s", "s.price"),
        ("price", "", "price"),
    ]
    with pytest.raises(SubscriptionError, match="called `s`, `r` up to here"):
        column("t.price", "s", "r")
