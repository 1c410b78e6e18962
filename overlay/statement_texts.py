"""The SQL of subscriptions, exactly as written, without what they have in common.

    SELECT MIN(price) FROM stock WHERE risk BETWEEN 1 AND 3      template   'SELECT ... BETWEEN ', ' AND ', ''
                                                                 literals   1 3

A template (`catalog/template.py`) is kept once; of each statement only its literals, in an arena. They stand apart by
a space, and cannot be misread: a literal is a number or a quoted string, and nothing else is in between.
There are at most `MOST_TEMPLATES`, since who writes statements that have nothing in common would make one each: what
comes when there is no room is kept whole.

Cost: 12 bytes a statement beside its literals; 3 us to take one in, 2 us to write it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, zip_longest

import numpy as np

from catalog.template import split
from overlay.column import widened
from overlay.interned import Interned
from overlay.text_arena import TextArena, cut
from state.change_batch import I32, I64

MOST_TEMPLATES = 1_024
WHOLE = -1
"""Stands for the template of a statement that is kept whole."""

Parts = tuple[str, ...]


class StatementTexts:
    """Statements by slot."""

    def __init__(self) -> None:
        self.template: I32 = np.full(0, WHOLE, np.int32)
        self._literals = TextArena()
        self._templates: Interned[Parts] = Interned()

    def reserve(self, slots: int) -> None:
        """Make room for slots below `slots`."""
        self.template = widened(self.template, slots, WHOLE)
        self._literals.reserve(slots)

    def put(self, slots: I64, statements: Sequence[str]) -> None:
        """Take in a statement for each slot, none of which has one."""
        numbers, texts = [], []
        for statement in statements:
            (parts, _), literals = split(statement)
            if len(self._templates) < MOST_TEMPLATES or parts in self._templates:
                numbers.append(self._templates.enter(parts))
                texts.append(" ".join(literals).encode())
            else:
                numbers.append(WHOLE)
                texts.append(statement.encode())
        self.template[slots] = numbers
        self._literals.put_all(slots, texts)

    def drop(self, slots: I64) -> None:
        """Forget the statements of slots."""
        numbers = self.template[slots]
        self._templates.leave(numbers[numbers != WHOLE].tolist())
        self.template[slots] = WHOLE
        self._literals.drop(slots)

    def text(self, slot: int) -> str:
        """Return a statement. Cost: 3 us."""
        return self._written(int(self.template[slot]), self._literals.text(slot).decode())

    def texts(self, slots: I64) -> list[str]:
        """Return statements. Cost: 2 us each."""
        rows = zip(self.template[slots].tolist(), self._literals.texts(slots), strict=True)
        return [self._written(number, text.decode()) for number, text in rows]

    def stored(self, slots: I64) -> tuple[list[Parts], I32, bytes, I64]:
        """Return templates, of each slot the place of its own among them, and all literals with their sizes."""
        numbers, places = np.unique(self.template[slots], return_inverse=True)
        whole = len(numbers) > 0 and int(numbers[0]) == WHOLE
        templates = [self._templates.value(number) for number in numbers.tolist()[whole:]]
        return templates, (places - whole).astype(np.int32), *self._literals.flat(slots)

    def put_stored(self, slots: I64, templates: Sequence[Parts], places: I32, flat: bytes, sizes: I64) -> None:
        """Take in what `stored` gave, for slots none of which has a statement."""
        numbers, times = np.full(len(templates) + 1, WHOLE, np.int32), np.bincount(places + 1, minlength=1)
        for i, parts in enumerate(templates):
            if i + 1 < len(times) and times[i + 1]:
                numbers[i] = self._templates.enter(tuple(parts), int(times[i + 1]))
        self.template[slots] = numbers[places]
        self._literals.put(slots, flat, sizes)

    def _written(self, number: int, literals: str) -> str:
        return literals if number == WHOLE else written(self._templates.value(number), literals)

    def check(self, slots: I64) -> None:
        """Check that templates are counted as `slots` have them, and literals lie as they must."""
        self._literals.check()
        numbers = self.template[slots]
        self._templates.check(numbers[numbers != WHOLE].tolist())


def written(parts: Sequence[str], literals: str) -> str:
    """Return the statement of which `parts` and `literals` (apart by a space) are left."""
    pieces = zip_longest(parts, split(literals)[1], fillvalue="")
    return "".join(chain.from_iterable(pieces))


def statements_of(templates: Sequence[Parts], places: Sequence[int], flat: bytes, sizes: I64) -> list[str]:
    """Return the statements that `stored` speaks of."""
    literals = [text.decode() for text in cut(flat, sizes)]
    return [
        text if place == WHOLE else written(templates[place], text)
        for place, text in zip(places, literals, strict=True)
    ]
