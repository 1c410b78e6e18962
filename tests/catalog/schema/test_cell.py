"""Names of cells say their tables, whatever these are called."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.schema.cell import Cell, cell_name, tables_of_cell


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1, max_size=4))
def test_a_name_says_the_tables(tables: list[str]) -> None:
    name = cell_name(tables)
    assert tables_of_cell(name) == tuple(sorted(set(tables)))
    assert name == cell_name(reversed(tables)) == Cell(tuple(sorted(set(tables))), 3).name


def test_names() -> None:
    assert cell_name(["quote", "a/b+c"]) == "cell/a%2Fb%2Bc+quote/0"
    assert Cell(("a/b", "quote"), 3).member("a/b") == "cell/a%2Fb+quote/0/a%2Fb"


@pytest.mark.parametrize("name", ["quote/0", "cell/b+a/0", "cell/a+a/0", "cell/a", "a/0", "cell/a b/0", ""])
def test_no_name_of_a_cell(name: str) -> None:
    assert tables_of_cell(name) is None
