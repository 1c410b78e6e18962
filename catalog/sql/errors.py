"""Errors about a text of SQL: what is wrong, where it stands (underlined), and what would work instead."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable, Sequence

from catalog.sql.names import quoted
from state.errors import UserError

_BEFORE, _AFTER = 60, 40
_CONTROL = ("Cc", "Zl", "Zp")


class SqlError(UserError):
    """A text of SQL is refused.

    Fields: `code`; `what` (one sentence); `hint` (what would work instead, or None); `line` and `column` (from 1;
    0 if no place is known); `start` and `end` (the half-open range of the characters underlined); `message` (what
    and excerpt, for an acknowledgement that has a field of its own for the hint). `str()` is message and hint.
    """

    def __init__(
        self, code: str, what: str, sql: str = "", span: tuple[int, int] | None = None, hint: str | None = None
    ) -> None:
        self.code = code
        self.what = what
        self.hint = hint
        self.start, self.end = span if span is not None else (0, 0)
        self.line, self.column = position(sql, self.start) if span is not None else (0, 0)
        self.message = what
        if span is not None:
            self.message += f"\nline {self.line}, column {self.column}:\n{excerpt(sql, self.start, self.end)}"
        super().__init__(self.message if hint is None else f"{self.message}\n{hint}")


class CatalogError(SqlError):
    """A catalog text is refused; the catalog stays as it was."""


class SubscriptionError(SqlError):
    """A subscription is refused.

    Codes: `syntax`, `unknown_table`, `unknown_column`, `unsupported`, `unsupported_type`, `type_mismatch`, `malformed`,
    `no_cell`.
    """


class CellMissing(SubscriptionError):
    """A question over a join is right, but no cell serves its tables (yet); code `no_cell`.

    Fields: `tables`, sorted; `reason`, why the engine makes no cell for them, or ''.
    """

    def __init__(self, tables: Sequence[str], reason: str = "") -> None:
        self.tables = tuple(tables)
        self.reason = reason
        said = " and ".join(f"`{table}`" for table in self.tables)
        what = f"nothing serves joins of {said} alone" if len(self.tables) == 1 else f"nothing serves joins of {said}"
        hint = f"It begins with CREATE JOIN {', '.join(map(quoted, self.tables))} in the catalog."
        if reason:
            what, hint = f"{what}: {reason}", f"{hint} Then it is tried again."
        super().__init__("no_cell", what, hint=hint)


def position(sql: str, offset: int) -> tuple[int, int]:
    """Return line and column of the character at `offset`, both from 1."""
    before = sql[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def excerpt(sql: str, start: int, end: int) -> str:
    """Return the line that holds `start`, and below it carets under the characters [start, end) of that line.

    A long line is cut around the place. What has no width or no glyph is shown so that carets still meet their token.

    >>> print(excerpt("SELECT MIN(a)\\nFROM t", 19, 20))
      FROM t
           ^
    """
    first = sql.rfind("\n", 0, start) + 1
    last = sql.find("\n", first)
    line = sql[first : len(sql) if last < 0 else last].rstrip("\r")
    left = min(start - first, len(line))
    right = max(min(end - first, len(line)), left + 1)
    cut_left = left - _BEFORE if left > _BEFORE + 3 else 0
    cut_right = min(right, left + 2 * _AFTER) + _AFTER
    before = ("..." if cut_left else "") + _shown(line[cut_left:left])
    token = _shown(line[left:right])
    after = _shown(line[right:cut_right]) + ("..." if cut_right < len(line) else "")
    if right > cut_right:
        token, after = _shown(line[left:cut_right]), "..."
    return f"  {before}{token}{after}".rstrip() + f"\n  {' ' * _width(before)}{'^' * max(_width(token), 1)}"


def near(name: str, known: Iterable[str]) -> list[str]:
    """Return at most three of `known` that `name` may have meant, the nearest first.

    >>> near("prise", ["price", "symbol"])
    ['price']
    """
    folded = {k.lower(): k for k in sorted(known, reverse=True)}
    return [folded[m] for m in difflib.get_close_matches(name.lower()[:200], list(folded), n=3, cutoff=0.6)]


def suggestion(name: str, known: Iterable[str], what: str, limit: int = 12) -> str:
    """Return the sentence that names what `name` may have meant, or else the first `limit` of what there is."""
    names = list(known)
    if meant := near(name, names):
        return f"Did you mean {' or '.join(f'`{m}`' for m in meant)}?"
    if not names:
        return f"There is no {what} yet."
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return f"Known {what}s: {', '.join(f'`{n}`' for n in names[:limit])}{more}."


def _shown(text: str) -> str:
    return "".join(" " if c == "\t" or unicodedata.category(c) in _CONTROL else c for c in text)


def _width(text: str) -> int:
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in ("W", "F") else 1 for c in text
    )
