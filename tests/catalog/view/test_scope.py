"""What names stand for: one column or a refusal that says between which; columns of outer joins; stars."""

from __future__ import annotations

import pytest
from sqlglot import exp

from catalog.schema.relation import Column, Relation, with_ranges
from catalog.sql.errors import CatalogError
from catalog.sql.statement_text import StatementText
from catalog.types.column_type import ColumnType, Kind
from catalog.view.refusals import Refusals
from catalog.view.scope import Place, Scope, Source

BIGINT, DATERANGE = ColumnType(Kind.BIGINT), ColumnType(Kind.DATERANGE)
T = Relation("t", (Column("k", BIGINT, False), Column("Odd", BIGINT, False), Column("x", BIGINT)), ("k",), "t")
U = Relation("u", with_ranges([Column("k", BIGINT, False), Column("d", DATERANGE)]), ("k",), "u")


def scope(text: str, *sources: Source) -> tuple[Scope, exp.Expr]:
    """Return a scope, and the first item of a SELECT."""
    parsed = StatementText(f"SELECT {text} FROM t", CatalogError)
    (statement,) = parsed.statements
    return Scope(Refusals(parsed, statement), len(sources) > 1, list(sources)), statement.expressions[0]


def source(relation: Relation, called: str, outer: bool = False) -> Source:
    return Source(called, relation, tuple(f"{called}.{column.name}" for column in relation.columns), outer)


ALONE, BOTH = (source(T, "t"),), (source(T, "a"), source(U, "b", outer=True))


def place(text: str, *sources: Source) -> Place:
    made, node = scope(text, *sources)
    assert isinstance(node, exp.Column)
    return made.column(node)


def refused(text: str, *sources: Source) -> CatalogError:
    with pytest.raises(CatalogError) as caught:
        place(text, *sources)
    return caught.value


@pytest.mark.parametrize(
    ("text", "sources", "stage", "sql"),
    [
        ("K", ALONE, "t.k", "k"),
        ("t.k", ALONE, "t.k", "k"),
        ('"Odd"', ALONE, "t.Odd", '"Odd"'),
        ("x", BOTH, "a.x", "a.x"),
        ("B.k", BOTH, "b.k", "b.k"),
        ("d", BOTH, "b.d", "b.d"),
        ("LOWER(d)", BOTH, "b.lower(d)", "lower(b.d)"),
        ("upper(b.d)", BOTH, "b.upper(d)", "upper(b.d)"),
        ("upper(D)", (source(U, "u"),), "u.upper(d)", "upper(d)"),
    ],
)
def test_a_name_stands_for_one_column(text: str, sources: tuple[Source, ...], stage: str, sql: str) -> None:
    found = place(text, *sources)
    assert (found.stage, found.sql) == (stage, sql)


def test_what_an_outer_join_may_not_find_may_be_null() -> None:
    assert not place("a.k", *BOTH).column.nullable
    assert place("b.k", *BOTH).column.nullable


@pytest.mark.parametrize(
    ("text", "sources", "code", "what", "hint"),
    [
        ("k", BOTH, "unknown_column", "`k` is a column of 2 of the tables", "Write a.k or b.k."),
        ("odd", ALONE, "unknown_column", "`t` has no column `odd`", "Did you mean `Odd`?"),
        ("y", BOTH, "unknown_column", "no table here has a column `y`", "Known columns: `k`, `Odd`, `x`, `d`."),
        ("b.x", BOTH, "unknown_column", "`u` has no column `x`", "Known columns: `k`, `d`."),
        ("c.x", BOTH, "unknown_column", "`c` is no table of this SELECT", "Its tables are called `a`, `b` up to here."),
        (
            '"B".k',
            BOTH,
            "unknown_column",
            "`B` is no table of this SELECT",
            "Its tables are called `a`, `b` up to here.",
        ),
        ('b."d.lower"', BOTH, "unknown_column", "`u` has no column `d.lower`", None),
    ],
)
def test_a_name_of_none_or_several_is_refused(
    text: str, sources: tuple[Source, ...], code: str, what: str, hint: str | None
) -> None:
    error = refused(text, *sources)
    assert (error.code, error.what) == (code, what)
    assert hint in (None, error.hint)


def test_bounds_of_what_is_no_range_are_refused() -> None:
    error = refused("lower(x)", *BOTH)
    assert (error.code, error.what) == ("unsupported", "LOWER() of `x`, which is no range, is not supported")


def test_a_name_has_two_parts_at_most() -> None:
    assert refused("z.t.k", *ALONE).what == "a column's name in more than two parts is not supported"


def test_a_star_is_all_that_was_declared_in_order() -> None:
    made, node = scope("b.*", *BOTH)
    assert [each.sql for each in made.all()] == ["a.k", 'a."Odd"', "a.x", "b.k", "b.d"]
    assert [each.sql for each in made.all(node.args["table"])] == ["b.k", "b.d"]
    assert [each.stage for each in made.of(1)] == list(BOTH[1].stages)
