"""Points of chains and the slots on them, without a kernel: what removal and chains do to the links."""

from __future__ import annotations

import numpy as np
import pytest

from overlay.index.index_kernels import HEAD
from overlay.index.point_store import PointStore
from overlay.index.subscription_index import SubscriptionIndex


def filled(small: int = 10) -> SubscriptionIndex:
    index = SubscriptionIndex(small=small)
    lo = np.array([1, 1, 2, 3])
    index.insert(np.arange(4), np.zeros(4, np.int64), [b""] * 4, np.zeros(4, np.int64), lo, lo)
    return index


def unhang(store: PointStore, slot: int) -> int:
    return store.unhang(slot, store.links[:, HEAD])


def test_slots_come_off_their_point_and_the_last_frees_it() -> None:
    store = filled()._store
    point = store.place_of(0)
    assert store.place_of(1) == point and store.slots_from(1) == [1, 0]
    assert unhang(store, 1) == -1 and unhang(store, 0) == point
    store.drop(0, point)
    store.check({})
    assert store.bunch_of(0) == -1 and store.bunch_of(999) == -1


@pytest.mark.parametrize("gone", [0, 1, 2])
def test_a_slot_in_any_place_comes_off_and_the_others_stay(gone: int) -> None:
    index = SubscriptionIndex()
    index.insert(np.arange(3), np.zeros(3, np.int64), [b""] * 3, np.zeros(3, np.int64), np.full(3, 7), np.full(3, 9))
    store = index._store
    point = store.place_of(gone)
    assert unhang(store, gone) == -1
    left = [slot for slot in (2, 1, 0) if slot != gone]
    assert store.slots_from(left[0]) == left and [store.place_of(slot) for slot in left] == [point, point]
    store.check({})


def test_a_chain_can_be_taken_apart_and_put_together() -> None:
    index = filled()
    store = index._store
    chain = store.chain(0)
    points = store.unchain(0)
    assert points.lo.tolist() == [3, 2, 1] and points.head.tolist() == [3, 2, 1] and store.chain(0) == []
    store.rechain(0, points)
    assert sorted(store.chain(0)) == sorted(chain) and [index.point(slot)[0] for slot in range(4)] == [1, 1, 2, 3]
    store.check({})


def test_room_is_made_without_losing_what_is_there() -> None:
    store = filled()._store
    before = [store.place_of(slot) for slot in range(4)]
    store.reserve(1_000, 500)
    store.reserve_points(1_000)
    assert int(store.free[1]) >= 1_000 and [store.place_of(slot) for slot in range(4)] == before
    store.check({})


def test_points_of_trees_take_no_room_here() -> None:
    index = SubscriptionIndex()
    every, zeros = np.arange(9_000), np.zeros(9_000, np.int64)
    index.insert(every, zeros, [b""] * 9_000, zeros, every, every)
    assert len(index._store.xy) <= 128
    index.check()
