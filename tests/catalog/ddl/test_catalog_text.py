"""A text of statements of every kind is parted in their order."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from catalog.ddl.catalog_text import parts_of, split_statements
from catalog.ddl.cell_ddl import CellStatement
from catalog.ddl.stream_statement import marked
from catalog.sql.errors import CatalogError
from catalog.sql.statement_text import StatementText
from tests.state.test_ordering import CALM

KINDS = {
    "CREATE TABLE t (k BIGINT PRIMARY KEY)": "TABLE",
    "CREATE STREAM s (ts TIMESTAMP) WITH ('event_time'='ts', 'lateness'='1 s')": "STREAM",
    "CREATE VIEW v AS SELECT ';' AS c FROM t": "VIEW",
    "DROP TABLE t": "TABLE",
    "DROP STREAM s": "STREAM",
    "CREATE JOIN a, b": "JOIN",
    "REFUSE JOIN a BECAUSE 'a; b'": "JOIN",
}


def kinds(text: str) -> list[str]:
    parts = parts_of(StatementText(text, CatalogError))
    return ["JOIN" if isinstance(part, CellStatement) else part.args["kind"] for part in parts]


@CALM
@given(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=5), st.randoms())
def test_in_their_order(statements: list[str], rng: Random) -> None:
    text = ";\n".join(statements) + rng.choice(("", ";", " ; "))
    assert kinds(text) == [KINDS[statement] for statement in statements]
    assert kinds(marked(text)) == kinds(text), "the mark of a text with streams is no statement"
    source = StatementText(text, CatalogError)
    parted = list(split_statements(source.tokens))
    assert [token for tokens in parted for token in tokens] == list(source.tokens) and len(parted) == len(statements)


def test_a_stream_is_the_tree_of_a_table_and_places_stay() -> None:
    text = "CREATE TABLE t (k BIGINT PRIMARY KEY); CREATE STREAM s (ts TIMESTAMP)"
    source = StatementText(text, CatalogError)
    _, stream = parts_of(source)
    assert isinstance(stream, exp.Create) and stream.args["kind"] == "STREAM"
    span = source.span(stream.this.this)
    assert span is not None and text[slice(*span)] == "s"


@pytest.mark.parametrize("text", ["CREATE TABLE t (k BIGINT; CREATE JOIN a", "CREATE JOIN a,; DROP TABLE t", "SELEC 1"])
def test_what_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(CatalogError) as caught:
        kinds(text)
    assert caught.value.code == "syntax"
