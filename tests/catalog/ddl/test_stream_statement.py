import pytest

from catalog.ddl.catalog_text import split_statements
from catalog.ddl.newer_statement import newer_statement
from catalog.ddl.statements import fold_ddl
from catalog.ddl.stream_statement import MARK, is_about_stream, is_mark, marked
from catalog.schema.catalog import Catalog
from catalog.sql.statement_text import tokens_of
from tests.catalog.streamed import DDL


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("CREATE STREAM s (ts TIMESTAMP)", True),
        ("create or replace stream s (ts TIMESTAMP)", True),
        ("DROP STREAM IF EXISTS s", True),
        ("CREATE STREAM", True),
        ("CREATE TABLE stream (ts TIMESTAMP PRIMARY KEY)", False),
        ('CREATE "STREAM" s (ts TIMESTAMP)', False),
        ("SELECT stream FROM s", False),
        ("CREATE", False),
    ],
)
def test_which_statements_are_about_streams(text: str, about: bool) -> None:
    assert is_about_stream(tokens_of(text)) is about


def test_the_mark_declares_nothing_and_is_written_once() -> None:
    written = marked(DDL)
    assert written == f"{MARK}; {DDL}" and marked(written) == written
    assert fold_ddl(Catalog(), written, 0) == fold_ddl(Catalog(), DDL, 0)
    assert marked("DROP TABLE t; DROP STREAM s").startswith(MARK)
    assert (
        marked("DROP TABLE t; CREATE VIEW stream AS SELECT * FROM u")
        == "DROP TABLE t; CREATE VIEW stream AS SELECT * FROM u"
    )


def test_versions_before_streams_know_the_mark_to_be_newer() -> None:
    """They take a statement for a newer one by its first two words: these are kept since there are joins."""
    (first, *_) = split_statements(tokens_of(marked("DROP STREAM s")))
    assert is_mark(first) and [token.text for token in first[:2]] == ["ALTER", "VIEW"]


def test_which_texts_about_streams_are_of_a_newer_version() -> None:
    assert newer_statement(f"{MARK}; CREATE TABLE t (a INT)") == ""
    assert newer_statement("ALTER VIEW REQUIRES NETWORKS") == "ALTER VIEW"
    assert newer_statement("ALTER STREAM s RENAME TO t") == "ALTER STREAM"
