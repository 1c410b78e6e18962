"""Filters and row changes compared one by one, value by value: what an index of filters must say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

Row = tuple[int | None, ...] | None
Box = Sequence[tuple[int, Sequence[tuple[int, int]], bool]]
Change = tuple[Row, Row]


def meets(boxes: Sequence[Box], row: Row) -> bool:
    """Whether a row meets any of the boxes; no row meets none."""
    return row is not None and any(
        all(
            null if row[column] is None else any(lo <= row[column] <= hi for lo, hi in intervals)  # type: ignore[operator]
            for column, intervals, null in box
        )
        for box in boxes
    )


class NaiveFilters:
    """Slots with their boxes, and the columns that are of interest to each."""

    def __init__(self) -> None:
        self.filters: dict[int, tuple[Sequence[Box], frozenset[int]]] = {}

    def insert(self, slot: int, boxes: Sequence[Box], interest: Iterable[int]) -> None:
        assert slot not in self.filters
        self.filters[slot] = boxes, frozenset(column & 63 for column in interest)

    def remove(self, slot: int) -> bool:
        return self.filters.pop(slot, None) is not None

    def match(self, changes: Sequence[Change], told: Sequence[int] | None = None) -> list[tuple[int, int, int]]:
        """Return (change, slot, kind) sorted; `told` are bits of columns that are said to have changed."""
        found = []
        for i, (old, new) in enumerate(changes):
            bits = told[i] if told else 0
            if old is not None and new is not None:
                differing = {c & 63 for c in range(len(old)) if old[c] != new[c]} | {
                    c for c in range(64) if bits >> c & 1
                }
            else:
                differing = set(range(64))
            for slot, (boxes, interest) in self.filters.items():
                kind = meets(boxes, old) + 2 * meets(boxes, new)
                if kind and differing & interest:
                    found.append((i, slot, kind))
        return sorted(found)


def images(
    rows: Sequence[Row], columns: int, rubbish: int = 0
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return codes, validity and presence of rows; what is not there has `rubbish` for a code."""
    codes = np.full((len(rows), columns), rubbish, np.int64)
    valid, there = np.zeros((len(rows), columns), np.bool_), np.array([row is not None for row in rows], np.bool_)
    for i, row in enumerate(rows):
        for c, value in enumerate(row or ()):
            if value is not None:
                codes[i, c], valid[i, c] = value, True
    return codes, valid, there
