"""The rows that lists hold: each different one once, counted by how often it stands in lists, and gone with the last.

    lists   1: a b c    2: b c    3: b'                 number   0 a     1 b     2 c     3 b'
                                                        counted  1       2       2       1
    b' is row b as another SELECT list shows it: rows are told apart by projection and image

An image is what a row was at a moment, as bytes (`operators/reply.py`), in the columns of a *projection*: those that a
SELECT list shows, and behind them those that its rows are ordered by. A text is made when it is asked for, and kept for
the rows that were told lately.

Invariants (`check`): 1 a row is there as often as `numbers` says; 2 projections have as many rows as they count.
Cost: 40 bytes a row beside its image; 0.5 us to enter a row again, 1.5 us a new one, 1.5 us a text.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct
from typing import NamedTuple

import numpy as np

from catalog.types.column_type import ColumnType
from operators.reply import decode_row
from overlay.answers import list_record_kernels as kernels
from overlay.arena.interner import Interned
from overlay.arena.key_interner import NumberedKeys
from overlay.arena.text_arena import cut
from overlay.delivery.row_text import RowTexts
from state.change_batch import I64
from state.distinct_numbers import distinct_numbers

_PREFIX = Struct("<I")
_REMEMBERED = 65_536
"""So many texts are kept."""


class Projection(NamedTuple):
    """Which columns an image has, and how those that are shown are written.

    images: columns, of which the first ones are shown.  types: of these.  keyed: no two rows are shown alike.
    """

    images: tuple[str, ...]
    types: tuple[ColumnType, ...]
    keyed: bool


class RowTable:
    """Rows by number. Projections have numbers too, and are there while a list counts them."""

    def __init__(self) -> None:
        self.projections: Interned[Projection] = Interned()
        self._rows = NumberedKeys()
        self._texts: dict[int, str] = {}
        self._writers: dict[Projection, RowTexts] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def find(self, projection: int, images: Sequence[bytes]) -> I64:
        """Return the number of each row, -1 where it is in no list. Cost: 0.3 us each."""
        return self._rows.find(_keys(projection, images))

    def enter(self, projection: int, images: Sequence[bytes], places: I64) -> I64:
        """Return the number of `images[place]` for each of `places`, and count it; the images are distinct."""
        return self._rows.enter(_keys(projection, images), places)

    def enter_all(self, projection: int, images: Sequence[bytes]) -> I64:
        """Return the number of each of `images`, which may stand there often, and count it."""
        places: dict[bytes, int] = {}
        place = np.array([places.setdefault(image, len(places)) for image in images], np.int64)
        return self.enter(projection, list(places), place)

    def more(self, numbers: I64) -> None:
        """Count rows that are there once more each time they stand in `numbers`."""
        self._rows.more(numbers)

    def leave(self, numbers: I64) -> None:
        """Count rows down once each time they stand in `numbers`."""
        for gone in self._rows.leave(numbers).tolist():
            self._texts.pop(gone, None)

    def records(self, numbers: I64, counts: I64, most: int) -> list[bytes]:
        """Return lists of less than `FEW_ROWS` rows as they are stored (`answers/list_record_kernels.py`).

        numbers: rows of all lists, end to end; counts: of each. b"" where a record takes more than `most`.
        Cost: 0.2 us each.
        """
        arena, size = self._rows.arena, np.empty(len(counts), np.int64)
        kernels.sizes(numbers, counts, arena.lengths, _PREFIX.size, size)
        if (size > most).any():
            short = size <= most
            following = iter(self.records(numbers[np.repeat(short, counts)], counts[short], most))
            return [next(following) if fits else b"" for fits in short.tolist()]
        out = np.empty(int(size.sum()), np.uint8)
        kernels.write(numbers, counts, arena.data, arena.starts, arena.lengths, _PREFIX.size, out)
        return cut(out.tobytes(), size)

    def images(self, numbers: I64) -> list[bytes]:
        """Return the images of rows. Cost: 0.1 us each."""
        return [key[_PREFIX.size :] for key in self._rows.keys(numbers)]

    def texts(self, numbers: I64) -> dict[int, str]:
        """Return rows as they are shown, each once, by number."""
        asked, known = distinct_numbers(numbers)[0].tolist(), self._texts
        found = {number: known[number] for number in asked if number in known}
        if len(found) < len(asked):
            missing = [number for number in asked if number not in found]
            made = self._written(missing)
            if len(self._texts) + len(made) > _REMEMBERED:
                self._texts.clear()
            self._texts |= made
            found |= made
        return found

    def _written(self, numbers: list[int]) -> dict[int, str]:
        """Return the texts of rows, written projection by projection."""
        by_projection: dict[bytes, list[tuple[int, bytes]]] = {}
        for number, key in zip(numbers, self._rows.keys(np.array(numbers, np.int64)), strict=True):
            by_projection.setdefault(key[: _PREFIX.size], []).append((number, key[_PREFIX.size :]))
        made: dict[int, str] = {}
        for prefix, rows in by_projection.items():
            writer = self._writer(self.projections.value(_PREFIX.unpack(prefix)[0]))
            shown = [decode_row(image)[: writer.width] for _, image in rows]
            made |= zip([number for number, _ in rows], writer.of_values(shown), strict=True)
        return made

    def _writer(self, projection: Projection) -> RowTexts:
        """Return what writes the rows of a projection; of those that are no more it is forgotten now and then."""
        writer = self._writers.get(projection)
        if writer is None:
            if len(self._writers) > 2 * len(self.projections):
                self._writers = {one: kept for one, kept in self._writers.items() if one in self.projections}
            writer = self._writers[projection] = RowTexts(projection.types)
        return writer

    def check(self, numbers: I64, projections: Sequence[int]) -> None:
        """Check the invariants: `numbers` are all rows of all lists, `projections` that of each list."""
        self._rows.check(numbers)
        self.projections.check(projections)
        used = np.unique(numbers)
        owners = {_PREFIX.unpack_from(key)[0] for key in self._rows.keys(used)}
        assert owners <= set(projections), (2, owners)
        assert self._texts.keys() <= set(used.tolist()), (1, self._texts)


def _keys(projection: int, images: Sequence[bytes]) -> list[bytes]:
    prefix = _PREFIX.pack(projection)
    return [prefix + image for image in images]
