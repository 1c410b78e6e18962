"""Slots that are stored and read back make the same table, whatever stood there before."""

from __future__ import annotations

from overlay.table.slot_rows import Slots
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
