"""The SQL of subscriptions, exactly as written, without what they have in common.

    SELECT MIN(price) FROM stock WHERE risk BETWEEN 1 AND 3      template   'SELECT ... BETWEEN ', ' AND ', ''
                                                                 literals   1 3

A template (`catalog/query/template.py`) is kept once, by number; of each statement only its literals, packed
(`overlay/table/literal_code.py`). They stand apart by a space, and cannot be misread: a literal is a number or a quoted
string, and nothing else is in between.
There are at most `MOST_TEMPLATES`, since who writes statements that have nothing in common would make one each: what
comes when there is no room is kept whole.

Cost: 2 us to take a statement in, 3 us more to cut it; 4 us to write one again, 0.3 us each of many.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, zip_longest

import numpy as np

from catalog.bulk.cut_statements import CutStatements
from catalog.query.template import Pieces, split
from overlay.arena.interner import Interned
from overlay.arena.text_arena import cut, sizes_of
from overlay.table.literal_code import pack, unpack
from overlay.table.literal_kernels import U8, pack_all, write_all
from state.change_batch import I64

MOST_TEMPLATES = 1_024
WHOLE = -1
"""Stands for the template of a statement that is kept whole."""

Parts = tuple[str, ...]


class StatementTexts:
    """The templates of statements, counted; who has a statement keeps its template's number and its literals."""

    def __init__(self) -> None:
        self._templates: Interned[Parts] = Interned()

    def enter(self, parts: Parts, times: int = 1) -> int:
        """Return the number of a template that `times` statements more have; WHOLE if there is no room.

        Then each of them is to be kept whole: its text in UTF-8 instead of its literals.
        """
        if len(self._templates) < MOST_TEMPLATES or parts in self._templates:
            return self._templates.enter(parts, times)
        return WHOLE

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

    def texts(self, numbers: I64, data: U8, starts: I64, sizes: I64) -> tuple[bytes, I64]:
        """Return statements end to end and the size of each, in UTF-8; their literals lie in `data`."""
        distinct, template = np.unique(numbers, return_inverse=True)
        whole = len(distinct) > 0 and int(distinct[0]) == WHOLE
        templates = [self.parts(number) for number in distinct.tolist()[whole:]]
        template = template.astype(np.int64) - whole
        parts = [part.encode() for one in templates for part in one]
        widths = sizes_of(parts)
        first = np.cumsum([0, *map(len, templates)], dtype=np.int64)
        most = np.array([*(sum(map(len, map(str.encode, one))) for one in templates), 0], np.int64)
        out, lengths = np.empty(int((most[template] + 2 * sizes).sum()), np.uint8), np.empty(len(sizes), np.int64)
        edges = np.concatenate([np.zeros(1, np.int64), np.cumsum(widths)])
        flat = np.frombuffer(b"".join(parts), np.uint8)
        write_all(data, starts, sizes, template, flat, edges, first, out, lengths)
        return out[: int(lengths.sum())].tobytes(), lengths

    def check(self, numbers: Iterable[int]) -> None:
        """Check that templates are counted as they stand in `numbers`. Raises AssertionError."""
        self._templates.check(number for number in numbers if number != WHOLE)


def packed(statement: str, pieces: Pieces | None = None) -> tuple[Parts, bytes]:
    """Return the template of a statement, and its literals. `pieces` is the statement, cut already."""
    parts, literals = pieces or _cut(statement)
    return parts, pack(" ".join(literals))


def packed_all(statements: CutStatements, rows: I64, count: int) -> list[bytes]:
    """Return the first `count` literals of each of `rows`, as `packed` does. Cost: 0.3 us each."""
    sizes = np.empty(len(rows), np.int64)
    out = np.empty(int((statements.ends - statements.starts)[rows].sum()) + 2 * len(rows), np.uint8)
    pack_all(statements.data, statements.spans, statements.first, rows, count, out, sizes)
    return cut(out[: int(sizes.sum())].tobytes(), sizes)


def _cut(statement: str) -> Pieces:
    (parts, _), literals = split(statement)
    return parts, literals


def written(parts: Parts | None, literals: bytes) -> str:
    """Return the statement of which template and literals are left; without a template, `literals` is all of it."""
    if parts is None:
        return literals.decode()
    return "".join(chain.from_iterable(zip_longest(parts, split(unpack(literals))[1], fillvalue="")))
