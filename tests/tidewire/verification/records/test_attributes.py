"""What a subscriber says of itself, as verification reads it."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tidewire.verification.records.attributes import as_sql, cut_attributes
from tidewire.verification.records.lifetimes import read_query


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("SELECT a FROM t", ("SELECT a FROM t", {})),
        ("SELECT a FROM t ATTRIBUTES (a = -1, B = DATE '2026-01-01')",
         ("SELECT a FROM t ", {"a": "-1", "b": "DATE '2026-01-01'"})),
        ("SELECT a FROM t attributes(a='it''s, (x)');", ("SELECT a FROM t ", {"a": "'it''s, (x)'"})),
        ("SELECT a FROM t WHERE b = ? AND c = 'x?' ATTRIBUTES (\"A\" = ?, c = ?)",
         ("SELECT a FROM t WHERE b = ? AND c = 'x?' ", {"A": "$2", "c": "$3"})),
        ("SELECT a FROM attributes (b)", ("SELECT a FROM attributes (b)", {})),
    ],
)  # fmt: skip
def test_attributes_are_cut_off(statement: str, expected: tuple[str, dict[str, str]]) -> None:
    assert cut_attributes(statement) == expected


def test_values_beside_the_sql() -> None:
    assert [as_sql(v) for v in (None, True, 5, Decimal("1.50"), "it's")] == ["NULL", "TRUE", "5", "1.50", "'it''s'"]
    query = read_query(b'{"sql": "SELECT a FROM t", "attributes": {"age": 31, "x": null}}')
    assert query is not None and query.attributes == (("age", "31"), ("x", "NULL"))
    assert read_query(b'{"sql": "SELECT a FROM t", "attributes": [1]}') is None
    assert read_query(b'{"sql": "SELECT a FROM t", "attributes": {"a": []}}') is None
