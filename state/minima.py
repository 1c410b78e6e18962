"""A heap of minima over a row of leaves: what the trees over a layout's slots are (a2b_tree.py, best_tree.py).

    nodes   -  2  2 5  4 2 5 ABSENT      nodes[i] = min(nodes[2i], nodes[2i + 1])
    leaves             4 2 5             the second half, filled up with ABSENT to a power of two

Cost: to make or check all, O(n); to set a leaf, or find the nearest one that is low enough, O(log n).
"""

from __future__ import annotations

import numpy as np

from state.change_batch import I64
from state.kernel import kernel
from state.order_code import INT64_MAX

ABSENT = INT64_MAX


def minima(leaves: I64) -> I64:
    """Return the nodes over `leaves`, int64[2 * size], size a power of two."""
    size = 1 << max(len(leaves) - 1, 0).bit_length()
    nodes = np.full(2 * size, ABSENT)
    nodes[size : size + len(leaves)] = leaves
    level = size
    while level > 1:
        children = nodes[level : 2 * level]
        np.minimum(children[::2], children[1::2], out=nodes[level // 2 : level])
        level //= 2
    return nodes


def check_minima(nodes: I64, leaves: I64) -> None:
    """Assert that 1 all nodes are minima, and leaves beyond the last ABSENT; 2 leaves are what their owner says."""
    size = len(nodes) // 2
    stored, should = nodes[size : size + len(leaves)], minima(nodes[size:])
    assert (nodes[size + len(leaves) :] == ABSENT).all(), f"1: rows beyond the slots in {nodes[size:]}"
    assert np.array_equal(nodes[1:], should[1:]), f"1: minima {nodes}, should be {should}"
    assert np.array_equal(stored, leaves), f"2: {nodes[size:]}, owner says {leaves}"


@kernel
def set_leaf(nodes: I64, size: int, slot: int, value: int) -> None:
    """Set a leaf and mend the minima above it. `size` is half of the nodes, here and below."""
    node = size + slot
    nodes[node] = value
    node >>= 1
    while node > 0:
        low = min(nodes[2 * node], nodes[2 * node + 1])
        if nodes[node] == low:
            break
        nodes[node] = low
        node >>= 1


@kernel
def find_right(nodes: I64, size: int, slot: int, limit: int) -> int:
    """Return the first slot >= `slot` with a value <= limit, or -1."""
    node = size + slot
    if nodes[node] > limit:
        while True:
            while node & 1:
                node >>= 1
            if node == 0:
                return -1
            node += 1
            if nodes[node] <= limit:
                break
        while node < size:
            node *= 2
            if nodes[node] > limit:
                node += 1
    return node - size


@kernel
def find_left(nodes: I64, size: int, slot: int, limit: int) -> int:
    """Return the last slot <= `slot` with a value <= limit, or -1."""
    node = size + slot
    if nodes[node] > limit:
        while True:
            while not node & 1:
                node >>= 1
            if node == 1:
                return -1
            node -= 1
            if nodes[node] <= limit:
                break
        while node < size:
            node = 2 * node + 1
            if nodes[node] > limit:
                node -= 1
    return node - size
