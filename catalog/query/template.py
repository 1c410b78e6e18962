"""Templates: statements that differ only in their literals are parsed once.

    SELECT MIN(price) FROM stock WHERE risk BETWEEN 1 AND 3      parts     'SELECT ... BETWEEN ', ' AND ', ''
                                                                 literals  '1', '3'

The parts are the key, together with the kind of each literal. Three rules make the shortcut give what the parser
would have given; a statement to which one does not apply is parsed each time.

1. *Split*: unsigned numbers and quoted strings; a sign stays in the parts, where the parser judges it (`a -5`).
   A number counts only if neither a word character nor a dot touches it.
2. *Guard*, once a template: the parts hold nothing that could make the split wrong: a quote of any kind left over
   (double quotes may stand in pairs within a part), a backslash, a comment, a digit outside a name, a word
   character that touches a literal, or a character with a meaning of its own in some SQL (`@` but in `@>` and `<@`).
3. *Proof*, once a template: the statement is parsed a second time with a marker in place of each literal; with the
   markers replaced by the literals again the two trees must be equal, each marker found once. And the literals
   must be, in order, exactly the constants of the condition, and the limit.
"""

from __future__ import annotations

import re

from sqlglot import exp

from catalog.query.question import Question
from catalog.sql.errors import SqlError
from catalog.sql.statement_text import StatementText
from catalog.types.literal import LiteralKind

_LITERAL = re.compile(r"('(?:[^']|'')*'|(?<![\w.])[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.]))")
_UNSAFE = re.compile(r"['`\[\]{}:$#?\\]|(?<!<)@(?!>)|--|/\*|(?<!\w)\d")
_FIXED = (LiteralKind.BOOLEAN, LiteralKind.NULL)

Key = tuple[tuple[str, ...], tuple[bool, ...]]
"""The parts, and of each literal whether it is a quoted string."""
Pieces = tuple[tuple[str, ...], list[str]]
"""The parts, and the literals between them as written."""


def split(sql: str) -> tuple[Key, list[str]]:
    """Return the template's key and the literals as written. Cost: 2-3 us for 80 characters.

    >>> split("a = 'x' AND b < -2.5")
    ((('a = ', ' AND b < -', ''), (True, False)), ["'x'", '2.5'])
    """
    pieces = _LITERAL.split(sql)
    literals = pieces[1::2]
    return (tuple(pieces[::2]), tuple([text[0] == "'" for text in literals])), literals


def content(literal: str) -> str:
    """Return the literal's text as the parser gives it: a string without its quotes."""
    return literal[1:-1].replace("''", "'") if literal[0] == "'" else literal


def is_template(key: Key, literals: list[str], tree: exp.Expr, question: Question) -> bool:
    """Return whether every statement with this key may take the shortcut (rules 2 and 3). Cost: one parse."""
    operands = [o for o in question.constants if o.kind not in _FIXED]
    if [o.text for o in operands] != [content(text) for text in literals]:
        return False
    return guarded(key[0]) and _proven(key, literals, tree)


def guarded(parts: tuple[str, ...]) -> bool:
    """Return whether the parts hold nothing that could make the split wrong (rule 2)."""
    for i, part in enumerate(parts):
        if _UNSAFE.search(part) or part.count('"') % 2:
            return False
        if (i > 0 and part[:1] and _touches(part[0])) or (i < len(parts) - 1 and part[-1:] and _touches(part[-1])):
            return False
    return True


def _touches(character: str) -> bool:
    return character.isalnum() or character in "_.&"


def _proven(key: Key, literals: list[str], tree: exp.Expr) -> bool:
    markers = [f"'~{i}~'" if quoted else f"7{i}0007" for i, quoted in enumerate(key[1])]
    pieces = [piece for pair in zip(key[0], [*markers, ""], strict=True) for piece in pair]
    try:
        (marked,) = StatementText("".join(pieces), SqlError).statements
    except (SqlError, ValueError):
        return False
    wanted = {content(marker): content(text) for marker, text in zip(markers, literals, strict=True)}
    for node in marked.find_all(exp.Literal):
        node.set("this", wanted.pop(node.this, node.this))
    return not wanted and bool(marked == tree)
