from __future__ import annotations

import pytest
import sqlglot

from catalog.sql.range_operators import RANGE_OPERATORS, is_isempty


@pytest.mark.parametrize(("operator", "mirrored"), [("&&", "&&"), ("@>", "<@"), ("<@", "@>")])
def test_an_operator_is_called_as_it_is_written_and_as_its_mirror_image(operator: str, mirrored: str) -> None:
    node = sqlglot.parse_one(f"c {operator} '[1,2)'", dialect="postgres")
    assert RANGE_OPERATORS[type(node)] == (operator, mirrored)


@pytest.mark.parametrize(
    ("text", "is_one"), [("isempty(c)", True), ("ISEMPTY(c)", True), ("isempty(c, d)", False), ("other(c)", False)]
)
def test_isempty_has_one_argument(text: str, is_one: bool) -> None:
    assert is_isempty(sqlglot.parse_one(text, dialect="postgres")) is is_one
