"""A text of the catalog as its statements, in their order: trees of sqlglot's, and what is read from tokens.

CREATE JOIN ...       a CellStatement                                          cell_ddl.py
CREATE STREAM ...     the tree of a CREATE TABLE, whose kind is STREAM         stream_statement.py
all else              sqlglot's trees
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from catalog.ddl.cell_ddl import CellStatement, is_about_cell, read_cell_statement
from catalog.ddl.stream_statement import is_about_stream, is_mark, read_stream_statement
from catalog.sql.statement_text import StatementText


def parts_of(source: StatementText) -> Iterator[exp.Expr | CellStatement]:
    """Yield the statements of a text. Raises the text's error, `syntax`."""
    others: list[Token] = []
    for tokens in split_statements(source.tokens):
        if not (is_about_cell(tokens) or is_about_stream(tokens) or is_mark(tokens)):
            others += tokens
            continue
        yield from source.parsed(others)
        others = []
        if is_about_cell(tokens):
            yield read_cell_statement(tokens, source)
        elif is_about_stream(tokens):
            yield from read_stream_statement(tokens, source)
    yield from source.parsed(others)


def split_statements(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Yield the tokens of each statement, with the semicolon at its end."""
    statement: list[Token] = []
    for token in tokens:
        statement.append(token)
        if token.token_type is TokenType.SEMICOLON:
            yield statement
            statement = []
    if statement:
        yield statement
