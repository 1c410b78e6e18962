"""Terms of many filters as flat arrays, without an object for each: what an index of filters takes.

    terms       [[0, [[3, 5]], false], [2, [], true]]    a box of two conditions
    boxes       0  1
    starts      0  2
    conditions  (0, one interval, 3, 5) (2, NULL)        columns by their places in the shape's `tested`

The layout is that of `state/filter_columns.py`, but for columns, which are places until `numbered` has put numbers in
their stead. Filters that compare texts or wide decimals are not taken, nor is what `decode_terms` refuses: they have no
boxes here, and are for that to read.

Cost: 0.3 us a filter of a few columns, and 0.1 us to lay its bytes out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from catalog.bulk import term_kernels as kernels
from state.change_batch import I64, Bool
from state.filter_columns import U64, FilterColumns

_PLACE = 2**kernels.NULL - 1


@dataclass(frozen=True, slots=True)
class TermColumns:
    """n filters, of which those are here that are `taken`; the other arrays are as in `FilterColumns`."""

    taken: Bool
    boxes: I64
    starts: I64
    conditions: I64
    bounds: I64

    @classmethod
    def of(cls, terms: Sequence[bytes]) -> TermColumns:
        """Read terms, as `encode_terms` writes them."""
        data, n = np.frombuffer(b"".join(terms), np.uint8), len(terms)
        ends = np.zeros(n + 1, np.int64)
        np.cumsum(np.fromiter(map(len, terms), np.int64, n), out=ends[1:])
        room, taken, boxes = len(data), np.zeros(n, np.bool_), np.zeros(n + 1, np.int64)
        starts = np.zeros(room + 2, np.int64)
        conditions, bounds = np.empty((room // 4 + 1, 3), np.int64), np.empty((room // 3 + 1, 2), np.int64)
        box, row, used = kernels.read(data, ends, taken, boxes, starts, conditions, bounds)
        return cls(taken, boxes, starts[: box + 1].copy(), conditions[:row].copy(), bounds[:used].copy())

    @property
    def places(self) -> I64:
        """The place of each condition's column."""
        places: I64 = self.conditions[:, 0] & _PLACE
        return places

    @property
    def owners(self) -> I64:
        """Which filter each condition is of."""
        of_box = np.repeat(np.arange(len(self.taken)), np.diff(self.boxes))
        return np.repeat(of_box, np.diff(self.starts))

    def numbered(self, slots: I64, interest: U64, numbers: I64, shape: I64) -> FilterColumns:
        """Return those that have boxes as filters of an index, with columns numbered: numbers[shape[i], place]."""
        conditions = self.conditions.copy()
        conditions[:, 0] += numbers[shape[self.owners], self.places] - self.places
        has = np.diff(self.boxes) > 0
        boxes = np.append(self.boxes[:-1][has], self.boxes[-1])
        return FilterColumns(slots[has], interest[has], boxes, self.starts, conditions, self.bounds)


def warm() -> None:
    """Compile or load the kernels, and refuse to compile them again. Cost: 3 s where no cache is, else 50 ms."""
    TermColumns.of([b"\x90"])
    for kernel in kernels.ENTRIES:
        if hasattr(kernel, "disable_compile"):
            kernel.disable_compile()
