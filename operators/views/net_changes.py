"""What each cause does to the rows of an input, net: one change a row, from what it found to what it left.

    changes    cause 0: a 1 -> 2    cause 1: b - -> 3    a 2 -> -    b 3 -> 4    cause 2: b 4 -> 4
    net        0: a 1 -> 2          1: b - -> 4    a 2 -> -

Cost: 5 ns a change.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np

from operators.views.view_operator import Input
from state.change_batch import I32, I64


@numba.njit(cache=True)
def _net(cause: I32, entry: I32, before: I64, after: I64, place: I64, first: I64, last: I64) -> int:
    """Write the first and the last change of each entry in each cause, by first change; return how many there are."""
    count = 0
    for i in range(len(cause)):
        at = place[entry[i]]
        if at < 0 or cause[first[at]] != cause[i]:
            at = place[entry[i]] = count
            first[count] = i
            count += 1
        last[at] = i
    return count


ENTRIES = (_net,)
"""The kernels that are called from Python."""


@dataclass(frozen=True, slots=True)
class NetChanges:
    """k changes of rows, by cause; at most one of each row in each cause.

    cause: int32[k].  entry: int32[k], the row (`Replay.entry`).  before, after: int64[k], versions, -1 for no row.
    """

    cause: I32
    entry: I32
    before: I64
    after: I64

    @classmethod
    def of(cls, given: Input) -> NetChanges:
        """Return what the causes of a batch do to an input's rows."""
        replay, cause = given.view.replay, given.cause.astype(np.int32)
        before, after, entry = replay.before, replay.after, replay.entry
        if (cause[1:] == cause[:-1]).any():
            first, last = np.empty(len(cause), np.int64), np.empty(len(cause), np.int64)
            place = np.full(len(replay.current), -1, np.int64)
            count = _net(cause, entry, before, after, place, first, last)
            first, last = first[:count], last[:count]
            cause, entry, before, after = cause[first], entry[first], before[first], after[last]
        differ = np.flatnonzero(before != after)
        return cls(cause[differ], entry[differ], before[differ], after[differ])

    @property
    def columns(self) -> I64:
        """int64[3, k], cause, before and after, as kernels take them."""
        return np.stack([self.cause.astype(np.int64), self.before, self.after])

    def __len__(self) -> int:
        return len(self.cause)
