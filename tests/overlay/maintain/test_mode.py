"""The column of ways follows from shape and policy, and is looked at again where a slot has a new subscription."""

from __future__ import annotations

import numpy as np
import pytest

from overlay.maintain.mode import EVERY, EVERY_COUNT, LATEST, LATEST_COUNT, PACKED, PUSHED, SINGLE, Ways
from overlay.subscriptions.current_answer import current_answer, is_single
from tests.overlay.edge_bench import Bench


@pytest.mark.parametrize(
    ("sql", "way"),
    [
        ("SELECT MIN(price) FROM stock", EVERY),
        ("SELECT MIN(price) FROM stock NOTIFY LATEST", LATEST),
        ("SELECT MIN(price) FROM stock NOTIFY MIN CHANGE 1", SINGLE),
        ("SELECT COUNT(*) FROM stock", EVERY_COUNT),
        ("SELECT COUNT(price) FROM stock NOTIFY LATEST", LATEST_COUNT),
        ("SELECT COUNT(*) FROM stock NOTIFY MIN CHANGE 1", SINGLE),
        ("SELECT MIN(price) FROM stock DELIVER PACKED", EVERY + PACKED),
        ("SELECT COUNT(*) FROM stock DELIVER PUSH", EVERY_COUNT + PUSHED),
        ("SELECT MIN(price) FROM stock NOTIFY LATEST DELIVER PUSH", LATEST),
        ("SELECT MIN(symbol) FROM stock", SINGLE),
        ("SELECT MIN(price), MIN(price) FROM stock", SINGLE),
        ("SELECT DISTINCT price FROM stock", SINGLE),
    ],
)
def test_ways(sql: str, way: int) -> None:
    bench = Bench()
    bench.ask(0, "a", sql)
    store = bench.edge._store
    ways = Ways(store)
    slot = store.slots.find(b"a").waiting
    assert slot is not None
    assert ways.of(np.array([slot, slot])).tolist() == [way, way]
    assert is_single(store, slot) == (way == SINGLE)


def test_a_slot_used_again_is_looked_at_again() -> None:
    bench = Bench()
    bench.live("a")
    store = bench.edge._store
    ways, slots = Ways(store), np.array([store.slots.find(b"a").live])
    assert ways.of(slots).tolist() == [EVERY]
    assert current_answer(store, int(slots[0])) == (1025,)
    bench.edge.subscription(5, b"a", None)
    bench.ask(6, "b", "SELECT COUNT(*) FROM stock")
    assert store.slots.find(b"b").waiting == slots[0]
    ways.forget(slots)
    assert ways.of(slots).tolist() == [EVERY_COUNT]
    ways.forget(np.array([10_000]))
