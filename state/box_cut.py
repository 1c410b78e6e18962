"""Bulk loading: cut a set of ranges in groups into a few sets whose boxes have little empty room.

Greedy cuts (Summaries paper, offline R-tree): always the cut that lowers the cost most, by lo, by hi or by group,
until there are enough sets or no cut lowers it. A set costs about what share of the messages its box lets through:

    cost = groups of the box / all groups * (its width + E) * (its height + E)

with lo and hi scaled to [0, 1] and E for the size of the messages themselves. "No bound" is scaled to just beyond
the others. Groups are put in the order of the mean of their ranges, so that groups which ask alike stay together.
Which cut is best is decided on a sample, and what it parts are all ranges: the sets are always a partition.

Cost: O(n) a cut for the sets that are cut, and three sorts of at most `SAMPLE` ranges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from state.change_batch import I64
from state.order_code import INT64_MAX, INT64_MIN

SAMPLE = 2048
ROOM = 0.002
"""E: width and height of a message, as a share of all that is asked about."""

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Cut:
    """Ranges whose coordinate `axis` is at most `at` go to one side; `gain` is how much less the two sets cost."""

    gain: float
    axis: int = 0
    at: float = 0.0


def scaled(values: I64) -> F64:
    """Scale to [0, 1], in order; the ends of int64 stand just beyond what else there is.

    >>> scaled(np.array([INT64_MIN, 0, 10, INT64_MAX]))[[0, 3]].tolist()
    [0.0, 1.0]
    """
    numbers = values.astype(np.float64)
    inner = numbers[(values != INT64_MIN) & (values != INT64_MAX)]
    low, high = (float(inner.min()), float(inner.max())) if len(inner) else (0.0, 0.0)
    span = max(high - low, 1.0)
    result: F64 = (np.clip(numbers, low - span, high + span) - (low - span)) / (high - low + 2 * span)
    return np.minimum(result, 1.0)  # rounding may end beyond


def cut(hashes: npt.NDArray[np.uint32], lo: I64, hi: I64, limit: int) -> list[I64]:
    """Return at most `limit` sets of places: each of the n >= 1 ranges is in one."""
    x, y = scaled(lo), scaled(hi)
    points: F64 = np.column_stack((x, y, _group_ranks(hashes, x + y)))
    total = int(points[:, 2].max()) + 1
    sets = [np.arange(len(hashes))]
    cuts = [_best_cut(points, total)]
    while len(sets) < limit:
        i = max(range(len(cuts)), key=lambda place: cuts[place].gain)
        if cuts[i].gain <= 0:
            break
        left = points[sets[i], cuts[i].axis] <= cuts[i].at
        parted = [sets[i][left], sets[i][~left]]
        sets[i : i + 1] = parted
        cuts[i : i + 1] = [_best_cut(points[part], total) for part in parted]
    return sets


def _group_ranks(hashes: npt.NDArray[np.uint32], where: F64) -> I64:
    """Number the groups by the mean of `where`."""
    found, place, count = np.unique(hashes, return_inverse=True, return_counts=True)
    mean = np.bincount(place, where, len(found)) / count
    rank = np.empty(len(found), np.int64)
    rank[np.argsort(mean, kind="stable")] = np.arange(len(found))
    ranks: I64 = rank[place]
    return ranks


def _best_cut(points: F64, total: int) -> _Cut:
    points = points[:: -(-len(points) // SAMPLE)]
    whole = float(_costs(points, total)[-1])
    best = _Cut(0.0)
    for axis in range(3):
        ordered = points[np.argsort(points[:, axis], kind="stable")]
        ends = np.flatnonzero(ordered[1:, axis] > ordered[:-1, axis])
        if len(ends):
            both = _costs(ordered, total)[ends] + _costs(ordered[::-1], total)[::-1][ends + 1]
            least = int(both.argmin())
            gain = whole - float(both[least])
            if gain > best.gain:
                best = _Cut(gain, axis, float(ordered[ends[least], axis]))
    return best


def _costs(points: F64, total: int) -> F64:
    """Return the cost of the first 1, 2, ... n points."""
    extent = np.maximum.accumulate(points[:, :2]) - np.minimum.accumulate(points[:, :2]) + ROOM
    first: npt.NDArray[Any] = np.zeros(len(points), np.int64)
    first[np.unique(points[:, 2], return_index=True)[1]] = 1
    costs: F64 = extent[:, 0] * extent[:, 1] * np.cumsum(first) / total
    return costs
