"""Rows that were deleted last, by the moment in the source's log.

A database that changes a primary key is heard as a delete of the old key and a create of the new one, in one moment and
perhaps in two batches; the create does not repeat large values that did not change. So what was deleted is remembered,
the newest `LIMIT` bytes of it: the create comes right behind, unless the topic has several partitions.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

LIMIT = 262_144
"""Bytes that are remembered: at least three of the largest rows."""
_BYTES_A_COLUMN = 8
Image = list[int | str | None]
"""A row: order codes and texts by column, None for NULL."""


class Graves:
    """Moment -> row, at most `limit` bytes of rows. Cost: O(1) a row."""

    def __init__(self, stored: Iterable[tuple[bytes, Image]] = (), limit: int = LIMIT) -> None:
        self._limit = limit
        self._rows: OrderedDict[bytes, Image] = OrderedDict()
        self._bytes = 0
        for moment, image in stored:
            self.bury(moment, image)

    def bury(self, moment: bytes, image: Image) -> None:
        """Remember a row that was deleted, and forget the oldest beyond the limit."""
        self._bytes -= _size(self._rows.pop(moment, []))
        self._rows[moment] = image
        self._bytes += _size(image)
        while self._bytes > self._limit:
            self._bytes -= _size(self._rows.popitem(last=False)[1])

    def find(self, moment: bytes) -> Image | None:
        """Return the row that was deleted in a moment."""
        return self._rows.get(moment)

    def stored(self) -> list[tuple[bytes, Image]]:
        """Return all, the oldest first: a constructor's argument."""
        return list(self._rows.items())


def _size(image: Image) -> int:
    return sum(len(value.encode()) if isinstance(value, str) else _BYTES_A_COLUMN for value in image)
