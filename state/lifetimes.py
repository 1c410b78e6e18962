"""Lifetimes: during which causes of a batch each version of a row was there.

A version is there from the cause that wrote it, up to the one that replaced or deleted it: [born, died). One that was
stored before the batch is born at -1, one that is left dies at NEVER. The example of `state/row_store.py`, each change
a cause of its own:

    change           0: a=5    1: a=7    2: delete    3: a=7         (all of the key of row 0; n = 3)
    version       0         3         4            -         6
    [born, died)  [-1, 0)   [0, 1)    [1, 2)                 [3, NEVER)

Idea: whoever asks what was there at a moment, or at the same time as something else, compares numbers and walks
nothing: a version is there after cause t if born <= t < died, and before it if born < t <= died; two of them met if the
later birth is before the earlier death.

Only versions that the batch touches are kept, so that a short batch over a long table costs what the batch has.

Invariants (`check`): 1 versions ascend. 2 A stored version was born at -1, any other at a cause. 3 born <= died; equal
where a version came and went in one cause, and never was. 4 Each was touched: it came or went in the batch.
Cost: O(m log m) for m changes, 0.2 us each; O(log m) to look one up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from state.change_batch import I32, I64
from state.distinct_numbers import places_among

STORED = -1
"""When what was stored before the batch was born."""
NEVER = 2**31 - 1
"""When what the batch leaves dies."""


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """The touched versions of one replay, ascending, and when each was born and died (causes of the batch).

    versions: int64[k].  born, died: int32[k].  rows: the versions below it were stored before the batch.
    """

    versions: I64
    born: I32
    died: I32
    rows: int

    @classmethod
    def of(cls, rows: int, before: I64, after: I64, cause: I32) -> Lifetimes:
        """Return the lifetimes of what each change found and left (`Replay`), by the number of its cause."""
        came = np.flatnonzero((before != after) & (after >= 0))
        went = np.flatnonzero((before != after) & (before >= 0))
        versions = np.union1d(after[came], before[went])
        born = np.full(len(versions), STORED, np.int32)
        died = np.full(len(versions), NEVER, np.int32)
        born[np.searchsorted(versions, after[came])] = cause[came]
        died[np.searchsorted(versions, before[went])] = cause[went]
        return cls(versions, born, died, rows)

    def at(self, versions: I64) -> tuple[I32, I32]:
        """Return when each version was born and died. One that the batch did not touch was there all the time."""
        place = places_among(self.versions, versions)
        born, died = np.append(self.born, STORED)[place], np.append(self.died, NEVER)[place]
        return born.astype(np.int32), died.astype(np.int32)

    def check(self) -> None:
        """Assert the invariants of the module's header. Cost: O(k)."""
        assert (np.diff(self.versions) > 0).all(), f"1: versions {self.versions}"
        stored = self.versions < self.rows
        assert np.array_equal(stored, self.born == STORED), f"2: {self.versions} of {self.rows} rows born {self.born}"
        assert (self.born <= self.died).all(), f"3: born {self.born}, died {self.died}"
        assert ((self.born != STORED) | (self.died != NEVER)).all(), f"4: born {self.born}, died {self.died}"
