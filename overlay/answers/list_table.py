"""Lists of rows in columns: the numbers of their rows (`answers/row_table.py`), end to end in one array.

    slot    first   count   room          cells   7 3 .   5   3 5 . . .
    4       0       2       3                     slot 4  6   slot 2
    6       3       1       1
    2       4       2       5

A list has `room` for as many rows as its question asks for, and keeps its place in the cells until it goes; then lists
of the same room get it. Kernels (`maintain/list_kernels.py`) change cells and counts in place.

As lists are stored: whole with each change (`answers/answer_table.py` reads them back).

Invariants (`check`): 1 lists lie in the cells apart from each other and from what is free, which is all cells; 2 rows
are counted as often as they stand in lists, and held; 3 a list has at most `room` rows.
Cost: 14 bytes a slot and 4 a row that there is room for; 0.5 us a row that is entered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain

import numpy as np

from overlay.answers.answer import ListAnswer
from overlay.answers.answer_table import MAX_MEMBER_BYTES, Bounds, list_records
from overlay.answers.list_layout import ListLayout
from overlay.answers.list_record_kernels import FEW_ROWS
from overlay.answers.row_table import RowTable
from overlay.arena.growable_column import widened
from state.change_batch import I32, I64, Bool
from state.run_places import run_places

NONE = -1


class ListTable:
    """Lists by slot; `changed` names those that have changed since it was asked last."""

    def __init__(self) -> None:
        self.rows = RowTable()
        self.cells: I32 = np.zeros(0, np.int32)
        self.first: I32 = np.zeros(0, np.int32)
        self.count: I32 = np.zeros(0, np.int32)
        self.room: I32 = np.zeros(0, np.int32)
        self.projection: I32 = np.zeros(0, np.int32)
        self._end = 0
        self._size = 0
        self._free: dict[int, list[int]] = {}
        self._dirty: set[int] = set()

    def __len__(self) -> int:
        return self._size

    def __contains__(self, slot: int) -> bool:
        return slot < len(self.first) and int(self.first[slot]) != NONE

    def are(self, slots: I64) -> Bool:
        """Whether each of `slots` has a list."""
        if not self._size:
            return np.zeros(len(slots), np.bool_)
        known = slots < len(self.first)
        known[known] = self.first[slots[known]] != NONE
        return known

    def start(self, layouts: Sequence[ListLayout], slots: I64, lists: Sequence[Sequence[bytes]]) -> None:
        """Write lists of different slots, in place of what they have; `layouts` are theirs.

        Raises ValueError for a list that is too long. Cost: 3 us each, and 0.5 us a row.
        """
        self._note(self._put(layouts, slots, lists))

    def restore(self, layouts: Sequence[ListLayout], slots: I64, lists: Sequence[Sequence[bytes]]) -> None:
        """Write lists as they are stored already."""
        self._put(layouts, slots, lists)

    def drop(self, slots: I64) -> None:
        """Forget the lists of those of `slots`, which differ, that have one."""
        mine = slots[self.are(slots)]
        if not len(mine):
            return
        numbers, _ = self.flat(mine)
        self.rows.leave(numbers)
        self.rows.projections.leave(self.projection[mine].tolist())
        for room, first in zip(self.room[mine].tolist(), self.first[mine].tolist(), strict=True):
            self._free.setdefault(room, []).append(first)
        self.first[mine], self.count[mine], self.room[mine] = NONE, 0, 0
        self._size -= len(mine)
        self._dirty.difference_update(mine.tolist())

    def flat(self, slots: I64) -> tuple[I64, I64]:
        """Return the numbers of the rows of lists, end to end, and how many each has."""
        at, counts = self._cells_of(slots)
        return self.cells[at].astype(np.int64), counts

    def _cells_of(self, slots: I64) -> tuple[I64, I64]:
        """Return where the rows of lists stand in the cells, list by list, and how many each has."""
        counts = self.count[slots].astype(np.int64)
        return run_places(self.first[slots], counts), counts

    def numbers(self, slot: int) -> I64:
        """Return the numbers of the rows of one list."""
        first = int(self.first[slot])
        return self.cells[first : first + int(self.count[slot])].astype(np.int64)

    def answer(self, slot: int) -> ListAnswer:
        """Return one list as images."""
        return ListAnswer(self.rows.images(self.numbers(slot)))

    def note(self, slots: I64) -> None:
        """Note that the lists of slots have changed."""
        self._note(slots)

    def changed(self) -> I64:
        """Return the slots of lists that have changed since the last call, ascending."""
        slots = np.array(sorted(self._dirty), np.int64)
        self._dirty = set()
        return slots

    def records(self, slots: I64, bounds: Callable[[int], Bounds | None]) -> list[tuple[int, bytes]]:
        """Return lists as they are stored; `bounds` gives those of a slot. Cost: 0.4 us each, 6 us with bounds."""
        counts = self.count[slots]
        plain = np.array([bounds(slot) is None for slot in slots.tolist()], np.bool_)
        short = slots[plain & (counts < FEW_ROWS)]
        records = self.rows.records(*self.flat(short), MAX_MEMBER_BYTES)
        if len(short) == len(slots) and all(records):
            return list(zip(slots.tolist(), records, strict=True))
        made = dict(zip(short.tolist(), records, strict=True))
        return [
            (slot, record)
            for slot in slots.tolist()
            for record in ([made[slot]] if made.get(slot) else list_records(bounds(slot), self.answer(slot)))
        ]

    def slots(self) -> I64:
        """Return the slots that have lists, ascending."""
        return np.flatnonzero(self.first != NONE)

    def _note(self, slots: I64) -> None:
        self._dirty.update(slots.tolist())

    def _put(self, layouts: Sequence[ListLayout], slots: I64, lists: Sequence[Sequence[bytes]]) -> I64:
        for layout, rows in zip(layouts, lists, strict=True):
            if len(rows) > layout.limit:
                raise ValueError(f"a list of {len(rows)} rows, expected at most {layout.limit}")
        self.drop(slots)
        self._widen(int(slots.max(initial=-1)) + 1)
        projections = [self.rows.projections.enter(layout.projection) for layout in layouts]
        self.projection[slots] = projections
        self.room[slots] = [layout.limit for layout in layouts]
        self.count[slots] = list(map(len, lists))
        self.first[slots] = [self._place(layout.limit) for layout in layouts]
        self.cells = widened(self.cells, self._end)
        self._size += len(slots)
        by_projection: dict[int, list[int]] = {}
        for i, projection in enumerate(projections):
            by_projection.setdefault(projection, []).append(i)
        for projection, which in by_projection.items():
            numbers = self.rows.enter_all(projection, list(chain.from_iterable(lists[i] for i in which)))
            at, _ = self._cells_of(slots[which])
            self.cells[at] = numbers
        return slots

    def _place(self, room: int) -> int:
        """Return where a list finds room."""
        free = self._free.get(room)
        if free:
            return free.pop()
        self._end += room
        return self._end - room

    def _widen(self, slots: int) -> None:
        self.first = widened(self.first, slots, NONE)
        self.count, self.room = widened(self.count, slots), widened(self.room, slots)
        self.projection = widened(self.projection, slots)

    def check(self, held: Sequence[int] = ()) -> None:
        """Check the invariants of the module's header; `held`: rows that are counted beside. Raises AssertionError."""
        slots = self.slots()
        assert len(slots) == self._size and set(self._dirty) <= set(slots.tolist()), (slots, self._dirty)
        assert (self.count[slots] <= self.room[slots]).all(), (3, slots)
        parts = list(zip(self.first[slots].tolist(), self.room[slots].tolist(), strict=True))
        parts += [(first, room) for room, places in self._free.items() for first in places]
        cells = [cell for first, room in parts for cell in range(first, first + room)]
        assert sorted(cells) == list(range(self._end)), (1, parts)
        numbers, _ = self.flat(slots)
        self.rows.check(np.append(numbers, np.array(held, np.int64)), self.projection[slots].tolist())
