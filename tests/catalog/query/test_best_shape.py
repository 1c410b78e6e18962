"""Shapes of first rows as they are written, and the channels that serve them."""

import pytest

from catalog.query.best_shape import BestShape
from catalog.query.channel import BestChannel, Order

ORDER = (Order("p", True, True), Order("k", False, False))


def best(limit: int) -> BestShape:
    return BestShape("t", ("k", "p"), ("a",), "x", ORDER, limit, (0,))


def test_a_key_stays_as_it_is() -> None:
    assert best(3).key == '[3,"t",["k","p"],["a"],"x",[["p",true,true],["k",false,false]],3,[0]]'
    assert (best(3).outputs, best(3).grouped) == ((), ("a",))


@pytest.mark.parametrize(
    ("limit", "most"),
    [(0, 1), (1, 1), (2, 2), (3, 5), (5, 5), (6, 10), (11, 20), (21, 50), (50, 50), (51, 100), (100, 100)],
)
def test_limits_share_few_channels(limit: int, most: int) -> None:
    assert best(limit).channels == (BestChannel("t", "best", None, ("a",), "x", ORDER, most),)
