"""Texts of SQL as lexemes, as far as they must be looked at outside DuckDB: to split, to fold names, to quote them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import duckdb

_JOINS = frozenset(
    {"left", "right", "full", "inner", "outer", "cross", "natural", "asof", "anti", "semi", "positional"}
)
_BEHIND = _JOINS | {"join"}
_OPERATORS = frozenset({"is", "isnull", "notnull", "like", "ilike", "glob", "similar", "join", "collate"})
"""Words of DuckDB's that are names only in quotes, here too."""
_LEXEME = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/|[^\W\d]\w*|.", re.DOTALL)


def lexemes(text: str) -> Iterator[re.Match[str]]:
    """Yield strings, quoted names, comments and words whole, everything else character by character."""
    return _LEXEME.finditer(text)


def is_word(lexeme: str) -> bool:
    """Whether the lexeme is a keyword or a name that is not quoted."""
    return lexeme[0].isalpha() or lexeme[0] == "_"


def quoted(name: str) -> str:
    """Return a name as SQL quotes it."""
    return '"' + name.replace('"', '""') + '"'


def string(text: str) -> str:
    """Return a text as SQL's constant."""
    return "'" + text.replace("'", "''") + "'"


def quote_names(text: str, names: set[str]) -> str:
    """Put quotes around the `names` (lower case) in `text` that DuckDB takes for keywords, and only around those.

    A catalog may call a column `at` or `end` without quotes; DuckDB would not read it. A `left` before JOIN is none.

    >>> quote_names("SELECT MIN(End) FROM t WHERE day = 'end'", {"end", "day"})
    'SELECT MIN("end") FROM t WHERE day = \\'end\\''
    >>> quote_names("SELECT left FROM t LEFT JOIN u ON left = k", {"left"})
    'SELECT "left" FROM t LEFT JOIN u ON "left" = k'
    """
    chosen = names & _reserved()
    if not chosen:
        return text
    parts = [match[0] for match in lexemes(text)]
    words = [part.lower() if is_word(part) else part for part in parts]
    following = ""
    for i in range(len(parts) - 1, -1, -1):
        word = words[i]
        if word in chosen and is_word(parts[i]) and not (word in _JOINS and following in _BEHIND):
            parts[i] = f'"{word}"'
        following = following if word.isspace() else word
    return "".join(parts)


@cache
def _reserved() -> frozenset[str]:
    with duckdb.connect() as database:
        found = database.execute(
            "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category IN ('reserved', 'type_function')"
        ).fetchall()
    return frozenset(word for (word,) in found) - _OPERATORS | {"at"}
