"""CREATE STREAM and DROP STREAM as trees: sqlglot knows neither, and reads them as it does those of a table.

Versions from before there were streams skip a text that they cannot apply, unless it has a statement that they know to
be of a newer version (`newer_statement.py`): then they end and say so. Of them they know those about views. So whoever
writes a text about streams to the catalog writes `MARK` before it, which declares nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from catalog.sql.statement_text import StatementText, tokens_of

MARK = "ALTER VIEW REQUIRES STREAM"
_MARK = tuple(MARK.split())
STREAM = "STREAM"


def is_about_stream(tokens: Sequence[Token]) -> bool:
    """Whether a statement is one that declares or drops a stream."""
    return _place(tokens) > 0


def is_mark(tokens: Sequence[Token]) -> bool:
    """Whether a statement says only that what stands behind it is of a version that has streams."""
    return tuple([t.text.upper() for t in tokens if t.token_type is not TokenType.SEMICOLON]) == _MARK


def read_stream_statement(tokens: Sequence[Token], source: StatementText) -> list[exp.Expr]:
    """Return the tree of a statement that `is_about_stream`, its kind STREAM. Raises the text's error, `syntax`."""
    place, read = _place(tokens), list(tokens)
    word = tokens[place]
    read[place] = Token(TokenType.TABLE, "TABLE", word.line, word.col, word.start, word.end)
    trees = source.parsed(read)
    for tree in trees:
        if isinstance(tree, exp.Create | exp.Drop):
            tree.set("kind", STREAM)
    return trees


def marked(text: str) -> str:
    """Return a text of the catalog that can be applied, as it is to be written: with the mark if it is about streams.

    >>> marked("DROP STREAM trade"), marked("DROP TABLE stream")
    ('ALTER VIEW REQUIRES STREAM; DROP STREAM trade', 'DROP TABLE stream')
    """
    words = tokens_of(text)
    begins = [i for i in range(len(words)) if i == 0 or words[i - 1].token_type is TokenType.SEMICOLON]
    if any(is_mark(words[i : i + len(_MARK)]) for i in begins):
        return text
    return f"{MARK}; {text}" if any(is_about_stream(words[i : i + 4]) for i in begins) else text


def _place(tokens: Sequence[Token]) -> int:
    """Return where STREAM stands in a statement about streams; 0 where it is none."""
    words = [token.text.upper() for token in tokens[:4]]
    if words[:1] not in (["CREATE"], ["DROP"]):
        return 0
    at = 3 if words[1:3] == ["OR", "REPLACE"] else 1
    written = len(tokens) > at and tokens[at].token_type is not TokenType.IDENTIFIER
    return at if written and words[at] == STREAM else 0
