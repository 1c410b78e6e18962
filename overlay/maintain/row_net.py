"""Rows that come to bags and go from them, counted against each other until they are told.

What a record that changes many rows does to a bag is one change, and what a batch does is one to those who are told the
latest only: a row that comes and goes within is not told, and one that comes twice is told twice. Which rows are one
is said by their *names*: their texts, or those of their primary keys where rows go by it. A row is told as it came, or
went, last.

    slot 7   + ["ACME","10.25"]   - ["ACME","10.25"]   + ["ACME","9.75"]      told: added ["ACME","9.75"]

Cost: 0.5 us a row that comes or goes, for each who hears of it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import NamedTuple

import numpy as np

from state.change_batch import I64


class RowNames:
    """Rows by number, and how each is told."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._texts: tuple[list[str], list[str]] = [], []

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, name: Hashable, text: str, came: bool) -> int:
        """Return the number of the row `name`, to be told by `text` from now on where it comes, or goes."""
        number = self._numbers.setdefault(name, len(self._numbers))
        if number == len(self._texts[0]):
            for texts in self._texts:
                texts.append(text)
        self._texts[came][number] = text
        return number

    def texts(self, numbers: I64, times: I64, came: bool) -> list[str]:
        """Return rows as they are told, as often as `times` says where that is above 0."""
        texts, pairs = self._texts[came], zip(numbers.tolist(), times.tolist(), strict=True)
        return [texts[number] for number, many in pairs for _ in range(many)]

    def clear(self) -> None:
        """Forget all of them."""
        self._numbers, self._texts = {}, ([], [])


class Net(NamedTuple):
    """What is left for one slot: rows by number, and how often each came (above 0) or went (below)."""

    slot: int
    rows: I64
    times: I64


class RowNet:
    """Collects rows of slots, which have their numbers from `names`."""

    def __init__(self, names: RowNames) -> None:
        self._names = names
        self._slots: list[I64] = []
        self._rows: list[I64] = []
        self._times: list[I64] = []

    def add(self, slots: I64, rows: I64, times: I64) -> None:
        """Note that rows came to slots (`times` above 0), or went from them (below)."""
        if len(slots):
            self._slots.append(slots)
            self._rows.append(rows)
            self._times.append(times)

    def take(self) -> Iterator[Net]:
        """Yield what is left, by slot, ascending, and forget it."""
        if not self._slots:
            return
        slots, rows, times = (np.concatenate(one) for one in (self._slots, self._rows, self._times))
        self._slots, self._rows, self._times = [], [], []
        pairs, place = np.unique(slots * len(self._names) + rows, return_inverse=True)
        left = np.zeros(len(pairs), np.int64)
        np.add.at(left, place, times)
        kept = left.nonzero()[0]
        owners, numbers = np.divmod(pairs[kept], len(self._names))
        starts = np.flatnonzero(np.diff(owners, prepend=-1))
        for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(kept)], strict=False):
            yield Net(int(owners[start]), numbers[start:end], left[kept[start:end]])
