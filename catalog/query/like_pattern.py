"""LIKE patterns that say how a text begins: 'ab%', or the whole of it: 'ab'.

What has `_`, or `%` before its end, is no interval of texts, so these are refused. So is a backslash without ESCAPE,
which escapes in PostgreSQL and stands for itself in DuckDB and in the standard. MIN, MAX and DISTINCT take no LIKE at
all; what they say to it stands in `unsupported.py`.
"""

from __future__ import annotations

import sys

from catalog.types.literal import ConstantRefused

_WILD = frozenset("%_")
_INSTEAD = "LIKE takes a text, and % at its end: LIKE 'abc%'."


class PatternRefused(ConstantRefused):
    """A pattern says more than how a text begins, or is ambiguous."""


def read_pattern(pattern: str, escape: str | None) -> tuple[str, bool]:
    """Return the text without escapes, and whether anything may follow it. Raises PatternRefused.

    >>> read_pattern("50!%%", "!"), read_pattern("ab", None)
    (('50%', True), ('ab', False))
    """
    if escape is not None and len(escape) > 1:
        raise PatternRefused(f"is compared with a pattern whose ESCAPE is {escape[:40]!r}", "Write one character.")
    body = pattern
    while body.endswith("%") and not _is_escaped(body, escape):
        body = body[:-1]
    return _unescaped(pattern, body, escape), len(body) < len(pattern)


def beyond_prefix(prefix: str) -> str | None:
    """Return the first text behind all that begin with `prefix`; None if there is none.

    >>> beyond_prefix("ab"), beyond_prefix("")
    ('ac', None)
    """
    head = prefix.rstrip(chr(sys.maxunicode))
    if not head:
        return None
    code = ord(head[-1]) + 1
    return head[:-1] + chr(0xE000 if 0xD800 <= code < 0xE000 else code)


def _is_escaped(text: str, escape: str | None) -> bool:
    """Whether the last character of a text stands behind an escape that is none itself."""
    if not escape:
        return False
    before = text[:-1]
    return (len(before) - len(before.rstrip(escape))) % 2 == 1


def _unescaped(pattern: str, body: str, escape: str | None) -> str:
    found, at = [], 0
    while at < len(body):
        character = body[at]
        if escape and character == escape:
            at += 1
            if at == len(body) or body[at] not in (*_WILD, escape):
                what = f"is compared with the pattern {pattern[:60]!r}, where {escape!r} escapes nothing"
                raise PatternRefused(what, f"Behind the escape comes %, _ or {escape}.")
            character = body[at]
        elif character in _WILD:
            shown = "a % before its end" if character == "%" else "a _"
            what = f"is compared with the pattern {pattern[:60]!r}, which has {shown}"
            raise PatternRefused(what, f"{_INSTEAD} If the character itself is meant, escape it: ESCAPE '!'.")
        elif character == "\\" and escape is None:
            what = f"is compared with the pattern {pattern[:60]!r}, which has a backslash"
            hint = "Databases differ in what it means. Write ESCAPE '\\' where it escapes, ESCAPE '' where it does not."
            raise PatternRefused(what, hint)
        found.append(character)
        at += 1
    return "".join(found)
