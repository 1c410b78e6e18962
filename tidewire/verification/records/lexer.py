"""Texts of SQL as lexemes, as far as they must be looked at outside DuckDB: to split, to fold names, to quote them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import duckdb

_LEXEME = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/|[^\W\d]\w*|.", re.DOTALL)


def lexemes(text: str) -> Iterator[re.Match[str]]:
    """Yield strings, quoted names, comments and words whole, everything else character by character."""
    return _LEXEME.finditer(text)


def is_word(lexeme: str) -> bool:
    """Whether the lexeme is a keyword or a name that is not quoted."""
    return lexeme[0].isalpha() or lexeme[0] == "_"


def quote_names(text: str, names: set[str]) -> str:
    """Put quotes around the `names` (lower case) in `text` that DuckDB takes for keywords, and only around those.

    A catalog may call a column `at` or `end` without quotes; DuckDB would not read it.

    >>> quote_names("SELECT MIN(End) FROM t WHERE day = 'end'", {"end", "day"})
    'SELECT MIN("end") FROM t WHERE day = \\'end\\''
    """
    chosen = names & _reserved()
    parts = []
    for match in lexemes(text):
        word = match[0].lower() if is_word(match[0]) else ""
        parts.append(f'"{word}"' if word in chosen else match[0])
    return "".join(parts)


@cache
def _reserved() -> frozenset[str]:
    with duckdb.connect() as database:
        found = database.execute(
            "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category = 'reserved'"
        ).fetchall()
    return frozenset(word for (word,) in found) | {"at"}
