"""Types of other databases: the user's own word is quoted, and what is suggested is a type here."""

from __future__ import annotations

import re

import pytest

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from catalog.sql.errors import CatalogError
from catalog.types import foreign_types


def refused(written: str) -> CatalogError:
    with pytest.raises(CatalogError) as caught:
        apply_ddl(Catalog(), f"CREATE TABLE t (id INT PRIMARY KEY, v {written} NOT NULL)", 0)
    return caught.value


@pytest.mark.parametrize("word", sorted(foreign_types._INSTEAD))
@pytest.mark.parametrize("more", ["", "(10)"])
def test_each_known_word(word, more) -> None:
    for written in (word + more, word.lower() + more):
        error = refused(written)
        assert error.code == "unsupported_type"
        assert error.line == 1
        if f"`{written}`" in error.what:
            for suggested in re.findall(r"[Ww]rite ([A-Z]+(?:\(\d+(?:,\d+)?\))?)", error.hint or ""):
                assert apply_ddl(Catalog(), f"CREATE TABLE t (id INT PRIMARY KEY, v {suggested})", 0)
        else:
            assert word == "UNION" or more, error


@pytest.mark.parametrize(
    ("written", "instead"),
    [
        ("INT8", "BIGINT"), ("INT4", "INTEGER"), ("STRING", "VARCHAR"), ("LONG", "BIGINT"), ("SERIAL", "INTEGER"),
        ("TIMESTAMP WITH TIME ZONE", "TIMESTAMP"), ("TIMESTAMP_LTZ(3)", "TIMESTAMP"), ("INT UNSIGNED", "BIGINT"),
        ("UNSIGNED INT", "BIGINT"), ("NUMBER(10,2)", "DECIMAL(10,2)"), ("character varying(50)", "VARCHAR"),
        ("INT[]", "declare a column"), ("ARRAY<INT>", "declare a column"), ("ROW<a INT>", "declare a column"),
        ("BYTEA", "Bytes have no type"), ("TIME", "time of day"), ("TIME WITH TIME ZONE", "time of day"),
        ("INTERGER", "Did you mean INTEGER?"), ("BOLEAN", "Did you mean BOOLEAN?"),
    ],
)  # fmt: skip
def test_the_users_word_is_quoted(written, instead) -> None:
    error = refused(written)
    assert f"`{written}` is no type" in error.what and instead in (error.hint or "")
