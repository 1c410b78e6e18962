"""Sweeps over versions: each holds in [start, end) and carries the rank of a value; when does what about them change?

    running_extremum    the least or greatest rank among those that hold
    running_totals      how many hold, and the sum of their values
    running_members     which ranks there are
    turns_by_moment     what begins and ends at each moment, for all of them

A window function cannot say the first, and a range join of moments with intervals is quadratic (for 40,000 versions:
seconds a subscription; the sweep: 10 ms). *Cost*: O(m log m) for m versions, about 1 us each.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterator
from collections.abc import Sequence as Many
from typing import TypeVar

from tidewire.verification.recompute.history import FOREVER

_Value = TypeVar("_Value")


def running_extremum(
    starts: Many[int], ends: Many[int], ranks: Many[int], *, largest: bool
) -> tuple[list[int], list[int | None]]:
    """Return when the extremum over the intervals [start, end) that hold changes, and to what.

    `starts` ascend; an end of `FOREVER` never comes. An interval that has ended is dropped when it comes to the top.

    >>> running_extremum([1, 3], [9, 5], [20, 10], largest=False)
    ([1, 3, 5, 9], [20, 10, 20, None])
    """
    sign = -1 if largest else 1
    heap: list[tuple[int, int]] = []
    seqs: list[int] = []
    places: list[int | None] = []
    answer: int | None = None
    next_start, count = 0, len(starts)
    while next_start < count or heap:
        moment = heap[0][1] if heap else FOREVER
        if next_start < count and starts[next_start] <= moment:
            moment = starts[next_start]
        if moment == FOREVER:
            break
        while next_start < count and starts[next_start] == moment:
            heapq.heappush(heap, (sign * ranks[next_start], ends[next_start]))
            next_start += 1
        while heap and heap[0][1] <= moment:
            heapq.heappop(heap)
        new = sign * heap[0][0] if heap else None
        if new != answer:
            seqs.append(moment)
            places.append(new)
            answer = new
    return seqs, places


def running_totals(starts: Many[int], ends: Many[int], units: Many[int]) -> Iterator[tuple[int, int, int]]:
    """Yield (moment, count, total) at each moment at which an interval begins or ends.

    >>> list(running_totals([1, 3], [9, 3], [20, 10]))
    [(1, 1, 20), (3, 1, 20), (9, 0, 0)]
    """
    count = total = 0
    for moment, turns in turns_by_moment(starts, ends, units):
        for sign, value in turns:
            count += sign
            total += sign * value
        yield moment, count, total


def running_members(
    starts: Many[int], ends: Many[int], ranks: Many[int]
) -> Iterator[tuple[int, frozenset[int], frozenset[int]]]:
    """Yield (moment, gone, come) whenever ranks cease or begin to be among the intervals that hold.

    >>> [(seq, set(gone), set(come)) for seq, gone, come in running_members([1, 3], [4, 4], [7, 7])]
    [(1, set(), {7}), (4, {7}, set())]
    """
    held: dict[int, int] = defaultdict(int)
    for moment, turns in turns_by_moment(starts, ends, ranks):
        before = {rank: held[rank] > 0 for _, rank in turns}
        for sign, rank in turns:
            held[rank] += sign
        gone = frozenset(rank for rank, was in before.items() if was and not held[rank])
        come = frozenset(rank for rank, was in before.items() if not was and held[rank])
        if gone or come:
            yield moment, gone, come


def turns_by_moment(
    starts: Many[int], ends: Many[int], values: Many[_Value]
) -> Iterator[tuple[int, list[tuple[int, _Value]]]]:
    """Yield each moment, in order, with what begins (1) and ends (-1) at it."""
    turns: dict[int, list[tuple[int, _Value]]] = defaultdict(list)
    for start, end, value in zip(starts, ends, values, strict=True):
        turns[start].append((1, value))
        if end != FOREVER:
            turns[end].append((-1, value))
    for moment in sorted(turns):
        yield moment, turns[moment]
