"""The last word on a refused subscription: what its words may have been meant as, where that can be said."""

from __future__ import annotations

from sqlglot.tokenizer_core import Token, TokenType

from catalog.query.unsupported import SUPPORTED
from catalog.sql.errors import SqlError
from catalog.sql.mistakes import LAST_RULES, Mistake, Words, bare_aggregate, find_mistake
from catalog.sql.notify import fault_at, is_option_word
from catalog.sql.repair import find_repair, near_word, unexplained_words
from catalog.sql.statement_text import StatementText

_WORDS = (
    "SELECT", "DISTINCT", "FROM", "WHERE", "AND", "BETWEEN", "ATTRIBUTES", "NOTIFY", "EVERY", "CHANGE", "LATEST", "TTL",
    "DELIVER", "GROUP", "ORDER", "LIMIT", "HAVING", "JOIN", "ON",
)  # fmt: skip
"""Words that may have been meant."""
_ENDS = frozenset({TokenType.VAR, TokenType.STRING, TokenType.NUMBER, TokenType.R_PAREN, TokenType.IDENTIFIER})
"""Tokens that a statement may end with, beside words."""


def explained(text: StatementText, error: SqlError) -> SqlError:
    """Return the refusal that helps more than `error`, or `error` itself with what is supported.

    Cost: 0.3 ms, and a few parses where a word may be misspelt.
    """
    words = unexplained_words(text, error)
    if not words:
        return error
    if error.code == "syntax" and (fault := _options(text, error)) is not None:
        return fault
    found = find_mistake(words)
    if found is None and error.code == "syntax" and text.unparsed:
        found = find_repair(words, _WORDS, error.start) or find_mistake(words, LAST_RULES)
    if found is not None:
        return _refusal(text, error.code, found)
    return error if error.hint else text.refusal(error.code, error.what, _place(error), SUPPORTED)


def explained_name(text: StatementText, error: SqlError) -> SqlError:
    """Return the refusal that helps more than `error`, that the SELECT list names a column which there is not.

    It may be no name: SELECT DISTNCT price, SELECT MIN price.
    """
    found = find_mistake(Words(text.sql, text.tokens), (bare_aggregate,))
    if found is not None:
        return text.refusal("unsupported", found.what, found.place, f"{found.hint}\n{SUPPORTED}")
    if near_word(text.sql[error.start : error.end].upper(), ("DISTINCT",)):
        return text.refusal(error.code, error.what, (error.start, error.end), "Did you mean DISTINCT?")
    return error


def _refusal(text: StatementText, code: str, found: Mistake) -> SqlError:
    hint = f"{found.hint}\n{SUPPORTED}" if code == "unsupported" else found.hint
    return text.refusal(code, found.what, found.place, hint)


def _place(error: SqlError) -> tuple[int, int] | None:
    return (error.start, error.end) if error.line else None


def _options(text: StatementText, error: SqlError) -> SqlError | None:
    """Return the refusal of options for which the statement cannot be parsed; None where `error` is of something else.

    Options are to blame where one of their words follows what could have been the statement, outside of parentheses.
    """
    depth, asks, tokens = 0, False, text.tokens
    for i, token in enumerate(tokens):
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if not error.line or token.start > error.end:
            return None
        asks = asks or token.token_type is TokenType.FROM
        if asks and depth == 0 and is_option_word(token, text.sql) and _may_end(tokens[i - 1], text.sql):
            fault = fault_at(text.sql, tokens, i)
            if fault is not None:
                return text.refusal(fault.code, str(fault), (fault.start, fault.end), fault.hint)
    return None


def _may_end(token: Token, sql: str) -> bool:
    return token.token_type in _ENDS or token.text.upper() in ("NULL", "TRUE", "FALSE", ";")
