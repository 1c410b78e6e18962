"""Against PostgreSQL itself, see test_ranges_against_postgres.py; here what it does not say."""

from __future__ import annotations

import pytest

from catalog.ddl.statements import apply_ddl
from catalog.query.compiler import Compiler
from catalog.schema.catalog import Catalog
from catalog.sql.errors import SubscriptionError

DDL = """CREATE TABLE t (k BIGINT PRIMARY KEY, i INT4RANGE, n NUMRANGE(6,2), d DATERANGE, s TEXTRANGE, v VARCHAR);
CREATE TABLE u (k BIGINT PRIMARY KEY, i INT4RANGE)"""


@pytest.fixture
def compiler() -> Compiler:
    return Compiler(apply_ddl(Catalog(), DDL, 1))


@pytest.mark.parametrize(
    "same",
    [
        ["i && '[1,5)'", "'[1,4]' && i", "i && '(0,5)'"],
        ["i @> 3", "3 <@ i", "i @> '[3,3]'", "i @> '3'", "i @> '(2,4)'"],
        ["i <@ '[1,5)'", "'[1,5)' @> i"],
        ["NOT (i && '[1,5)' OR isempty(i))", "NOT i && '[1,5)' AND NOT isempty(i)"],
        ["i = '[1,5)'", "i IN ('(0,4]')"],
        ["n @> 1.005", "n @> 1.0051", "1.0099 <@ n"],
        ["d @> DATE '2026-03-01'", "d @> '2026-03-01'", "d @> TIMESTAMP '2026-03-01 00:00:00'"],
        ["s @> 'b'", "s @> '[b,b]'"],
        ["i && NULL", "i @> NULL", "NOT i @> NULL"],
    ],
)
def test_all_spellings_of_a_condition_are_one_region(compiler: Compiler, same: list[str]) -> None:
    regions = [compiler.compile(f"SELECT k FROM t WHERE {where}").region for where in same]
    assert all(region.terms == regions[0].terms and region.empty == regions[0].empty for region in regions), same


def test_a_template_takes_ranges_and_values_as_parameters(compiler: Compiler) -> None:
    template = "SELECT k FROM t WHERE i && ? AND n @> ? AND v = ?"
    made = compiler.compile_template(template, ["[1,5)", 1.5, "x"])
    assert made.sql == "SELECT k FROM t WHERE i && '[1,5)' AND n @> 1.5 AND v = 'x'"
    assert made.region == compiler.compile(made.sql).region
    for i in range(3):  # by the shortcut from the second on
        sql = made.sql.replace("[1,5)", f"[{i},5)")
        assert compiler.compile(sql).region == Compiler(compiler.catalog).compile(sql).region


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT k FROM t WHERE v && '[1,2)'", "&& is for ranges"),
        ("SELECT k FROM t WHERE i < '[1,2)'", "< is not for ranges"),
        ("SELECT k FROM t WHERE i LIKE '[1%'", "LIKE is not for ranges"),
        ("SELECT k FROM t WHERE i @> 1.5", "lies between two of them"),
        ("SELECT k FROM t WHERE i && 5", "cannot be compared with a number"),
        ("SELECT k FROM t WHERE n @> 'x'", "is no DECIMAL"),
        ("SELECT k FROM t WHERE n && '[1.005,2)'", "beyond the scale 2"),
        ("SELECT MIN(k) FROM t WHERE i && '[1,2)'", "&& is not supported"),
        ("SELECT MIN(i) FROM t", "MIN of it is not supported"),
        ("SELECT SUM(i) FROM t", "SUM of it is not supported"),
        ("SELECT MIN(k) FROM t WHERE lower(i) < 3 AND upper(i) > 1", "a range over `upper\\(i\\)` beside"),
        ("SELECT k FROM t ORDER BY i, k LIMIT 3", "ORDER BY of it is not supported"),
        ('SELECT "i.lower" FROM t', "has no column `i.lower`"),
        ("SELECT lower(v) FROM t", "LOWER\\(\\) of it is not supported"),
        ("SELECT lower(x) FROM t", "has no column `x`"),
        ("SELECT t.k, lower(t.v) FROM t JOIN u ON t.i = u.i", "LOWER\\(\\) of it is not supported"),
        ("SELECT t.k FROM t JOIN u ON t.i = u.i WHERE t.i && u.i", "not supported"),
    ],
)
def test_what_a_range_does_not_take_is_refused_with_the_reason(compiler: Compiler, sql: str, why: str) -> None:
    with pytest.raises(SubscriptionError, match=why):
        compiler.compile(sql)


def test_a_star_shows_what_was_declared(compiler: Compiler) -> None:
    made = compiler.compile("SELECT * FROM t")
    assert made.region.shape.shown == ("k", "i", "n", "d", "s", "v")  # type: ignore[union-attr]
