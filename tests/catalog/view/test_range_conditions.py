"""Operators of ranges in the WHERE of a view; whether they hold is judged by the verification, in the chain."""

from __future__ import annotations

import pytest

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from catalog.schema.view import Comparison, Map
from catalog.sql.errors import SqlError

DDL = "CREATE TABLE t (k BIGINT PRIMARY KEY, i INT4RANGE, n INTEGER)"


def conditions(where: str) -> tuple[list[Comparison], str]:
    catalog = apply_ddl(Catalog(), f"{DDL}; CREATE VIEW v AS SELECT k FROM t WHERE {where}", 1)
    view = catalog.views["v"]
    operator = view.stages[-1].operator
    assert isinstance(operator, Map)
    compared = [each for each in operator.where if isinstance(each, Comparison)]
    assert len(compared) == len(operator.where)
    return compared, view.sql.partition(" WHERE ")[2]


@pytest.mark.parametrize(
    ("where", "operators", "sql"),
    [
        ("i && '[1,5)'", ["<=", ">="], "i && '[1,5)'"),
        ("'[1,5)' && i", ["<=", ">="], "i && '[1,5)'"),
        ("i @> 3", ["<=", ">="], "i @> 3"),
        ("3 <@ i", ["<=", ">="], "i @> 3"),
        ("i <@ '[1,5)'", [">=", "<="], "i <@ '[1,5)'"),
        ("'[1,5)' @> i", [">=", "<="], "i <@ '[1,5)'"),
        ("isempty(i)", ["="], "isempty(i)"),
        ("NOT isempty(i)", ["<>"], "NOT isempty(i)"),
    ],
)
def test_an_operator_is_comparisons_of_the_ends(where: str, operators: list[str], sql: str) -> None:
    compared, said = conditions(where)
    assert [each.op for each in compared] == operators
    assert said == sql and conditions(said) == (compared, said)


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ("NOT i && '[1,5)'", "NOT before an operator of ranges"),
        ("i && i", "anything but a constant"),
        ("i && NULL", "anything but a constant"),
        ("n && '[1,5)'", "is for columns that are ranges"),
        ("isempty(n)", "is for columns that are ranges"),
        ("i && 'x'", "what stands beside it"),
        ("i < '[1,5)'", "< is not for ranges"),
    ],
)
def test_what_a_view_does_not_ask_of_ranges_is_refused(where: str, why: str) -> None:
    with pytest.raises(SqlError, match=why):
        conditions(where)
