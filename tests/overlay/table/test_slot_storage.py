"""Slots that are stored and read back make the same table, whatever stood there before."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np

from overlay.table.slot_rows import Slots, parts_of, states_of
from overlay.table.slot_storage import put_slots, stored_slots
from overlay.table.slot_table import SlotTable
from tests.overlay.table.test_slot_table import add, array, compiled, sync


def test_a_table_that_is_read_back_is_the_same() -> None:
    table = SlotTable()
    for i in range(6):
        add(table, b"%d" % i, i, compiled(f"SELECT '{i}', {i} FROM t", i, i, b"[%d]" % (i % 2)), i % 2)
    sync(table, 3, 8, 4)
    table.free(array(2, 5))
    stored = stored_slots(table, table.used())
    again = SlotTable()
    put_slots(again, stored)
    again.rebuild()
    again.check()
    assert stored_slots(again, again.used()) == stored and again.find(b"3") == (3, None) and len(again) == 4
    assert add(again, b"b", 10) == 2


def test_stored_slots_replace_what_was_there() -> None:
    first, second = SlotTable(), SlotTable()
    add(first, b"a", 1, compiled("SELECT 1", group=b"[1]"))
    add(second, b"bc", 2, compiled("SELECT 'x' FROM u", group=b"[2]"))
    again = SlotTable()
    for stored in (
        stored_slots(first, array(0)),
        stored_slots(second, array(0)),
        stored_slots(second, array(0)),
        Slots(),
    ):
        put_slots(again, stored)
    again.put_freed(array(4, 1))
    again.rebuild()
    again.check()
    assert again.find(b"bc").waiting == 0 and again.find(b"a") == (None, None) and len(again) == 1
    again.put_freed(array(0))
    again.rebuild()
    again.check()
    assert len(again) == 0


def test_constants_of_filters_and_their_digests_are_read_back_and_change_no_record_without_them() -> None:
    table = SlotTable()
    add(table, b"a", 1, compiled("SELECT 1"))
    plain = msgspec.msgpack.encode(stored_slots(table, table.used()))
    asked = compiled("SELECT 2")
    add(table, b"f", 2, replace(asked, region=replace(asked.region, terms=b"\x90")))
    add(table, b"g", 3, replace(asked, region=replace(asked.region, terms=b"\x91\x90")))
    table.filters.start(array(2), array(5), np.array([6], np.uint64), np.array([7], np.uint64))
    stored = stored_slots(table, table.used())
    again = SlotTable()
    put_slots(again, stored)
    again.rebuild()
    again.check()
    assert stored_slots(again, again.used()) == stored
    assert again.filters.constants(again.used()) == [b"", b"\x90", b"\x91\x90"]
    assert [(one.constants, one.rows, one.digest) for one in states_of(stored)][2] == (b"\x91\x90", 5, (6, 7))
    assert msgspec.msgpack.encode(stored_slots(table, array(0))) == plain
    parts = list(parts_of(stored, 1))
    assert [state for part in parts for state in states_of(part)] == states_of(stored)
    assert [len(part.filters) > 0 for part in parts] == [False, True, True]
    for part in parts:
        part.check()
    old = msgspec.msgpack.encode(msgspec.structs.astuple(stored_slots(table, array(0)))[:6])
    assert msgspec.msgpack.decode(old, type=Slots) == stored_slots(table, array(0))
