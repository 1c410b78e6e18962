import pytest

from catalog.query.template import _proven, content, split
from catalog.sql.errors import SqlError
from catalog.sql.statement_text import StatementText
from tests.catalog.sample import compiler

BASE = "SELECT MIN(price) FROM stock WHERE "


def shortcut_taken(sql: str) -> bool:
    """Whether, once `sql` was compiled, statements of its template take the shortcut."""
    from catalog.query.compiler import Shortcut

    c = compiler()
    c.compile(sql)
    c.compile(sql)
    return isinstance(c._shortcuts.get(split(sql)[0]), Shortcut)


@pytest.mark.parametrize(
    ("sql", "parts", "literals"),
    [
        ("a BETWEEN 1 AND -2.50e-3", ("a BETWEEN ", " AND -", ""), ["1", "2.50e-3"]),
        ("a = 'it''s' AND b1 = 7", ("a = ", " AND b1 = ", ""), ["'it''s'", "7"]),
        ("a1 = x.5 AND é5 = 0x1F", ("a1 = x.5 AND é5 = 0x1F",), []),
        ("a = .5 AND b = 5.", ("a = .5 AND b = 5.",), []),
        ("a = 1e5x AND b = 1.2.3", ("a = 1e5x AND b = 1.2.3",), []),
        ("a=1AND b=2", ("a=1AND b=", ""), ["2"]),
        ("'open", ("'open",), []),
    ],
)
def test_split(sql, parts, literals) -> None:
    key, got = split(sql)
    assert (key[0], got) == (parts, literals)
    assert key[1] == tuple(text.startswith("'") for text in got)


def test_content() -> None:
    assert [content(t) for t in ("1e5", "'it''s'", "''", "''''")] == ["1e5", "it's", "", "'"]


@pytest.mark.parametrize(
    "condition",
    [
        "volume BETWEEN 1 AND 3",
        "volume > - 5 AND exchange = 'it''s' AND open = TRUE AND risk = NULL",
        "day >= DATE '2026-03-01' AND day < '2026-04-01'",
        "at >= TIMESTAMP '2026-03-01 12:00:00'",
        '"Lot Size" = 3',
        "'a' = exchange AND (volume) < (5);",
        "exchange = 'a -- b' AND sector = '/* ; $1 ?'",
    ],
)
def test_templates(condition) -> None:
    assert shortcut_taken(BASE + condition)


@pytest.mark.parametrize(
    "condition",
    [
        "volume = .5",
        "volume = 5.",
        "volume = 1 -- one",
        "volume = /* one */ 1",
        "exchange = 'a\\b' AND volume /* 1 */ = 1",
        "volume BETWEEN 1AND 3",
    ],
)
def test_no_templates(condition) -> None:
    assert not shortcut_taken(BASE + condition)


def test_a_literal_in_the_place_of_a_name_is_no_template() -> None:
    assert not shortcut_taken('SELECT MIN(price) AS "a1 2" FROM stock WHERE volume = 3')
    assert shortcut_taken('SELECT MIN(price) AS "a1" FROM stock WHERE volume = 3')


@pytest.mark.parametrize(
    ("sql", "proven"),
    [
        ("SELECT MIN(a) FROM t WHERE b = 'x' AND c > -5", True),
        ("SELECT MIN(a) AS 'x' FROM t", False),
        ("SELECT MIN(a) FROM 't'", False),
        ("SELECT MIN(a) FROM t WHERE b = INTERVAL '1 day'", False),
        ('SELECT MIN(a) FROM t WHERE "b 1" = 5', False),
    ],
)
def test_the_proof_finds_literals_that_the_parser_reads_otherwise(sql, proven) -> None:
    key, literals = split(sql)
    (tree,) = StatementText(sql, SqlError).statements
    assert _proven(key, literals, tree) is proven


def test_kinds_of_literals_make_different_templates() -> None:
    assert split(BASE + "volume = 5")[0] != split(BASE + "volume = '5'")[0]
