"""Which edges have an interval that a number lies in: a stabbing query for many numbers and a few edges at once.

    edge 0   [1, 4] [3, 6]        from  1  3  5  7  8           number 5 stands behind 3 of these bounds
    edge 1   [5, 7]               held  01 01 11 10 -           where edges 0 and 1 hold it

The bounds of all edges cut the line; between two of them the same edges hold every number, so that a query is one
binary search. Edges are bits: edge e is bit e % 64 of word e // 64.

Cost: O(bounds * edges) to set up, 0.1 ms for 256 intervals of 16 edges; 30 ns a number.
Source: the stabbing query of the Joins paper (3.1.1). It clusters subscriptions; edges are so few that all bounds do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from state.change_batch import I64
from state.order_code import INT64_MAX

WORD = 64
U64 = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class StabbedEdges:
    """held: uint64[bounds + 1, words], who holds what stands behind so many of the ascending `bounds`."""

    bounds: I64
    held: U64

    @classmethod
    def of(cls, edge: I64, lo: I64, hi: I64, words: int) -> StabbedEdges:
        """Return who holds what; interval i is [lo[i], hi[i]], closed, of edge[i] < 64 * `words`."""
        ends = hi < INT64_MAX
        bounds = np.unique(np.concatenate([lo, hi[ends] + 1]))
        count = np.zeros((len(bounds) + 1, words * WORD), np.int32)
        np.add.at(count, (np.searchsorted(bounds, lo) + 1, edge), 1)
        np.add.at(count, (np.searchsorted(bounds, hi[ends] + 1) + 1, edge[ends]), -1)
        return cls(bounds, words_of(np.cumsum(count, axis=0) > 0))

    def at(self, numbers: I64) -> U64:
        """Return uint64[numbers, words]: the edges that hold each number."""
        return self.held[np.searchsorted(self.bounds, numbers, side="right")]


def words_of(bits: npt.NDArray[np.bool_]) -> U64:
    """Return bool[rows, 64 * words] as uint64[rows, words]."""
    return np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64, copy=False)
