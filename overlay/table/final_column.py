"""When the answers of slots become final, as columns that are there only once some answer does.

An answer about windows of a stream's event time is final as soon as the last of these has closed
(`catalog/schema/stream.py`): `at` is that moment, in microseconds since 1970, INT64_MAX for never. `told` are the slots
of which it was said; they follow their shards no more.
Cost: 9 bytes a slot once any becomes final; O(slots) in numpy to look for those that are due.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from overlay.arena.growable_column import widened
from state.change_batch import I64, Bool
from state.order_code import INT64_MAX

FINAL_ROW = np.dtype([("at", "<i8"), ("told", "?")])
"""How a slot is stored."""
FinalRows = npt.NDArray[np.void]


class FinalColumn:
    """Moments by slot; whoever frees a slot forgets its moment.

    Invariant: who was told has a moment.
    """

    def __init__(self) -> None:
        self._size = 0
        self._at: I64 = np.zeros(0, np.int64)
        self._told: Bool = np.zeros(0, np.bool_)

    def __len__(self) -> int:
        return len(self._at)

    def reserve(self, slots: int) -> None:
        """Make room for slots below `slots`."""
        self._size = max(self._size, slots)
        if len(self._at):
            self._at, self._told = widened(self._at, slots, INT64_MAX), widened(self._told, slots)

    def of(self, slots: I64) -> I64:
        """Return when slots become final."""
        return self._at[slots] if len(self._at) else np.full(len(slots), INT64_MAX)

    def told(self, slots: I64) -> Bool:
        """Whether slots are final, and it was said."""
        return self._told[slots] if len(self._at) else np.zeros(len(slots), np.bool_)

    def set(self, slots: I64, when: I64) -> None:
        """Write when slots become final."""
        if len(slots):
            self._begin()
            self._at[slots] = when

    def tell(self, slots: I64) -> None:
        """Note that it was said of slots that they are final."""
        self._told[slots] = True

    def due(self, horizon: int, versions: I64) -> I64:
        """Return the slots of which it is to be said by `horizon`, by when they became so, equal ones by version."""
        slots = ((self._at <= horizon) & ~self._told).nonzero()[0]
        return slots[np.lexsort((versions[slots], self._at[slots]))]

    def forget(self, slots: I64) -> None:
        """Let slots, which are free from here, become final never."""
        if len(self._at):
            self._at[slots], self._told[slots] = INT64_MAX, False

    def stored(self, slots: I64) -> FinalRows:
        """Return slots as they are stored; no rows where none of them becomes final."""
        if not (self.of(slots) != INT64_MAX).any():
            return np.zeros(0, FINAL_ROW)
        rows = np.zeros(len(slots), FINAL_ROW)
        rows["at"], rows["told"] = self._at[slots], self._told[slots]
        return rows

    def put_stored(self, slots: I64, rows: FinalRows) -> None:
        """Take in slots as they are stored, which have forgotten what they were."""
        if len(rows):
            self._begin()
            self._at[slots], self._told[slots] = rows["at"], rows["told"]

    def check(self) -> None:
        """Check the invariant of the class. Raises AssertionError."""
        assert not (self._told & (self._at == INT64_MAX)).any(), self._at[self._told]

    def _begin(self) -> None:
        if not len(self._at):
            self._at, self._told = np.full(self._size, INT64_MAX), np.zeros(self._size, np.bool_)
