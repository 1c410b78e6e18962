"""The SQL of subscriptions, exactly as written, without what they have in common.

    SELECT MIN(price) FROM stock WHERE risk BETWEEN 1 AND 3      template   'SELECT ... BETWEEN ', ' AND ', ''
                                                                 literals   1 3

A template (`catalog/template.py`) is kept once, by number; of each statement only its literals, packed
(`overlay/literal_code.py`). They stand apart by a space, and cannot be misread: a literal is a number or a quoted
string, and nothing else is in between.
There are at most `MOST_TEMPLATES`, since who writes statements that have nothing in common would make one each: what
comes when there is no room is kept whole.

Cost: 2 us to take a statement in, 3 us more to cut it; 4 us to write it again.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, zip_longest

from catalog.template import Pieces, split
from overlay.interned import Interned
from overlay.literal_code import pack, unpack

MOST_TEMPLATES = 1_024
WHOLE = -1
"""Stands for the template of a statement that is kept whole."""

Parts = tuple[str, ...]


class StatementTexts:
    """The templates of statements, counted; who has a statement keeps its template's number and its literals."""

    def __init__(self) -> None:
        self._templates: Interned[Parts] = Interned()

    def enter(self, statement: str, pieces: Pieces | None = None) -> tuple[int, bytes]:
        """Return the number of a statement's template, and its literals; WHOLE and all of it if there is no room.

        `pieces` is the statement, cut already.
        """
        parts, literals = pieces or _cut(statement)
        if len(self._templates) < MOST_TEMPLATES or parts in self._templates:
            return self._templates.enter(parts), pack(" ".join(literals))
        return WHOLE, statement.encode()

    def enter_parts(self, parts: Parts, times: int) -> int:
        """Return the number of a template that `times` statements have, for a table that is read back."""
        return self._templates.enter(tuple(parts), times)

    def leave(self, numbers: Iterable[int]) -> None:
        """Forget statements that have these templates."""
        self._templates.leave(number for number in numbers if number != WHOLE)

    def parts(self, number: int) -> Parts:
        """Return a template."""
        return self._templates.value(number)

    def text(self, number: int, literals: bytes) -> str:
        """Return the statement that `enter` gave these for."""
        return written(None if number == WHOLE else self.parts(number), literals)

    def check(self, numbers: Iterable[int]) -> None:
        """Check that templates are counted as they stand in `numbers`. Raises AssertionError."""
        self._templates.check(number for number in numbers if number != WHOLE)


def _cut(statement: str) -> Pieces:
    (parts, _), literals = split(statement)
    return parts, literals


def written(parts: Parts | None, literals: bytes) -> str:
    """Return the statement of which template and literals are left; without a template, `literals` is all of it."""
    if parts is None:
        return literals.decode()
    return "".join(chain.from_iterable(zip_longest(parts, split(unpack(literals))[1], fillvalue="")))
