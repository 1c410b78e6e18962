"""Stored subscriptions: cut to size, each part readable alone."""

from __future__ import annotations

from decimal import Decimal

import msgspec
import numpy as np

from catalog.query.compiler import Compiled
from catalog.query.shape import Output, Region, Shape
from catalog.sql.notify import Notify
from overlay.table.slot_rows import ROW, Slots, parts_of, states_of
from overlay.table.slot_storage import stored_slots
from overlay.table.slot_table import SlotTable
from tests.overlay.arrivals import newcomers

SHAPE = Shape("t", (Output("min", "m"),), ("g",), None)
POLICIES = [Notify("every"), Notify("min_change", Decimal("0.5"), True)]


def many(count: int, size: int = 10) -> Slots:
    table = SlotTable()
    regions = [Region(SHAPE, b'["%d"]' % (i % 50), i, i + 1) for i in range(count)]
    what = [
        Compiled(region, (None,), "c", f"SELECT {'x' * (i % 4)} FROM t WHERE g = '{'y' * size}{i}'", POLICIES[i % 2])
        for i, region in enumerate(regions)
    ]
    table.add(newcomers(*((b"id-%d" % i, i, one) for i, one in enumerate(what))), np.zeros(count, np.int64))
    return stored_slots(table, table.used())


def test_parts_are_small_and_say_the_same() -> None:
    slots = many(2_000)
    parts = [msgspec.msgpack.decode(msgspec.msgpack.encode(part), type=Slots) for part in parts_of(slots, 30_000)]
    assert len(parts) > 5 and max(len(msgspec.msgpack.encode(part)) for part in parts) <= 30_000
    assert [state for part in parts for state in states_of(part)] == states_of(slots)
    assert len(slots) == 2_000 and states_of(slots)[3].terms.notify == POLICIES[1]


def test_one_that_is_too_large_stands_alone() -> None:
    assert [len(part) for part in parts_of(many(3, 5_000), 1_000)] == [1, 1, 1]
    assert list(parts_of(Slots(), 10)) == [] and states_of(Slots()) == []


def test_a_row_is_as_wide_as_said() -> None:
    assert ROW.itemsize == 82 and np.zeros(3, ROW).nbytes == 3 * 82
