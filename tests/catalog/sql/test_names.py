import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from catalog.sql.errors import CatalogError
from catalog.sql.names import folded, quoted, quoted_for_all
from catalog.sql.statement_text import StatementText
from tests.effort import examples


@pytest.mark.parametrize(
    ("name", "sql"), [("risk", "risk"), ("Risk", '"Risk"'), ("order", '"order"'), ('a"b', '"a""b"'), ("2x", '"2x"')]
)
def test_quoted_only_where_needed(name, sql) -> None:
    assert quoted(name) == sql


@given(st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=20))
@settings(deadline=None, max_examples=examples(100))
def test_a_quoted_name_reads_as_itself(name) -> None:
    (tree,) = StatementText(f"SELECT x.{quoted(name)} FROM x", CatalogError).statements
    column = tree.find(exp.Column)
    assert column is not None and folded(column.this) == name


def test_every_word_that_duckdb_reserves_is_quoted_for_it() -> None:
    query = "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category IN ('reserved', 'type_function')"
    words = [word for (word,) in duckdb.sql(query).fetchall()]
    assert [word for word in words if quoted_for_all(word) == word] == []
