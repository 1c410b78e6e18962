"""Statements of later versions are known by their first words, and by nothing else."""

from __future__ import annotations

import pytest

from catalog.schema.newer_statement import newer_statement


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
