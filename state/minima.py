"""A heap of minima over a row of leaves: what the trees over a layout's slots are (a2b_tree.py, best_tree.py).

    nodes   -  2  2 5  4 2 5 ABSENT      nodes[i] = min(nodes[2i], nodes[2i + 1])
    leaves             4 2 5             the second half, filled up with ABSENT to a power of two

Whoever sets a leaf mends the minima above it; here all are made, and checked. Cost: O(n).
"""

from __future__ import annotations

import numpy as np

from state.change_batch import I64
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
