"""Statements that only a newer version writes to the catalog, told from texts that nobody can apply.

A text that does not apply is skipped by everyone, so anybody may write nonsense to the catalog's topic. A statement of
a newer version may not be skipped: whoever does not know it would answer by another catalog than all others do. So
what later versions declare besides what is known here begins with words that are kept for it, and is known by them
alone; whatever follows is theirs. A statement about a join is of a newer version where it has a form that is not
known (`cell_ddl.py`), and one about a view or stream where it is refused for what this version does not support or
cannot read.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from sqlglot.tokenizer_core import Token

from catalog.ddl.catalog_text import split_statements
from catalog.ddl.cell_ddl import is_about_cell, read_cell_statement
from catalog.ddl.stream_statement import is_mark
from catalog.sql.errors import CatalogError, SqlError
from catalog.sql.statement_text import StatementText

_NEWER = frozenset(product(("ALTER", "CREATE", "DROP"), ("JOIN", "VIEW", "STREAM")))
_KNOWN = frozenset(product(("CREATE", "DROP"), ("VIEW", "STREAM")))
_UNKNOWN = frozenset({"syntax", "unsupported", "unsupported_type"})
"""Codes of what a later version may take."""


def newer_statement(text: str, fault: Exception | None = None) -> str:
    """Return the first words of the first statement of a newer version in `text`, '' where there is none.

    `fault` is what folding the text raised. Cost: 0.5 us a character.

    >>> newer_statement("DROP TABLE t; alter view v RENAME TO w"), newer_statement("CREATE TABLE view (k BIGINT)")
    ('ALTER VIEW', '')
    """
    try:
        source = StatementText(text, CatalogError)
        statements = list(split_statements(source.tokens))
    except SqlError:
        return ""
    for tokens in statements:
        words = tuple([text[token.start : token.end + 1].upper() for token in tokens[:2]])
        if is_about_cell(tokens):
            newer = not _is_known(tokens, source)
        else:
            newer = words in _NEWER and not is_mark(tokens) and not (words in _KNOWN and _is_ours(tokens, fault))
        if newer:
            return " ".join(words)
    return ""


def _is_ours(tokens: Sequence[Token], fault: Exception | None) -> bool:
    """Whether a statement of a known kind is of this version: what is wrong is elsewhere, or wrong in any version."""
    if not isinstance(fault, SqlError):
        return False
    elsewhere = fault.line > 0 and not tokens[0].start <= fault.start <= tokens[-1].end
    return elsewhere or fault.code not in _UNKNOWN


def _is_known(tokens: Sequence[Token], source: StatementText) -> bool:
    try:
        read_cell_statement(tokens, source)
    except SqlError:
        return False
    return True
