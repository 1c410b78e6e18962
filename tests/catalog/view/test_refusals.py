"""Refusals of a view's query: where they point, which word was meant, and that each says what is supported."""

from __future__ import annotations

import pytest
from sqlglot import exp

from catalog.sql.errors import CatalogError, SqlError
from catalog.sql.statement_text import StatementText
from catalog.view.refusals import SUPPORTED, Refusals


def read(sql: str, statement: int = 0) -> tuple[Refusals, exp.Expr]:
    text = StatementText(sql, CatalogError)
    return Refusals(text, text.statements[statement]), text.statements[statement]


def pointed(error: SqlError, sql: str) -> str:
    return sql[error.start : error.end]


def test_a_place_is_looked_for_within_its_own_statement() -> None:
    sql = "SELECT a FROM t; SELECT b FROM u ORDER BY b; SELECT c FROM w LIMIT 1"
    for number, (first, words) in enumerate([("SELECT a", 0), ("SELECT b", 1), ("SELECT c", 0)]):
        refuse, _ = read(sql, number)
        start, end = refuse.span
        assert sql[start:].startswith(first) and ";" not in sql[start:end]
        found = refuse.unsupported("it", ("ORDER BY",))
        assert pointed(found, sql) == ("ORDER BY" if words else "SELECT")
        assert found.start >= start


def test_a_place_that_is_not_known_is_that_of_what_it_is_within() -> None:
    sql = "SELECT a FROM t WHERE b IS NULL"
    refuse, tree = read(sql)
    null = tree.find(exp.Null)
    assert null is not None
    assert pointed(refuse.unsupported("it", tree.args["where"].this), sql) == "b IS NULL"
    assert pointed(refuse.unsupported("it", exp.Literal.number(1)), sql) == "SELECT"
    assert pointed(refuse.unsupported("it", (7, 8)), sql) == "a"
    assert pointed(refuse.unsupported("it", None), sql) == "SELECT"


def test_a_hint_stands_before_what_is_supported() -> None:
    refuse, tree = read("SELECT a FROM t")
    assert refuse.unsupported("it", tree, "Do that.").hint == f"Do that.\n{SUPPORTED}"
    assert refuse.unsupported("it", tree).hint == SUPPORTED
    assert (refuse.unsupported("it", tree).code, refuse.unsupported("it", tree).what) == (
        "unsupported",
        "it is not supported",
    )


KNOWN = ("expressions", "from_", "joins", "where", "group", "having", "qualify", "kind", "operation_modifiers")


@pytest.mark.parametrize(
    ("behind", "what", "place"),
    [
        (" ORDER BY a", "ORDER BY of a view", "ORDER BY"),
        (" LIMIT 5", "LIMIT", "LIMIT"),
        (" FETCH FIRST 5 ROWS ONLY", "LIMIT", "FETCH"),
        (" OFFSET 3", "OFFSET", "OFFSET"),
        (" FOR UPDATE", "FOR UPDATE", "FOR"),
        (" WINDOW w AS (ORDER BY a)", "WINDOW", "WINDOW"),
        (" ATTRIBUTES (a = 1)", "ATTRIBUTES in a view", "ATTRIBUTES"),
    ],
)
def test_a_clause_that_is_none_of_a_view_is_named(behind: str, what: str, place: str) -> None:
    sql = f"SELECT a FROM t{behind}"
    refuse, tree = read(sql)
    with pytest.raises(CatalogError) as caught:
        refuse.extras(tree, KNOWN)
    assert (caught.value.what, pointed(caught.value, sql)) == (f"{what} is not supported", place)


def test_what_is_known_or_empty_is_no_extra() -> None:
    refuse, tree = read("SELECT a FROM t WHERE a > 1 GROUP BY a HAVING a > 1")
    refuse.extras(tree, KNOWN)
    with pytest.raises(CatalogError, match="DISTINCT is not supported"):
        refuse.extras(read("SELECT DISTINCT a FROM t")[1], KNOWN)


@pytest.mark.parametrize(
    ("item", "what", "hint"),
    [
        ("a / 2", "division", "Multiply instead"),
        ("a % 2", "%", None),
        ("CASE WHEN a THEN 1 END", "CASE", "Declare a view for each case"),
        ("CAST(a AS BIGINT)", "CAST", "Leave it out"),
        ("a || b", "||", "Show both columns."),
        ("(SELECT 1) + a", "a subquery", "Declare a view for it"),
        ("a LIKE 'x%'", "LIKE", "A question about the view"),
        ("CURRENT_TIMESTAMP", "a clock", "write a constant."),
        ("SUM(a) OVER ()", "OVER", "ROW_NUMBER() OVER"),
        ("RANK()", "the function RANK", "Did you mean ROW_NUMBER?"),
        ("CUONT(a)", "the function CUONT", "Did you mean COUNT?"),
        ("date_trnc('day', a)", "the function DATE_TRNC", "Did you mean DATE_TRUNC?"),
        ("TOTAL(a)", "the function TOTAL", "Did you mean SUM?"),
        ("ABS(a)", "the function ABS", None),
        ("a AND b", "AND as a value", "It stands between conditions, behind WHERE or HAVING."),
        ("a BETWEEN 1 AND 2", "this expression", None),
    ],
)
def test_an_expression_that_there_is_none_of_is_named(item: str, what: str, hint: str | None) -> None:
    refuse, tree = read(f"SELECT {item} AS x FROM t")
    error = refuse.expression(tree.expressions[0].unalias())
    assert error.code == "unsupported"
    assert error.what == f"{what} is not supported"
    assert (error.hint or "").endswith(SUPPORTED)
    assert (hint or "") in (error.hint or "")
    assert hint is not None or error.hint == SUPPORTED


def test_a_long_name_of_a_function_is_cut() -> None:
    refuse, tree = read(f"SELECT {'f' * 99}(a) AS x FROM t")
    assert refuse.expression(tree.expressions[0].unalias()).what == f"the function {'F' * 60} is not supported"


def test_refusals_of_what_is_grouped() -> None:
    sql = "SELECT a FROM t GROUP BY b"
    refuse, tree = read(sql)
    node = tree.expressions[0]
    assert "HAVING" in (refuse.aggregate(node, "WHERE").hint or "")
    assert "HAVING" not in (refuse.aggregate(node, "GROUP BY").hint or "").split("\n")[0]
    error = refuse.ungrouped(node, "a")
    assert error.what == "`a`, which is neither in GROUP BY nor inside an aggregate, is not supported"
    assert (error.hint or "").startswith("Add it to the GROUP BY, or write MIN(a), LATEST(a BY t)")
    assert pointed(error, sql) == "a"


def test_refusals_of_names() -> None:
    refuse, tree = read("SELECT a + 1 FROM t")
    node = tree.expressions[0]
    assert (refuse.unnamed(node, "a + 1").code, refuse.unnamed(node, "a + 1").hint) == (
        "syntax",
        "Say what the column is called: a + 1 AS name.",
    )
    twice = refuse.named_twice("Odd", node)
    assert (twice.code, twice.hint) == ("conflict", 'Call one of them otherwise: "Odd" AS other.')
    assert refuse.too_wide(node, "a * b").what == "a * b may need more than 38 digits, which no column has"
