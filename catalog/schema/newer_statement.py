"""Statements that only a newer version writes to the catalog, told from texts that nobody can apply.

A text that does not apply is skipped by everyone, so anybody may write nonsense to the catalog's topic. A statement of
a newer version may not be skipped: whoever does not know it would answer by another catalog than all others do. So
what later versions declare besides tables begins with words that are kept for it, and is known by them alone; whatever
follows is theirs.
"""

from __future__ import annotations

from sqlglot.errors import TokenError

from catalog.sql.mistakes import Words
from catalog.sql.statement_text import tokens_of

_VERBS = ("ALTER", "CREATE", "DROP")
_OBJECTS = ("JOIN", "VIEW")


def newer_statement(text: str) -> str:
    """Return the first words of the first statement of a newer version in `text`, '' where there is none.

    Cost: 0.5 us a character.

    >>> newer_statement("DROP TABLE t; create view v AS SELECT 1"), newer_statement("CREATE TABLE view (k BIGINT)")
    ('CREATE VIEW', '')
    """
    try:
        words = Words(text, tokens_of(text))
    except TokenError:
        return ""
    for at in range(len(words)):
        begins = at == 0 or words.word(at - 1) == ";"
        if begins and words.word(at) in _VERBS and words.word(at + 1) in _OBJECTS:
            return f"{words.word(at)} {words.word(at + 1)}"
    return ""
