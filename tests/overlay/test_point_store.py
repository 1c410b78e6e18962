"""Points and the slots on them, without a kernel: what removal and chains do to the links."""

from __future__ import annotations

import numpy as np

from overlay.point_store import PointStore
from overlay.subscription_index import SubscriptionIndex


def filled() -> PointStore:
    index = SubscriptionIndex(small=10)
    lo = np.array([1, 1, 2, 3])
    index.insert(np.arange(4), np.zeros(4, np.int64), [b""] * 4, lo, lo)
    return index._store


def test_slots_come_off_their_point_and_the_last_frees_it() -> None:
    store = filled()
    point = store.point_of(0)
    assert store.point_of(1) == point and store.slots_of(point) == [1, 0]
    assert store.unhang(1) == -1 and store.unhang(0) == point
    store.drop(point)
    store.check()
    assert store.point_of(0) == -1 and store.point_of(999) == -1


def test_a_chain_can_be_taken_apart_and_put_together() -> None:
    store = filled()
    points = store.unchain(0)
    assert len(points) == 3 and store.chain(0) == []
    store.rechain(0, points[::-1].copy())
    assert store.chain(0) == points[::-1].tolist()
    store.check()


def test_room_is_made_without_losing_what_is_there() -> None:
    store = filled()
    before = [store.point_of(slot) for slot in range(4)]
    store.reserve(1_000, 1_000, 500)
    assert int(store.free[1]) >= 1_000 and [store.point_of(slot) for slot in range(4)] == before
    store.check()
