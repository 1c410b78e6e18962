"""The boxes of an index of filters: what each asks for, exactly, and whose it is.

A box stands at a place, in one line of the processor's cache; the places of boxes that went are used again.

    place       0             1            2        3
    record      a in 3..4     a = 1        free     b NULL       two intervals each, the most selective ones;
    of slot     7             9                     7            everything else stands in `rest` and `bounds`
    next of 7   3                                   -            first[7] = 0

This is all that an index has to keep: its bits are made from here anew whenever they are laid out.

Invariants (`check`): 1 a place is free, or a record of a slot from whose first box its chain leads there; 2 a record
says that its slot has several boxes if and only if it has; 3 `len` is the number of slots.
Cost: 64 bytes a box, 24 a condition beyond the first two intervals, 16 an interval of those that have not just one;
4 bytes a slot. What went leaves holes in `rest` and `bounds` until the boxes move.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from state import filter_kernels as kernels
from state.change_batch import I32, I64
from state.filter_columns import MOST_CONDITIONS, CodedBox, FilterColumns
from state.filter_cuts import Cuts
from state.filter_kernels import HEAD, REST, SEVERAL, SLOT
from state.grown_column import grown
from state.read_only import read_only


class FilterBoxes:
    """Boxes by place, and the places of a slot's boxes."""

    def __init__(self) -> None:
        self.rec: I64 = np.zeros((0, 8), np.int64)
        self.rest: I64 = np.zeros((0, 3), np.int64)
        self.bounds: I64 = np.zeros((0, 2), np.int64)
        self.following: I32 = np.zeros(0, np.int32)
        self.first: I32 = np.zeros(0, np.int32)
        self.scratch: I64 = np.empty((MOST_CONDITIONS, 3), np.int64)
        """Room for the conditions of one box, which kernels use."""
        self.places = 0
        """All places are below it."""
        self._free: list[int] = []
        self._slots = 0
        self._rests = 0
        self._ends = 0

    def __len__(self) -> int:
        return self._slots

    def __contains__(self, slot: int) -> bool:
        return 0 <= slot < len(self.first) and int(self.first[slot]) >= 0

    @property
    def boxes(self) -> int:
        """How many boxes there are."""
        return self.places - len(self._free)

    @property
    def nbytes(self) -> int:
        """Bytes of all columns."""
        columns: tuple[npt.NDArray[Any], ...] = (
            self.rec, self.rest, self.bounds, self.following, self.first,
        )  # fmt: skip
        return sum(column.nbytes for column in columns)

    def slots(self) -> I64:
        """Return all slots that are in, ascending. Cost: O(greatest slot)."""
        return np.flatnonzero(self.first >= 0)

    def live(self) -> I64:
        """Return the places of all boxes, ascending. Cost: O(places)."""
        there = np.ones(self.places, np.bool_)
        there[self._free] = False
        return np.flatnonzero(there)

    def insert(self, filters: FilterColumns, cuts: Cuts) -> I64:
        """Write filters, none of whose slots is in; return the places of their boxes. Cost: 0.3 us a box.

        Raises ValueError if a slot is in, or given twice.
        """
        slots = filters.slots
        if not len(slots):
            return np.zeros(0, np.int64)
        self.first = grown(self.first, int(slots.max()) + 1, -1)
        if (self.first[slots] >= 0).any() or len(np.unique(slots)) < len(slots):
            raise ValueError("cannot insert filters: expected slots that are not in, each once; remove them first")
        places = self._take(int(filters.boxes[-1]))
        shift, more = self._ends, len(filters.bounds)
        self.bounds = grown(self.bounds, shift + more)
        self.bounds[shift : shift + more] = filters.bounds
        self._ends += more
        self.rest = grown(self.rest, self._rests + len(filters.conditions))
        given = map(read_only, (slots, filters.interest, filters.boxes, filters.starts, filters.conditions))
        self._rests = kernels.add(
            places, *given, self.bounds, shift, cuts.cuts, cuts.counts, cuts.share, self.rec, self.rest, self._rests,
            self.first, self.following, self.scratch,
        )  # fmt: skip
        self._slots += len(slots)
        return places

    def places_of(self, slot: int) -> I64:
        """Return the places of a slot's boxes."""
        places, place = [], int(self.first[slot]) if slot in self else -1
        while place >= 0:
            places.append(place)
            place = int(self.following[place])
        return np.array(places, np.int64)

    def remove(self, slot: int, places: I64) -> None:
        """Free the places of a slot's boxes."""
        self.first[slot] = -1
        self.rec[places, HEAD] = 0
        self.rec[places, SLOT] = -1
        self._free += places.tolist()
        self._slots -= 1

    def asked(self, places: I64) -> tuple[I64, I64]:
        """Return how many conditions the boxes at `places` have, and how many all of them before each: n + 1."""
        head = self.rec[places, HEAD]
        counts = (head >> 32 & 0xFF) + (head >> 40 & 0xFF)
        return counts, np.append(0, np.cumsum(counts))

    def move(self, order: I64, cuts: Cuts) -> None:
        """Write the boxes anew: the one at order[i] at place i. `order` has all of them. Cost: 0.3 us a box."""
        rests, ends = int(self.asked(order)[0].sum()), self._ends
        rec, rest = grown(self.rec[:0], len(order)), np.zeros((rests, 3), np.int64)
        bounds = np.zeros((ends, 2), np.int64)
        self._rests, self._ends = kernels.move(
            order, self.rec, self.rest, self.bounds, cuts.cuts, cuts.counts, cuts.share, rec, rest, bounds, self.scratch
        )
        place_of = np.full(self.places + 1, -1, np.int32)
        place_of[order] = np.arange(len(order), dtype=np.int32)
        self.first = place_of[self.first]
        self.following = place_of[self.following[order]]
        self.rec, self.rest, self.bounds = rec, rest[: self._rests].copy(), bounds[: self._ends].copy()
        self.places, self._free = len(order), []

    def conditions(self, place: int) -> CodedBox:
        """Return the box at a place, its conditions by column. Cost: 20 us."""
        head, box = int(self.rec[place, HEAD]), []
        for j in range(head >> 32 & 0xFF):
            lo, width = int(self.rec[place, 2 + 2 * j]), int(self.rec[place, 3 + 2 * j]) % 2**64
            box.append((head >> 16 * j & 0xFFFF, [(lo, lo + width)], False))
        begin = int(self.rec[place, REST])
        for first, a, b in self.rest[begin : begin + (head >> 40 & 0xFF)].tolist():
            many = first >> 17
            intervals = [(a, b)] if many == 1 else [(lo, hi) for lo, hi in self.bounds[a : a + many].tolist()]
            box.append((first & 0xFFFF, intervals, bool(first >> 16 & 1)))
        return sorted(box)

    def check(self) -> None:
        """Check the invariants of the module's header. Raises AssertionError. Cost: O(n)."""
        seen: list[int] = []
        for slot in self.slots().tolist():
            places = self.places_of(slot).tolist()
            for place in places:
                assert self.rec[place, SLOT] == slot, (1, slot, place, self.rec[place])
                assert bool(self.rec[place, HEAD] & SEVERAL) == (len(places) > 1), (2, slot, places)
            seen += places
        assert sorted([*seen, *self._free]) == list(range(self.places)), (1, seen, self._free)
        assert self._slots == len(self.slots()), (3, self._slots)

    def _take(self, count: int) -> I64:
        """Return free places for new boxes, first those that were used before."""
        reused = [self._free.pop() for _ in range(min(count, len(self._free)))]
        fresh = np.arange(self.places, self.places + count - len(reused))
        self.places += len(fresh)
        self.rec = grown(self.rec, self.places)
        self.following = grown(self.following, self.places)
        return np.append(np.array(reused, np.int64), fresh)
