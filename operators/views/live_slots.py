"""Which slots of an order have a row now: a heap of counts, over a batch's versions in that order.

    live    -  3  2 1  1 1 0 1      live[i] = live[2i] + live[2i + 1]
    slots              1 1 0 1      the second half, filled up with 0 to a power of two

Cost: to count up, O(n); to let a row come or go, or find the first or last one of a span, O(log n).
"""

from __future__ import annotations

from state.change_batch import I32
from state.kernel import kernel


@kernel
def count_up(live: I32) -> None:
    """Make the counts over the slots."""
    for node in range(len(live) // 2 - 1, 0, -1):
        live[node] = live[2 * node] + live[2 * node + 1]


@kernel
def shift(live: I32, slot: int, by: int) -> None:
    """Count a row at a slot that comes (1) or goes (-1)."""
    node = slot + len(live) // 2
    while node > 0:
        live[node] += by
        node >>= 1


@kernel
def first_live(live: I32, begin: int, end: int) -> int:
    """Return the first slot of [begin, end) with a row, or `end`."""
    size = len(live) // 2
    if begin >= end:
        return end
    node = begin + size
    if live[node] == 0:
        while True:
            while node & 1:
                node >>= 1
            if node == 0:
                return end
            node += 1
            if live[node] != 0:
                break
        while node < size:
            node *= 2
            if live[node] == 0:
                node += 1
    return min(node - size, end)


@kernel
def last_live(live: I32, begin: int, end: int) -> int:
    """Return the last slot of [begin, end) with a row, or `begin - 1`."""
    size = len(live) // 2
    if begin >= end:
        return begin - 1
    node = end - 1 + size
    if live[node] == 0:
        while True:
            while node > 1 and not node & 1:
                node >>= 1
            if node <= 1:
                return begin - 1
            node -= 1
            if live[node] != 0:
                break
        while node < size:
            node = 2 * node + 1
            if live[node] == 0:
                node -= 1
    return max(node - size, begin - 1)
