"""Slips of one word, found by trying: with the word that may have been meant, the statement can be parsed further.

    SELCT MIN(price) FROM stock            SELECT
    SELECT MIN(price) FORM stock           FROM
    SELECT MIN(if) FROM t WHERE if = 1     "if", a word of SQL as a name

So a hint that says "write X" is one that helps. Only short statements are tried, with few words each.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from itertools import chain, islice

from sqlglot.tokenizer_core import TokenType

from catalog.sql.errors import SqlError
from catalog.sql.mistakes import COMPARISONS, Mistake, Words
from catalog.sql.notify import OptionRefused, read_options
from catalog.sql.statement_text import StatementText

LONGEST = 1_000
"""Characters of a statement that is tried."""
_MOST_TRIALS = 12
_OPERATORS = {"&&": "AND", "||": "OR", "=>": ">=", "EQUALS": "=", "EQ": "=", "NEQ": "<>", ",": "AND", "TO": "AND"}
_CLAUSES = {"AND": "WHERE", "WHERE": "AND"}
_WORDS_TOO = ("IF", "XOR", "REGEXP", "ROLLBACK", "GRANT")
"""Words of SQL that the tokenizer has no type for."""
_ENDS = frozenset({TokenType.VAR, TokenType.NUMBER, TokenType.STRING, TokenType.IDENTIFIER})
"""Tokens that a condition or a table may end with."""
_PLAIN = re.compile(r"[A-Z_][A-Z0-9_]*")


def reach(sql: str) -> int | None:
    """Return where the parser finds the first fault of a text, options left aside; None if it finds none."""
    try:
        _ = StatementText(sql[: read_options(sql).end], SqlError).statements
    except (SqlError, OptionRefused) as error:
        return error.start
    return None


def unexplained_words(text: StatementText, error: SqlError) -> Words | None:
    """Return the words of a text, None where they cannot help: `error` says all itself, or there are no tokens."""
    if error.code not in ("syntax", "unsupported") or (error.code == "syntax" and error.hint):
        return None
    try:
        return Words(text.sql, text.tokens)
    except SqlError:
        return None


def find_repair(text: Words, known: tuple[str, ...], fault: int) -> Mistake | None:
    """Return the slip of one word whose repair lets the text be parsed beyond `fault`; `known` are words to be meant.

    Cost: a parse for each word that is tried, 0.3 ms.
    """
    if len(text.sql) > LONGEST:
        return None
    for mistake, repaired, shift in islice(chain(_misspelt(text, known, fault), _reserved(text, fault)), _MOST_TRIALS):
        reached = reach(repaired)
        if reached is None or (shift is not None and reached > fault + shift):
            return mistake
    return None


def near_word(word: str, known: tuple[str, ...]) -> str | None:
    """Return which of the `known` words a word may have been meant as: letters swapped, lost, doubled.

    >>> near_word("FORM", ("FROM", "WHERE")), near_word("ADN", ("AND",)), near_word("PRICE", ("FROM",))
    ('FROM', 'AND', None)
    """
    if word in known or len(word) < 2:
        return None
    same = [k for k in known if sorted(k) == sorted(word)]
    cutoff = 0.75 if len(word) > 3 else 0.8
    near = same or difflib.get_close_matches(word, known, n=1, cutoff=cutoff)
    return near[0] if near else None


def _misspelt(text: Words, known: tuple[str, ...], fault: int) -> Iterator[tuple[Mistake, str, int | None]]:
    """Yield repairs of misspelt words: the first of the text, and those around the place of the fault.

    Each with how far it shifts the place of the fault, which it does where it stands before it.
    """
    around = [at for at, token in enumerate(text.tokens) if token.start <= fault][-3:]
    places = sorted({0, *around, *(at + 1 for at in around[-1:])}, key=lambda at: (at not in around, at))
    for at in (at for at in places if at < len(text)):
        word = text.word(at)
        meant = _OPERATORS.get(word) or (near_word(word, known) if _PLAIN.fullmatch(word) else None)
        ends = at > 0 and text.tokens[at - 1].token_type in _ENDS
        if ends and text.tokens[at].start == fault:
            meant = meant or _CLAUSES.get(word)
        if text.word(at) == "=" and text.word(at + 1) in ("<", ">") and text.touches(at + 1):
            meant, last = text.word(at + 1) + "=", at + 1
        else:
            last = at
        if meant is not None:
            start, end = text.place(at, last)
            what = f"`{text.sql[start:end]}` was not expected here"
            repaired = f"{text.sql[:start]}{meant}{text.sql[end:]}"
            shift = len(repaired) - len(text.sql) if fault >= end else 0
            yield Mistake(what, (start, end), f"Did you mean {meant}?"), repaired, shift


def _reserved(text: Words, fault: int) -> Iterator[tuple[Mistake, str, int | None]]:
    """Yield the words in the places of names, in quotes: they may be words of SQL."""
    seen = set()
    for at, word in enumerate(text.words):
        plain = text.tokens[at].token_type is TokenType.VAR and word not in _WORDS_TOO
        if text.tokens[at].start > fault or plain or word in seen or not _PLAIN.fullmatch(word):
            continue
        if not _as_name(text, at):
            continue
        seen.add(word)
        name = f'"{word.lower()}"'
        places = [i for i, other in enumerate(text.words) if other == word and _as_name(text, i)]
        repaired = text.sql
        for i in reversed(places):
            repaired = repaired[: text.tokens[i].start] + name + repaired[text.tokens[i].end + 1 :]
        what, hint = f"`{text.written(at, at)}` is a word of SQL", f"As a name, write it in double quotes: {name}."
        yield Mistake(what, text.place(at, at), hint), repaired, None


def _as_name(text: Words, at: int) -> bool:
    """Whether a word stands where a name would: in parentheses alone, or at the side of a comparison."""
    before, behind = text.word(at - 1), text.word(at + 1)
    column = before in ("(", ",") and behind.isalpha() and behind not in ("FROM", "AS")
    inside = before in ("(", ",", "DISTINCT") and behind in (")", ",", "FROM")
    compared = behind in COMPARISONS or behind == "BETWEEN"
    return inside or column or (before in ("WHERE", "AND", "(", ".") and compared) or before == "FROM"
