"""The running answer of one subscription over one table's history: every seq at which it changed.

DuckDB selects the versions that meet the condition, each with the interval in which it held and its measure's rank;
the extremum over the intervals that hold at each moment is a sweep with a heap, in which an interval that has
ended is dropped when it comes to the top. A window function cannot say it, and a range join of moments with
intervals is quadratic (for 40,000 versions: seconds a subscription; the sweep: 10 ms).

*Cost*: one scan of the history, then O(m log m) for the m versions selected.
"""

from __future__ import annotations

import bisect
import heapq
from collections.abc import Sequence as Many
from dataclasses import dataclass, field
from typing import Any

import duckdb

from tidewire.verification.history import FOREVER, History
from tidewire.verification.question import Question, Unreadable


@dataclass(slots=True)
class Answers:
    """`values[i]` is the answer from `seqs[i]` on (JSON form); before the first it is NULL."""

    seqs: list[int] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)

    def at(self, seq: int) -> Any:
        """Return the answer after the record `seq`."""
        place = bisect.bisect_right(self.seqs, seq)
        return self.values[place - 1] if place else None

    def between(self, after: int, until: int) -> list[tuple[int, Any, Any]]:
        """Return (seq, old, new) of the changes in (after, until]."""
        low, high = bisect.bisect_right(self.seqs, after), bisect.bisect_right(self.seqs, until)
        return [(self.seqs[i], self.values[i - 1] if i else None, self.values[i]) for i in range(low, high)]


def answers_to(question: Question, history: History, rank: str, types: dict[str, str]) -> Answers:
    """Return the running answer. Raises Unreadable if DuckDB cannot run the condition over the table."""
    selection = question.selection(history.database, rank, types)
    statement = f"SELECT __from, __to, {rank} FROM ({selection}) WHERE {rank} IS NOT NULL ORDER BY __from"
    try:
        found = history.database.execute(statement).fetchnumpy()
    except duckdb.Error as error:
        raise Unreadable(str(error)) from None
    starts, ends, ranks = (found[name].tolist() for name in ("__from", "__to", rank))
    seqs, places = running_extremum(starts, ends, ranks, largest=question.aggregate == "max")
    values = history.values[question.measure]
    return Answers(seqs, [None if place is None else values[place] for place in places])


def running_extremum(
    starts: Many[int], ends: Many[int], ranks: Many[int], *, largest: bool
) -> tuple[list[int], list[int | None]]:
    """Return when the extremum over the intervals [start, end) that hold changes, and to what.

    `starts` ascend; an end of `FOREVER` never comes.

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
