import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.a2b_tree import A2BTree
from state.best_tree import BestTree
from state.minima import ABSENT, check_minima, minima
from state.ordering import Layout


@given(st.lists(st.integers(0, 5) | st.just(ABSENT), max_size=9))
def test_each_node_is_the_least_below_it(leaves: list[int]) -> None:
    nodes = minima(np.array(leaves, np.int64))
    size = len(nodes) // 2
    assert nodes[size:].tolist() == leaves + [ABSENT] * (size - len(leaves))
    assert nodes[1:size].tolist() == [min(nodes[2 * i], nodes[2 * i + 1]) for i in range(1, size)]
    check_minima(nodes, np.array(leaves, np.int64))


def test_what_is_not_so_is_told() -> None:
    leaves = np.array([3, 5, 4])
    for place, value, what in ((1, 4, "1: minima"), (7, 9, "1: rows beyond"), (4, 2, "1: minima")):
        nodes = minima(leaves)
        nodes[place] = value
        with pytest.raises(AssertionError, match=what):
            check_minima(nodes, leaves)
    with pytest.raises(AssertionError, match="2: "):
        check_minima(minima(leaves), np.array([3, 5, 6]))


@pytest.mark.parametrize("kind", [A2BTree, BestTree])
def test_a_damaged_tree_stays_damaged_when_it_is_checked(kind: type[A2BTree] | type[BestTree]) -> None:
    slots, leaves = np.arange(2), np.array([3, 5])
    tree = kind(Layout(slots, slots, slots * 0, np.array([0, 2]), slots, 0), leaves)
    tree._nodes[1] = 4
    for _ in range(2):
        with pytest.raises(AssertionError, match="1: minima"):
            tree.check(leaves)
