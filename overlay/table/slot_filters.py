"""What only slots of filters have: the constants of their WHERE, and which rows answer it, as a count and a digest.

The constants are `Region.terms` (`catalog/query/shape.py`): many have the same, so they are there once, by number. Of
the rows nothing is kept but how many they are and the sum of their hashes (`state/row_digest.py`), in two lanes modulo
2**64. Slots of other shapes have no constants, NONE as their number, and cost nothing until some filter is there.

Invariants (`check`): 1 constants are counted as slots have them; 2 whoever has none has no rows and an empty digest.
Cost: 28 bytes a slot once there is a filter, 30 bytes each different constants beside their own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from overlay.arena.growable_column import widened
from overlay.arena.key_interner import NumberedKeys
from state.change_batch import I32, I64, Bool
from state.row_digest import Digest

U64 = npt.NDArray[np.uint64]
NONE = -1
FILTER_ROW = np.dtype([("constants", "<i4"), ("rows", "<i8"), ("low", "<u8"), ("high", "<u8")])
"""A slot as it is stored; `constants` is a place among those of its record, NONE where it has none."""
FilterRows = npt.NDArray[np.void]


class SlotFilters:
    """The columns `number`, `rows`, `low`, `high`; they are empty until the first filter comes."""

    def __init__(self) -> None:
        self.number: I32 = np.zeros(0, np.int32)
        self.rows: I64 = np.zeros(0, np.int64)
        self.low: U64 = np.zeros(0, np.uint64)
        self.high: U64 = np.zeros(0, np.uint64)
        self._constants = NumberedKeys()
        self._size = 0

    def __len__(self) -> int:
        """How many different constants there are: 0 only where no slot is a filter's."""
        return len(self._constants)

    def reserve(self, slots: int) -> None:
        """Make room for slots below `slots`."""
        self._size = max(self._size, slots)
        if len(self.number):
            self._widen()

    def put(self, slots: I64, constants: Sequence[bytes]) -> None:
        """Write the constants of filters' slots, which have none."""
        if not len(slots):
            return
        self._widen()
        places: dict[bytes, int] = {}
        place = np.array([places.setdefault(one, len(places)) for one in constants], np.int64)
        self.number[slots] = self._constants.enter(list(places), place)

    def leave(self, slots: I64) -> None:
        """Forget what slots have."""
        if not len(self.number):
            return
        mine = slots[self.number[slots] != NONE]
        self._constants.leave(self.number[mine].astype(np.int64))
        self.number[mine], self.rows[mine], self.low[mine], self.high[mine] = NONE, 0, 0, 0

    def are(self, slots: I64) -> Bool:
        """Whether each of `slots` is a filter's."""
        return self.number[slots] != NONE if len(self.number) else np.zeros(len(slots), np.bool_)

    def constants(self, slots: I64) -> list[bytes]:
        """Return the constants of slots, b"" where they have none. Cost: 0.2 us each."""
        texts, mine = [b""] * len(slots), self.are(slots).nonzero()[0]
        for place, text in zip(mine.tolist(), self._texts(slots[mine]), strict=True):
            texts[place] = text
        return texts

    def sizes(self, slots: I64) -> I64:
        """Return how many bytes the constants of each slot have."""
        sizes, mine = np.zeros(len(slots), np.int64), self.are(slots).nonzero()[0]
        if len(mine):
            sizes[mine] = self._constants.size(self.number[slots[mine]].astype(np.int64))
        return sizes

    def digest(self, slot: int) -> Digest:
        """Return count and digest of a filter's rows."""
        return Digest(int(self.rows[slot]), int(self.low[slot]), int(self.high[slot]))

    def start(self, slots: I64, rows: I64, low: U64, high: U64) -> None:
        """Write how many rows filters have, and their digest."""
        self.rows[slots], self.low[slots], self.high[slots] = rows, low, high

    def add(self, slots: I64, rows: I64, low: U64, high: U64) -> I64:
        """Add to the counts and digests of filters' slots, which may stand there often; return them, each once.

        Cost: O(n log n).
        """
        if not len(slots):
            return slots
        order = np.argsort(slots, kind="stable")
        run = slots[order]
        starts = np.flatnonzero(np.append(True, run[1:] != run[:-1]))
        distinct = run[starts]
        self.rows[distinct] += np.add.reduceat(rows[order], starts)
        self.low[distinct] += np.add.reduceat(low[order], starts)
        self.high[distinct] += np.add.reduceat(high[order], starts)
        return distinct

    def stored(self, slots: I64) -> tuple[FilterRows, list[bytes]]:
        """Return slots as they are stored, and their different constants; no rows where none is a filter's."""
        mine = self.are(slots)
        if not mine.any():
            return np.zeros(0, FILTER_ROW), []
        rows = np.zeros(len(slots), FILTER_ROW)
        numbers, places = np.unique(self.number[slots[mine]], return_inverse=True)
        rows["constants"] = NONE
        rows["constants"][mine] = places
        rows["rows"], rows["low"], rows["high"] = self.rows[slots], self.low[slots], self.high[slots]
        return rows, self._constants.keys(numbers.astype(np.int64))

    def put_stored(self, slots: I64, rows: FilterRows, constants: Sequence[bytes]) -> None:
        """Take in what `stored` gave, for slots that have nothing."""
        mine = (rows["constants"] != NONE).nonzero()[0]
        self.put(slots[mine], [constants[place] for place in rows["constants"][mine].tolist()])
        if len(mine):
            self.start(slots[mine], rows["rows"][mine], rows["low"][mine], rows["high"][mine])

    def _texts(self, slots: I64) -> list[bytes]:
        return self._constants.keys(self.number[slots].astype(np.int64)) if len(slots) else []

    def _widen(self) -> None:
        self.number = widened(self.number, self._size, NONE)
        self.rows = widened(self.rows, self._size)
        self.low, self.high = widened(self.low, self._size), widened(self.high, self._size)

    def check(self, slots: I64) -> None:
        """Check the invariants of the module's header for `slots`, all that are in use. Raises AssertionError."""
        mine = self.are(slots)
        self._constants.check(self.number[slots[mine]].astype(np.int64))
        others = np.ones(len(self.number), np.bool_)
        others[slots[mine]] = False
        for column, nothing in ((self.number, NONE), (self.rows, 0), (self.low, 0), (self.high, 0)):
            assert (column[others] == nothing).all(), (2, column, others)
