"""Statements of later versions are known by their first words, and by nothing else."""

from __future__ import annotations

import pytest

from catalog.ddl.newer_statement import newer_statement
from catalog.ddl.statements import fold_ddl
from catalog.sql.errors import CatalogError
from tests.catalog.viewed import CATALOG


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("CREATE VIEW v AS SELECT k FROM t", "CREATE VIEW"),
        ("-- of a newer version\n create  join j ON ( ~ )", "CREATE JOIN"),
        ("CREATE JOIN a, b WITH ('buckets'='8')", "CREATE JOIN"),
        ("DROP JOIN a; ALTER JOIN a", "ALTER JOIN"),
        ("REFUSE JOIN a", "REFUSE JOIN"),
        ("CREATE JOIN a, b; DROP JOIN c; REFUSE JOIN a BECAUSE 'x'", ""),
        ("CREATE TABLE t (k BIGINT PRIMARY KEY); DROP VIEW v", "DROP VIEW"),
        ("ALTER VIEW v", "ALTER VIEW"),
        ("CREATE TABLE view (k BIGINT)", ""),
        ('CREATE "VIEW" (k BIGINT)', ""),
        ("CREATE TABLE t (k BIGINT PRIMARY KEY) WITH ('topic'='; CREATE VIEW v')", ""),
        ("CREATE NONSENSE", ""),
        ("CREATE TABLE t (k", ""),
        ("CREATE VIEW 'not closed", ""),
        ("VIEW", ""),
        ("", ""),
    ],
)
def test_the_first_words_say_it(text: str, words: str) -> None:
    assert newer_statement(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("CREATE VIEW v AS SELECT k FROM nowhere", ""),
        ("CREATE VIEW v AS SELECT flight FROM seat WHERE n = 1 OR n = 2", "CREATE VIEW"),
        ("CREATE VIEW v WITH ('keep'='24 h') AS SELECT flight FROM seat", "CREATE VIEW"),
        ("CREATE VIEW v WITH ('topic'='seat') AS SELECT flight FROM seat", ""),
        ("CREATE VIEW v AS SELECT flight FROM seat ~ MATCH_RECOGNIZE", "CREATE VIEW"),
        ("CREATE VIEW v AS SELECT id FROM trade", "CREATE VIEW"),
        ("DROP VIEW low CASCADE", "DROP VIEW"),
        ("DROP VIEW nowhere", ""),
        ("DROP TABLE seat", ""),
        ("CREATE VIEW v AS SELECT dest FROM seat; DROP TABLE nowhere", ""),
        ("CREATE VIEW v AS SELECT dest FROM seat; INSERT INTO seat", ""),
        ("DROP TABLE nowhere; ALTER VIEW v RENAME TO w", "ALTER VIEW"),
    ],
)
def test_a_view_that_this_version_cannot_take_is_a_newer_ones(text: str, words: str) -> None:
    with pytest.raises(CatalogError) as fault:
        fold_ddl(CATALOG, text, 1)
    assert newer_statement(text, fault.value) == words
