"""Sieve: rectangles of several channels against the boxes of several edges at once.

The boxes of all (channel, edge) pairs lie behind each other; a rectangle is compared with its channel's boxes of one
edge until it meets one. Whether a box has a group is looked up in a table of bits, boxes by groups that are named
anywhere; groups that are named nowhere share one place in it.

Cost: O(groups * log(groups named)) to look groups up; then 2 ns a comparison, at most boxes for each (rectangle, edge).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numba
import numpy as np
import numpy.typing as npt

from state.change_batch import I32, I64, Bool

if TYPE_CHECKING:
    from state.boxes import Boxes

U32 = npt.NDArray[np.uint32]
Rectangles = tuple[I64, I64, I64, I64]
"""lo_min, lo_max, hi_min, hi_max of each, closed."""


class Sieve:
    """`boxes[channel][edge]`: every channel has the same number of edges."""

    def __init__(self, boxes: Sequence[Sequence[Boxes]]) -> None:
        each = [part for row in boxes for part in row]
        groups = [group for part in each for group in part.groups]
        named = [group for group in groups if group is not None]
        edges = len(boxes[0]) if boxes else 0
        sizes = np.array([len(part) for part in each], np.int64)
        self._starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
        self._edges = edges
        self._bounds = np.concatenate([np.zeros((0, 4), np.int64), *(part.bounds for part in each)])
        self._known: U32 = np.unique(np.concatenate([np.zeros(0, np.uint32), *named]))
        self._has = np.zeros((len(groups), len(self._known) + 1), np.bool_)
        for i, group in enumerate(groups):
            self._has[i, slice(None) if group is None else np.searchsorted(self._known, group)] = True

    def meets(self, hashes: U32, channel: I32, group: I32, rectangles: Rectangles) -> Bool:
        """Return bool[edges, rectangles]: whether it meets a box of its channel that has its group."""
        met = np.zeros((self._edges, len(channel)), np.bool_)
        columns = [np.ascontiguousarray(part, np.int64) for part in rectangles]
        places = self._places(hashes)
        _sift(self._starts, self._bounds, self._has, places, channel, group, *columns, met)
        return met

    def _places(self, hashes: U32) -> I64:
        """Return the column of each group: the last one for those that no box names."""
        last = len(self._known)
        places = np.searchsorted(self._known, hashes)
        found = self._known[np.minimum(places, last - 1)] == hashes if last else np.zeros(len(hashes), np.bool_)
        return np.where(found, places, last).astype(np.int64)


@numba.njit(cache=True)
def _sift(
    starts: I64,
    bounds: I64,
    has: Bool,
    places: I64,
    channel: I32,
    group: I32,
    lo_min: I64,
    lo_max: I64,
    hi_min: I64,
    hi_max: I64,
    met: Bool,
) -> None:
    edges = met.shape[0]
    for edge in range(edges):
        for i in range(len(channel)):
            pair = channel[i] * edges + edge
            place = places[group[i]]
            for b in range(starts[pair], starts[pair + 1]):
                if (
                    lo_min[i] <= bounds[b, 1]
                    and lo_max[i] >= bounds[b, 0]
                    and hi_min[i] <= bounds[b, 3]
                    and hi_max[i] >= bounds[b, 2]
                    and has[b, place]
                ):
                    met[edge, i] = True
                    break
