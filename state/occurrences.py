"""Which of its kind each number is: deliveries of a slot are counted so, one after the other.

numbers   7 3 7 7        nth   0 0 1 2        distinct   3 7        times   1 3
"""

from __future__ import annotations

import numpy as np

from state.change_batch import I64


def occurrences(numbers: I64) -> tuple[I64, I64, I64]:
    """Return which occurrence of its number each is, from 0; each different number, ascending, and how often it stands.

    Cost: O(n log n), one sort.
    """
    order = np.argsort(numbers, kind="stable")
    run = numbers[order]
    starts = np.flatnonzero(np.append(True, run[1:] != run[:-1])) if len(run) else order
    times = np.diff(starts, append=len(run))
    nth = np.empty(len(run), np.int64)
    nth[order] = np.arange(len(run)) - np.repeat(starts, times)
    return nth, run[starts], times
