"""Labels have the order of the bounds, and cuts say of every bound what its bytes say."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overlay.index.label_order import NONE, LabelOrder

keys = st.binary(max_size=2)


@given(st.lists(keys, min_size=1, max_size=20), st.lists(keys, max_size=6))
def test_closed_labels_say_what_half_open_bytes_say(bounds: list[bytes], cuts: list[bytes]) -> None:
    order = LabelOrder()
    order.add(bounds)
    order.check()
    places = np.array([*range(len(cuts)), NONE], np.int64)
    above, below = order.cuts(cuts, places, above=True), order.cuts(cuts, places, above=False)
    for bound in bounds:
        label = order.label(bound)
        assert (label >= above).tolist() == [*(bound > cut for cut in cuts), True]
        assert (label <= below).tolist() == [*(bound <= cut for cut in cuts), True]


def test_a_gap_that_is_used_up_moves_labels_and_says_so() -> None:
    order = LabelOrder()
    assert order.add([b"a", b"c"])
    held = [order.add([b"b" * (i + 1)]) for i in range(60)]
    assert not all(held) and held[:30] == [True] * 30
    order.check()


def test_ends_have_room_for_long_runs_in_order() -> None:
    order = LabelOrder()
    assert all(order.add([b"%05d" % i]) for i in range(50_000, 52_000))
    assert all(order.add([b"%05d" % i]) for i in range(49_999, 49_900, -1))


def test_bounds_are_counted() -> None:
    order = LabelOrder()
    order.add([b"a", b"a", b"b"])
    order.release(b"a")
    assert len(order) == 2
    order.release(b"a")
    assert len(order) == 1
    order.check()
