"""What is told of trees, by queries that DuckDB has parsed."""

from __future__ import annotations

import pytest

from tests.tidewire.verification.input.parsed import item, query
from tidewire.verification.input.query_tree import aggregates_in, conjuncts, is_aggregate, meant, name_of, windows_in
from tidewire.verification.input.view_source import NoView


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("SELECT a FROM t", "select  a\nFROM t", True),
        ("SELECT a + 1 FROM t x", "SELECT (a) + 1 FROM t AS x", True),
        ("SELECT a FROM t", "SELECT a AS b FROM t", False),
        ("SELECT a FROM t", "SELECT a FROM t x", False),
        ("SELECT a FROM t", "SELECT b FROM t", False),
        ("SELECT a - 1 FROM t", "SELECT a - 2 FROM t", False),
    ],
)
def test_where_something_stands_does_not_count_and_what_it_is_called_does(one: str, other: str, same: bool) -> None:
    assert (meant(query(one)) == meant(query(other))) is same


@pytest.mark.parametrize(
    ("condition", "parts"),
    [("a", 1), ("a AND b", 2), ("a AND (b AND c) AND d", 4), ("a OR b", 1), ("(a OR b) AND NOT (c AND d)", 2)],
)
def test_what_and_binds_together(condition: str, parts: int) -> None:
    found = conjuncts(item(condition))
    assert len(found) == parts
    assert all(one["class"] != "CONJUNCTION" or one["type"] == "CONJUNCTION_OR" for one in found)


def test_no_condition_has_no_parts() -> None:
    assert conjuncts(None) == []


@pytest.mark.parametrize("name", ["count", "sum", "avg", "min", "max", "LATEST", "Max_By"])
def test_aggregates_are_found_however_deep_they_stand(name: str) -> None:
    assert is_aggregate(item(f"{name}(a)"))
    deep = item(f"1 + COALESCE(-{name}(a), 0)")
    assert aggregates_in(deep) and not is_aggregate(deep)


@pytest.mark.parametrize("text", ["a", "lower(a)", "COALESCE(a, 1) + 1", "'count(*)'", "ROW_NUMBER() OVER ()"])
def test_others_are_none(text: str) -> None:
    assert not aggregates_in(item(text))


def test_count_of_rows_is_one() -> None:
    assert is_aggregate(item("COUNT(*)"))


def test_windows_come_in_the_order_of_the_text() -> None:
    found = windows_in(item("ROW_NUMBER() OVER (ORDER BY a) + 2 * RANK() OVER (ORDER BY b)"))
    assert [one["function_name"].lower() for one in found] == ["row_number", "rank"]
    assert windows_in(item("a + 1")) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [("a AS b", "b"), ("a", "a"), ("t.A", "A"), ("MIN(a)", "min"), ("ROW_NUMBER() OVER ()", "row_number"),
     ("a + 1 AS n", "n"), ("a + 1", "+")],
)  # fmt: skip
def test_how_columns_are_called(text: str, name: str) -> None:
    assert name_of(item(text)) == name


@pytest.mark.parametrize("text", ["1", "CAST(a AS DATE)", "a = b", "a IS NULL"])
def test_what_has_no_name_needs_an_alias(text: str) -> None:
    with pytest.raises(NoView):
        name_of(item(text))
