"""The column of modes follows from shape and policy, and is looked at again where a slot has a new subscription."""

from __future__ import annotations

import numpy as np
import pytest

from overlay.maintain.mode import Mode, Modes
from tests.overlay.edge_bench import Bench


@pytest.mark.parametrize(
    ("sql", "mode"),
    [
        ("SELECT MIN(price) FROM stock", Mode.PLAIN),
        ("SELECT MIN(price) FROM stock NOTIFY LATEST", Mode.PLAIN | Mode.LATEST),
        ("SELECT MIN(price) FROM stock NOTIFY MIN CHANGE 1", Mode.SINGLE),
        ("SELECT COUNT(*) FROM stock", Mode.COUNT),
        ("SELECT COUNT(price) FROM stock NOTIFY LATEST", Mode.COUNT | Mode.LATEST),
        ("SELECT COUNT(*) FROM stock NOTIFY MIN CHANGE 1", Mode.SINGLE),
        ("SELECT MIN(price) FROM stock DELIVER PACKED", Mode.PLAIN | Mode.PACKED),
        ("SELECT COUNT(*) FROM stock DELIVER PUSH", Mode.COUNT | Mode.PUSHED),
        ("SELECT MIN(price) FROM stock NOTIFY LATEST DELIVER PUSH", Mode.PLAIN | Mode.LATEST),
        ("SELECT MIN(symbol) FROM stock", Mode.SINGLE),
        ("SELECT MIN(price), MIN(price) FROM stock", Mode.SINGLE),
        ("SELECT DISTINCT price FROM stock", Mode.SINGLE),
        ("SELECT price FROM stock", Mode.BAG),
        ("SELECT price FROM stock WHERE risk <> 1 NOTIFY LATEST DELIVER PACKED", Mode.BAG | Mode.LATEST | Mode.PACKED),
        ("SELECT symbol FROM stock NOTIFY ENTER DELIVER PUSH", Mode.BAG | Mode.ENTER | Mode.PUSHED),
        ("SELECT * FROM stock NOTIFY TRANSITIONS", Mode.BAG | Mode.TRANSITIONS),
        ("SELECT price FROM stock ORDER BY symbol LIMIT 3", Mode.LIST),
        ("SELECT price FROM stock ORDER BY symbol LIMIT 3 NOTIFY LATEST DELIVER PUSH", Mode.LIST | Mode.LATEST),
        ("SELECT COUNT(*) FROM stock WHERE risk <> 1", Mode.COUNT),
        ("SELECT SUM(price) FROM stock WHERE risk <> 1", Mode.SINGLE),
    ],
)
def test_modes(sql: str, mode: Mode) -> None:
    bench = Bench()
    bench.ask(0, "a", sql)
    store = bench.edge._store
    modes = Modes(store)
    slot = store.slots.find(b"a").waiting
    assert slot is not None
    assert modes.of(np.array([slot, slot])).tolist() == [mode, mode]
    assert store.keeps_singly(slot) == (mode == Mode.SINGLE)


def test_a_slot_used_again_is_looked_at_again() -> None:
    bench = Bench()
    bench.live("a")
    store = bench.edge._store
    modes, slots = Modes(store), np.array([store.slots.find(b"a").live])
    assert modes.of(slots).tolist() == [Mode.PLAIN]
    assert store.answer(int(slots[0])) == (1025,)
    bench.edge.subscription(5, b"a", None)
    bench.ask(6, "b", "SELECT COUNT(*) FROM stock")
    assert store.slots.find(b"b").waiting == slots[0]
    modes.forget(slots)
    assert modes.of(slots).tolist() == [Mode.COUNT]
    modes.forget(np.array([10_000]))
