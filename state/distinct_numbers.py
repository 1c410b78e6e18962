"""The different ones of many numbers, without sorting where they are small: numbers of groups, causes, texts.

    numbers   7 3 7 5        distinct   3 5 7        place   2 0 2 1

Cost: O(numbers + greatest), 2 ns a number, where they are below some thousands, or up to some thirty times as large as
they are many; else that of np.unique.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from state.change_batch import I64

_FEW_TIMES = 32
_FEW = 8_192


def distinct_numbers(numbers: I64, end: int | None = None) -> tuple[I64, I64]:
    """Return the different ones of `numbers`, ascending, and the place of each number among them.

    numbers: from 0 on and below `end`, where that is known.

    >>> [column.tolist() for column in distinct_numbers(np.array([7, 3, 7, 5]))]
    [[3, 5, 7], [2, 0, 2, 1]]
    """
    below = int(numbers.max(initial=-1)) + 1 if end is None else end
    if below > _FEW_TIMES * len(numbers) + _FEW:
        distinct, place = np.unique(numbers, return_inverse=True)
        return distinct, place
    there = np.zeros(below, np.bool_)
    there[numbers] = True
    distinct = there.nonzero()[0]
    place_of = np.empty(below, np.int64)
    place_of[distinct] = np.arange(len(distinct))
    return distinct, place_of[numbers]


def numbered_rows(columns: Sequence[I64]) -> I64:
    """Return a number for each row of some columns of numbers from 0 on: equal where all of these are.

    Cost: that of `distinct_numbers`, once or twice a column.

    >>> numbered_rows([np.array([7, 3, 7, 7]), np.array([0, 0, 9, 0])]).tolist()
    [1, 0, 2, 1]
    """
    number = distinct_numbers(columns[0])[1]
    for column in columns[1:]:
        used, place = distinct_numbers(column)
        number = distinct_numbers(number * len(used) + place)[1]
    return number


def places_among(distinct: I64, numbers: I64) -> I64:
    """Return the place of each number among `distinct` ones, which ascend from 0 on; -1 for one that is not there.

    Cost: O(distinct + numbers log distinct).
    """
    place = np.searchsorted(distinct, numbers)
    return np.where((np.append(distinct, -1)[place] == numbers) & (numbers >= 0), place, -1)
