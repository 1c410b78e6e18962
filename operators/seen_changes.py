"""The changes of a batch that needed columns show, and the versions that they found and left.

A change whose images agree in all needed columns is none to whoever asks: the version before it lives on, under its own
number, while the store has the new image.

    change          0: a=5     1: note      2: a=7          needed: a; row 0 of n = 3 rows
    replay          0 -> 3     3 -> 4       4 -> 5
    seen            0 -> 3                  3 -> 5          4 is another image of 3

Exact: versions that agree in what is needed meet the same conditions, join the same rows and are shown alike.
Cost: O(m) for m changes and each needed column, 10 ns; lifetimes as `state/lifetimes.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from state.change_batch import I64, Bool
from state.distinct_numbers import places_among
from state.lifetimes import Lifetimes
from state.row_store import Replay


@dataclass(frozen=True, slots=True)
class SeenChanges:
    """k seen changes of one table, in order.

    index: int64[k], which changes of the batch.  before, after: int64[k], versions, -1 for none.
    lives: when the versions were there, by numbers of changes.  fresh: the versions that the batch brought, ascending.
    """

    index: I64
    before: I64
    after: I64
    lives: Lifetimes
    fresh: I64
    _images: tuple[I64, I64]

    def __len__(self) -> int:
        return len(self.index)

    @classmethod
    def of(cls, replay: Replay, needed: Sequence[int], number: I64) -> SeenChanges:
        """Return the changes that the columns `needed` show; `number` has that of each change of the batch."""
        before, after = replay.before, replay.after
        silent = _agree(replay, needed, before, after)
        index = np.flatnonzero((before != after) & ~silent)
        images = before[silent], after[silent]
        found, left = _first_images(*images, before[index]), after[index]
        lives = Lifetimes.of(replay.rows, found, left, number[index].astype(np.int32))
        return cls(index, found, left, lives, lives.versions[lives.versions >= replay.rows], images)

    def first_images(self, versions: I64) -> I64:
        """Return of each version the first one that it is an image of, as far as needed columns show."""
        return _first_images(*self._images, versions)


def _agree(replay: Replay, needed: Sequence[int], before: I64, after: I64) -> Bool:
    """Return which changes left another image of a row that was there, alike in all needed columns."""
    agree = (before != after) & (before >= 0) & (after >= 0)
    both = np.flatnonzero(agree)
    old, new = before[both], after[both]
    for column in needed:
        codes, valid = replay.codes[column], replay.valid[column]
        agree[both] &= (codes[old] == codes[new]) & (valid[old] == valid[new])
    return agree


def _first_images(old: I64, new: I64, versions: I64) -> I64:
    """Return of each version the first one that it is an image of: new[i], ascending, is another one of old[i]."""
    if not len(new):
        return versions
    first = old
    while True:  # each turn doubles the steps that are taken at once
        place = places_among(new, first)
        if (place < 0).all():
            break
        first = np.where(place < 0, first, first[place])
    place = places_among(new, versions)
    return np.where(place < 0, versions, first[place])
