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
_VALUES = frozenset({"not", "null", "true", "false", "select", "with", "any", "case"})
"""Words of DuckDB's that are names only in quotes, here too: these stand where a value is due, those behind one."""
_CLAUSES = frozenset({
    "and", "as", "asc", "cross", "desc", "else", "except", "fetch", "for", "from", "having", "in", "inner", "intersect",
    "into", "lateral", "limit", "on", "or", "outer", "qualify", "returning", "tablesample", "then", "union", "using",
    "when", "where", "window",
})  # fmt: skip
"""Words that stand behind a value, or behind what is read: where a value is due they are names."""
_BY = ("group", "order", "partition")
_DUE = _CLAUSES - {"asc", "desc"} | _VALUES - {"null", "true", "false"} | {"by", "distinct", "between", "like", "join"}
"""Words behind which a value is due."""
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


def ends_value(lexeme: str, ended: bool) -> bool:
    """Whether a value, or a name, ends with this lexeme; `ended`: whether one did with the lexeme before it.

    A `*` is one where one is due, and else multiplies.
    """
    if is_word(lexeme):
        return lexeme.lower() not in _DUE
    return lexeme[0] in "'\")]?" or lexeme.isdigit() or (lexeme == "*" and not ended)


def is_blank(lexeme: str) -> bool:
    """Whether the lexeme is a comment or white space."""
    return lexeme.isspace() or lexeme.startswith(("--", "/*"))


def quote_names(text: str, names: set[str]) -> str:
    """Put quotes around the `names` (lower case) in `text` that DuckDB takes for keywords, and only around those.

    A catalog may call a column `at` or `end` without quotes; DuckDB would not read it. A `left` before JOIN is none,
    and no word is one that stands where the statement needs it.

    >>> quote_names("SELECT MIN(End) FROM t WHERE day = 'end'", {"end", "day"})
    'SELECT MIN("end") FROM t WHERE day = \\'end\\''
    >>> quote_names("SELECT left FROM t LEFT JOIN u ON left = k", {"left"})
    'SELECT "left" FROM t LEFT JOIN u ON "left" = k'
    >>> quote_names("SELECT desc FROM t ORDER BY desc DESC LIMIT 1", {"desc"})
    'SELECT "desc" FROM t ORDER BY "desc" DESC LIMIT 1'
    """
    chosen = names & _reserved()
    if not chosen:
        return text
    parts = [match[0] for match in lexemes(text)]
    places = [place for place, part in enumerate(parts) if not is_blank(part)]
    words = ["", "", *(parts[place].lower() for place in places), ""]
    ended = behind = False
    for place, earlier, before, word, following in zip(places, words, words[1:], words[2:], words[3:], strict=False):
        named = word in chosen and not _is_keyword(word, (earlier, before), following, behind)
        if named:
            parts[place] = quoted(word)
        ended = named or ends_value(word, ended)
        behind = ended or (behind and word == "not")  # x NOT IN (1), and not: NOT in IN (1)
    return "".join(parts)


def _is_keyword(word: str, before: tuple[str, str], following: str, behind: bool) -> bool:
    """Whether the statement needs a word where it stands: after two others, and `behind` a value or not."""
    if word in _JOINS and following in _BEHIND:
        return True
    if word in _BY and following == "by":
        return True
    if word == "by":
        return before[1] in _BY
    if word == "distinct":
        return before[1] == "select" or before == ("count", "(")
    return word in _CLAUSES and behind


@cache
def _reserved() -> frozenset[str]:
    with duckdb.connect() as database:
        found = database.execute(
            "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category IN ('reserved', 'type_function')"
        ).fetchall()
    return frozenset(word for (word,) in found) - _OPERATORS - _VALUES | {"at"}
