"""The terms of slots (`table/slot_rows.py`), by number: what many have agreed on is there once, and counted.

Cost: 4 bytes a slot, 200 bytes each distinct terms; 20 ns to tell the form of one of many, 1 us of one alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from catalog.sql.notify import FORMS
from overlay.arena.growable_column import widened
from overlay.arena.interner import Interned
from overlay.table.slot_rows import Terms
from state.change_batch import I32, I64, Bool
from state.distinct_numbers import distinct_numbers


class SlotTerms:
    """The column `number`, and what its numbers stand for."""

    def __init__(self) -> None:
        self.number: I32 = np.zeros(0, np.int32)
        self._terms: Interned[Terms] = Interned()

    def reserve(self, slots: int) -> None:
        """Make room for slots below `slots`."""
        self.number = widened(self.number, slots)

    def put(self, slots: I64, terms: Sequence[Terms], places: I64) -> None:
        """Write the terms of slots that have none: those of slot i are terms[places[i]]."""
        times = np.bincount(places, minlength=len(terms)).tolist()
        numbers = [self._terms.enter(*one) for one in zip(terms, times, strict=True)]
        self.number[slots] = np.array(numbers, np.int32)[places]

    def leave(self, slots: I64) -> None:
        """Forget the terms of slots."""
        self._terms.leave(self.number[slots].tolist())

    def of(self, slot: int) -> Terms:
        """Return the terms of a slot in use."""
        return self._terms.value(int(self.number[slot]))

    def value(self, number: int) -> Terms:
        """Return the terms of a number that stands in the column."""
        return self._terms.value(number)

    def forms(self, slots: I64) -> npt.NDArray[np.int8]:
        """Return in which of `catalog.sql.notify.FORMS` each of `slots` has its deliveries. Cost: 20 ns each."""
        numbers, place = distinct_numbers(self.number[slots].astype(np.int64))
        return np.array([FORMS.index(self._terms.value(one).deliver) for one in numbers.tolist()], np.int8)[place]

    def by_key(self, slots: I64) -> Bool:
        """Return whether rows of each of `slots` go by the primary key. Cost: 20 ns each."""
        numbers, place = np.unique(self.number[slots], return_inverse=True)
        return np.array([self._terms.value(one).by_key for one in numbers.tolist()], np.bool_)[place]

    def stored(self, slots: I64) -> tuple[list[Terms], I64]:
        """Return what slots have agreed on, each once, and the place of each slot's among them."""
        numbers, places = np.unique(self.number[slots], return_inverse=True)
        return [self._terms.value(number) for number in numbers.tolist()], places

    def check(self, slots: I64) -> None:
        """Check that terms are counted as `slots`, all that are in use, have them. Raises AssertionError."""
        self._terms.check(self.number[slots].tolist())
