"""Rows that come to bags and go from them, counted against each other until they are told.

What a record that changes many rows does to a bag is one change, and what a batch does is one to those who are told the
latest only: a row that comes and goes within is not told, and one that comes twice is told twice. Which rows are one
is said by their *names*: their texts, or those of their primary keys where rows go by it. A row that went is told as it
was at first, one that came as it came last: as they are before and after all that is netted.

    slot 7   + ["ACME","10.25"]   - ["ACME","10.25"]   + ["ACME","9.75"]      told: added ["ACME","9.75"]

Cost: 0.5 us a row that comes or goes, for each who hears of it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from state.change_batch import I64, Bool


class RowNames:
    """Rows by number, and how each is told."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._texts: tuple[list[str], list[str]] = [], []

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, name: Hashable, text: str, came: bool) -> int:
        """Return the number of the row `name`, to be told by `text` where it comes; or goes, if it is new."""
        number = self._numbers.setdefault(name, len(self._numbers))
        if number == len(self._texts[0]):
            for texts in self._texts:
                texts.append(text)
        if came:
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
    """What is left for one owner: rows by number, and how often each came (above 0) or went (below)."""

    owner: int
    rows: I64
    times: I64


@dataclass(frozen=True, slots=True)
class Nets:
    """What is left for several owners, ascending: rows and times from starts[i] up to starts[i + 1] are owners[i]'s."""

    owners: I64
    starts: I64
    rows: I64
    times: I64

    def __len__(self) -> int:
        return len(self.owners)

    def __iter__(self) -> Iterator[Net]:
        ends = self.starts.tolist()
        for owner, start, end in zip(self.owners.tolist(), ends, ends[1:], strict=False):
            yield Net(owner, self.rows[start:end], self.times[start:end])

    def of(self, which: Bool) -> Nets:
        """Return some of them."""
        sizes = np.diff(self.starts)
        rows = np.repeat(which, sizes)
        return Nets(self.owners[which], np.cumsum([0, *sizes[which]]), self.rows[rows], self.times[rows])


class RowNet:
    """Collects rows of owners, a slot each or a slot and a cause; rows have their numbers from `names`."""

    def __init__(self, names: RowNames) -> None:
        self._names = names
        self._owners: list[I64] = []
        self._rows: list[I64] = []
        self._times: list[I64] = []

    def add(self, owners: I64, rows: I64, times: I64) -> None:
        """Note that rows came to owners (`times` above 0), or went from them (below)."""
        if len(owners):
            self._owners.append(owners)
            self._rows.append(rows)
            self._times.append(times)

    def take(self) -> Nets:
        """Return what is left, without those for whom nothing is, and forget it."""
        if not self._owners:
            nothing = np.zeros(0, np.int64)
            return Nets(nothing, np.zeros(1, np.int64), nothing, nothing)
        owners, rows, times = (np.concatenate(one) for one in (self._owners, self._rows, self._times))
        self._owners, self._rows, self._times = [], [], []
        pairs, place = np.unique(owners * len(self._names) + rows, return_inverse=True)
        left = np.zeros(len(pairs), np.int64)
        np.add.at(left, place, times)
        kept = left.nonzero()[0]
        of, numbers = np.divmod(pairs[kept], len(self._names))
        starts = np.flatnonzero(np.diff(of, prepend=-1))
        return Nets(of[starts], np.append(starts, len(kept)), numbers, left[kept])
