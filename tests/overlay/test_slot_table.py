"""Columns of subscriptions: grown, freed, used again, read back."""

from __future__ import annotations

from catalog.shape import Region, Shape
from overlay.slot_table import SlotTable

SHAPE = Shape("t", "min", "m", (), None)


def test_many_slots_keep_their_columns_when_the_table_grows() -> None:
    table = SlotTable()
    for i in range(300):
        assert table.add(b"%d" % i, i, i % 3, Region(SHAPE, b"[%d]" % i, i, i + 1), f"S{i}", "c") == i
    table.check()
    assert table.region(299, SHAPE) == Region(SHAPE, b"[299]", 299, 300)
    assert [table.key(7), table.sqls[7], len(table)] == [b"7", "S7", 300]
    assert table.of_shapes([1]) == list(range(1, 300, 3)) and table.of_shapes([]) == []


def test_freed_slots_are_used_again_and_forget_everything() -> None:
    table = SlotTable()
    region = Region(SHAPE, b"[]")
    slot = table.add(b"a", 1, 0, region, "S", "c")
    table.sync(slot, 5, True, 1)
    assert table.synced(slot) and table.live == {b"a": slot} and not table.awaiting
    table.free(slot)
    assert not table.synced(slot) and table.used() == [] and len(table) == 0
    assert table.add(b"b", 2, 0, region, "S", "c") == slot
    assert (int(table.n[slot]), bool(table.known[slot]), table.waiting) == (0, False, {b"b": slot})
    table.check()


def test_changes_begin_with_id_and_version_of_who_has_the_slot_now() -> None:
    table = SlotTable()
    region = Region(SHAPE, b"[]")
    slot = table.add(b'"a', 1, 0, region, "S", "c")
    assert table.heads_for([slot])[slot] == '{"id":"\\"a","kind":"change","version":1'
    table.free(slot)
    assert table.add(b"b", 2, 0, region, "S", "c") == slot
    assert table.heads_for([slot, slot])[slot] == '{"id":"b","kind":"change","version":2'


def test_a_table_that_is_read_back_finds_its_maps_and_gaps() -> None:
    table = SlotTable()
    table.reserve(4)
    table.fill(4, b"a", 9, 0, Region(SHAPE, b"[]"), "S", "c")
    table.settle()
    table.check()
    assert table.waiting == {b"a": 4} and table.add(b"b", 10, 0, Region(SHAPE, b"[]"), "S", "c") == 0
