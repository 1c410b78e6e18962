"""What a refused catalog text may have been meant as; `catalog/sql/mistakes.py` is the same for subscriptions."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot.tokenizer_core import TokenType

from catalog.sql.errors import CatalogError, SqlError
from catalog.sql.mistakes import Mistake, Rule, Words, find_mistake, odd_quotes, odd_string
from catalog.sql.repair import find_repair, near_word, unexplained_words
from catalog.sql.statement_text import StatementText
from catalog.types.declared_type import written_type
from catalog.types.foreign_types import instead_of, is_foreign

SUPPORTED = (
    "Supported: CREATE TABLE [IF NOT EXISTS], DROP TABLE [IF EXISTS], CREATE STREAM, DROP STREAM, CREATE VIEW, DROP "
    "VIEW, CREATE JOIN and DROP JOIN, separated by `;`."
)
_WORDS = ("CREATE", "DROP", "TABLE", "STREAM", "WITH", "PRIMARY", "KEY", "NOT", "NULL", "EXISTS")
_WORDS_OF_VIEWS = (
    "CREATE", "DROP", "VIEW", "NOT", "EXISTS", "AS", "SELECT", "FROM", "JOIN", "ON", "WHERE", "AND", "BETWEEN",
    "GROUP", "HAVING", "QUALIFY", "PARTITION", "ORDER", "UNION", "ALL",
)  # fmt: skip
_BEHIND_TYPES = ("NOT", "NULL", "PRIMARY", "KEY", "AS", "DEFAULT", "UNIQUE")
_LATER = "Write the CREATE TABLE again with nullable columns appended; to change anything else, DROP TABLE before it."
_ROWS = "Rows are no part of a catalog: they are published to the table's topic."
_WHOLE = "Leave it out: a text is applied whole or not at all."
_STATEMENTS = {
    "ALTER": _LATER, "INSERT": _ROWS, "UPDATE": _ROWS, "DELETE": _ROWS, "TRUNCATE": _ROWS, "MERGE": _ROWS,
    "COPY": _ROWS,
    "BEGIN": _WHOLE, "START": _WHOLE, "COMMIT": _WHOLE, "ROLLBACK": _WHOLE, "SELECT": "A question is a subscription.",
}  # fmt: skip
_OBJECTS = {
    "SOURCE": "Write CREATE TABLE: a table is fed by a topic, each record of which is a row by its key.",
    "INDEX": "Leave it out: a subscription needs none.",
    "UNIQUE": "Leave it out: a subscription needs no index.",
}


def explained_ddl(text: StatementText, error: CatalogError) -> SqlError:
    """Return the refusal that helps more than `error`, or `error` itself with what is supported."""
    words = unexplained_words(text, error)
    if words is None:
        return error
    syntax, of_view = error.code == "syntax", _is_of_view(words, error.start)
    found = find_mistake(words, _FOR_TREES if of_view or not syntax else RULES)
    if found is None and syntax and text.unparsed:
        found = find_repair(words, _WORDS_OF_VIEWS if of_view else _WORDS, error.start)
    if found is not None:
        return text.refusal(found.code or error.code, found.what, found.place, found.hint)
    if error.hint:
        return error
    return text.refusal(error.code, error.what, (error.start, error.end) if error.line else None, SUPPORTED)


def _is_of_view(text: Words, place: int) -> bool:
    """Whether the statement at a place is about a view."""
    starts = [at for at in _first_words(text) if at < len(text) and text.tokens[at].start <= place]
    return bool(starts) and "VIEW" in (text.word(starts[-1] + 1), text.word(starts[-1] + 2))


def _first_words(text: Words) -> Iterator[int]:
    """Yield where statements begin."""
    return (at for at in range(len(text)) if at == 0 or text.word(at - 1) == ";")


def _statement(text: Words) -> Mistake | None:
    for at in _first_words(text):
        word, object = text.word(at), text.word(at + 1)
        if word in _STATEMENTS:
            return Mistake("this statement is not part of a catalog", text.place(at, at), _STATEMENTS[word])
        if word == "CREATE" and object in _OBJECTS:
            what = f"CREATE {object} is not part of a catalog"
            return Mistake(what, text.place(at, at + 1), _OBJECTS[object])
    return None


def _no_table(text: Words) -> Mistake | None:
    """CREATE and DROP without TABLE."""
    for at in _first_words(text):
        named = text.is_name(at + 1) and text.word(at + 1) != "STREAM" and text.word(at + 2) in ("(", "", ";")
        if text.word(at) in ("CREATE", "DROP") and named:
            hint = f"Write {text.word(at)} TABLE {text.written(at + 1, at + 1)}."
            return Mistake("TABLE is missing", text.place(at, at + 1), hint)
    return None


def _decimal(text: Words) -> Mistake | None:
    for at in range(len(text)):
        if text.word(at) not in ("DECIMAL", "NUMERIC", "DEC"):
            continue
        if text.word(at + 1).isdigit():
            hint = f"Write {text.written(at, at)}({text.word(at + 1)})."
            return Mistake("parentheses are missing", text.place(at, at + 1), hint)
        end = next((i for i in range(at + 2, len(text)) if text.word(i) == ")"), 0)
        if text.word(at + 1) == "(" and end and "-" in text.words[at + 2 : end]:
            what = "a DECIMAL has 1 to 38 digits, of which 0 to all stand after the point"
            hint = "Write DECIMAL(12,2), for example: 12 digits, 2 after the point."
            return Mistake(what, text.place(at + 2, end - 1), hint, "unsupported_type")
    return None


def _foreign_type(text: Words) -> Mistake | None:
    for at in _columns(text):
        if text.is_name(at) and is_foreign(text.word(at + 1)):
            first = text.tokens[at + 1]
            written = written_type(text.tokens, first, text.sql)
            hint = instead_of(written, ()) or SUPPORTED
            place = first.start, first.start + len(written)
            return Mistake(f"`{written[:60]}` is no type", place, hint, "unsupported_type")
    return None


def _columns(text: Words) -> Iterator[int]:
    """Yield the first token of each item between the parentheses of a table."""
    depth = 0
    for at, word in enumerate(text.words):
        if depth == 1 and text.word(at - 1) in ("(", ","):
            yield at
        depth += {"(": 1, ")": -1}.get(word, 0)


def _key(text: Words) -> Mistake | None:
    for at, word in enumerate(text.words):
        if word == "PRIMARY KEY" and text.word(at - 1) in (",", "(") and text.is_name(at + 1):
            end = next((i for i in range(at + 1, len(text)) if text.word(i) in (")", "")), len(text))
            names = text.written(at + 1, end - 1)
            return Mistake("parentheses are missing", text.place(at + 1, end - 1), f"Write PRIMARY KEY ({names}).")
        if text.word(at - 1) in ("(", ",", ".") or text.word(at + 1) not in (",", ")"):
            continue
        if word in ("PRIMARY", "KEY") and not near_word(text.word(at - 1), ("PRIMARY",)):
            return Mistake(f"`{text.written(at, at)}` alone says nothing", text.place(at, at), "Write PRIMARY KEY.")
        if word in ("DESC", "ASC"):
            return Mistake("a key has no order", text.place(at, at), f"Leave out {text.written(at, at)}.")
    return None


def _name(text: Words) -> Mistake | None:
    """Names that need quotes: with a hyphen, of several words, or with a digit at the beginning."""
    for at in range(len(text) - 2):
        if text.is_name(at) and text.word(at + 1) == "-" and text.touches(at + 1) and text.touches(at + 2):
            return _quoted(text, at, at + 2)
        number = text.tokens[at].token_type is TokenType.NUMBER
        if number and text.is_name(at + 1) and text.touches(at + 1):
            return _quoted(text, at, at + 1)
    for at in _columns(text):
        plain = text.is_name(at) and text.is_name(at + 1) and not is_foreign(text.word(at + 1))
        if plain and text.word(at + 2).isalpha() and text.word(at + 2) not in _BEHIND_TYPES:
            return _quoted(text, at, at + 1)
    return None


def _quoted(text: Words, first: int, last: int) -> Mistake:
    written = text.written(first, last)
    hint = f'If `{written[:60]}` is a name, write it in double quotes: "{written[:60]}".'
    return Mistake(f"`{written[:60]}` is no plain name", text.place(first, last), hint)


def _options(text: Words) -> Mistake | None:
    """Slips in WITH (...): what stands between name and value, and between options."""
    start = next(text.find("WITH", "("), None)
    if start is None:
        return None
    for at in range(start + 2, len(text)):
        before, behind = text.word(at - 1), text.word(at + 1)
        name = text.written(at, at).strip("'\"")
        if text.tokens[at].token_type not in (TokenType.STRING, TokenType.VAR, TokenType.IDENTIFIER):
            continue
        if before in ("(", ",") and (behind in ("=>", ":") or behind[:1] == "'"):
            last = at + 1 if behind[:1] == "'" else at + 2
            value = text.written(last, last) if last < len(text) else "'...'"
            return Mistake("`=` is missing", text.place(at, min(last, len(text) - 1)), f"Write '{name}'={value}.")
        if before == "=" and behind[:1] == "'":
            hint = f"Write {text.written(at, at)}, {text.written(at + 1, at + 1)}."
            return Mistake("a comma is missing", text.place(at, at + 1), hint)
    return None


def _watermark(text: Words) -> Mistake | None:
    for at in text.find("WATERMARK", "FOR"):
        hint = "Leave it out. Of a CREATE STREAM options say it: WITH ('event_time'='ts', 'lateness'='10 s')."
        return Mistake("WATERMARK is not supported", text.place(at, at), hint)
    return None


RULES: tuple[Rule, ...] = (
    odd_string, odd_quotes, _statement, _no_table, _decimal, _foreign_type, _key, _options, _watermark, _name,
)  # fmt: skip
_FOR_TREES: tuple[Rule, ...] = (odd_string, odd_quotes, _statement)
"""For texts that the parser takes, and the catalog does not."""
