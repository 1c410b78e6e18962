"""The naive twin of `operators.range_extremum`: a dict of rows, and every answer recomputed from scratch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from catalog.shape import Shape

Scalar = int | str | None
Row = Mapping[str, Scalar]

KEEP = "keep"
"""Stands for an absent member of a row in a table with absent = 'keep'."""


class NaiveRangeExtremum:
    """Rows by primary key; NULLs as SQL has them. Cost: O(rows) an answer."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = tuple(columns)
        self.rows: dict[bytes, dict[str, Scalar]] = {}

    def change(self, key: bytes, row: Row | None) -> None:
        """Put `row` in the place of the row called `key`; None deletes it."""
        old = self.rows.pop(key, None)
        if row is not None:
            stored = old or dict.fromkeys(self._columns)
            self.rows[key] = {name: stored[name] if row[name] == KEEP else row[name] for name in self._columns}

    def answer(self, shape: Shape, group: bytes, lo: int, hi: int) -> int | None:
        """Return MIN or MAX of the measure over the rows of the group with lo <= range attribute <= hi."""
        wanted = msgspec.json.decode(group)
        values = [
            row[shape.measure]
            for row in self.rows.values()
            if [row[name] for name in shape.equal] == wanted and _within(row, shape.range, lo, hi)
        ]
        numbers = [value for value in values if isinstance(value, int)]
        best = min if shape.aggregate == "min" else max
        return best(numbers) if numbers else None


def _within(row: Row, attribute: str | None, lo: int, hi: int) -> bool:
    if attribute is None:
        return True
    x = row[attribute]
    return isinstance(x, int) and lo <= x <= hi
