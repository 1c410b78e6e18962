"""Columns of subscriptions: grown, freed, used again, found."""

from __future__ import annotations

import numpy as np

from catalog.query.compiler import Compiled
from catalog.query.shape import Output, Region, Shape
from catalog.sql.notify import Notify
from overlay.table.slot_table import NONE, SlotTable
from state.change_batch import I64
from state.order_code import INT64_MAX
from tests.overlay.arrivals import newcomers

SHAPE = Shape("t", (Output("min", "m"),), (), None)
LATEST = Notify("latest")


def compiled(sql: str = "S", lo: int | bytes = 0, hi: int | bytes = 9, group: bytes = b"[]") -> Compiled:
    return Compiled(Region(SHAPE, group, lo, hi), (None,), "c", sql, LATEST)


def add(table: SlotTable, key: bytes, version: int, what: Compiled | None = None, shape: int = 0) -> int:
    return int(table.add(newcomers((key, version, what or compiled())), array(shape))[0])


def array(*slots: int) -> I64:
    return np.array(slots, np.int64)


def sync(table: SlotTable, slot: int, value: int = 5, n: int = 1) -> None:
    table.sync(array(slot), array(value), array(1) > 0, array(n))


def test_many_slots_keep_their_columns_when_the_table_grows() -> None:
    table = SlotTable()
    for start in range(0, 3_000, 300):
        rows = range(start, start + 300)
        what = [compiled(f"SELECT {i} FROM t", i, i + 1, b"[%d]" % (i % 7)) for i in rows]
        many = newcomers(*((b"%d" % i, i, one) for i, one in zip(rows, what, strict=True)))
        assert table.add(many, array(*(i % 3 for i in rows))).tolist() == list(rows)
    table.check()
    assert (table.groups_of(array(2_999)), table.lo[2_999], table.hi[2_999]) == ([b"[3]"], 2_999, 3_000)
    assert [table.key(7), table.sql(7), table.terms.of(7).cost, table.terms.of(7).notify] == [
        b"7",
        "SELECT 7 FROM t",
        "c",
        LATEST,
    ]
    assert len(table) == 3_000 and table.find(b"2998") == (None, 2_998) and table.find(b"x") == (None, None)
    assert table.of_shapes([1]).tolist() == list(range(1, 3_000, 3)) and not len(table.of_shapes([]))
    assert table.groups_of(array(8, 1)) == [b"[1]", b"[1]"] and table.json_sqls(array(2, 0))[0] == '"SELECT 2 FROM t"'


def test_freed_slots_are_used_again_and_forget_everything() -> None:
    table = SlotTable()
    slot = add(table, b"a", 1)
    sync(table, slot)
    table.expiry.set(array(slot), 7)
    assert table.synced(slot) and table.find(b"a") == (slot, None) and table.count() == (1, 0)
    table.free(array(slot))
    assert not table.synced(slot) and not len(table.used()) and len(table) == 0 and table.find(b"a") == (None, None)
    assert add(table, b"b", 2) == slot
    assert (int(table.n[slot]), bool(table.known[slot]), int(table.expiry.of(array(slot))[0])) == (0, False, INT64_MAX)
    assert table.find(b"b") == (None, slot)
    table.check()


def test_an_id_has_a_live_and_a_waiting_slot() -> None:
    table = SlotTable()
    live = add(table, b"a", 1)
    sync(table, live)
    waiting, other = add(table, b"a", 2), add(table, b"b", 3)
    assert table.find(b"a") == (live, waiting) and table.count() == (1, 2)
    assert [column.tolist() for column in table.find_all([b"b", b"x", b"a"])] == [
        [NONE, NONE, live],
        [other, NONE, waiting],
    ]
    assert table.awaiting_slots(array(3, 1, 2)).tolist() == [other, NONE, waiting]
    table.next_era()
    assert table.awaiting().tolist() == [live, waiting, other]
    table.check()


def test_changes_begin_with_id_and_version_of_who_has_the_slot_now() -> None:
    table = SlotTable()
    slot = add(table, b'"a', 1)
    assert table.change_heads(array(slot)) == ([b'"a'], ['{"id":"\\"a","kind":"change","version":1'])
    table.free(array(slot))
    assert add(table, b"b", 2) == slot
    assert table.change_heads(array(slot, slot))[1] == ['{"id":"b","kind":"change","version":2'] * 2


def test_byte_bounds_are_kept_elsewhere() -> None:
    table = SlotTable()
    slot = add(table, b"a", 1, compiled(lo=b"x", hi=b"y"))
    assert (int(table.lo[slot]), int(table.hi[slot])) == (0, 0)


def test_expiry_looks_at_slots_in_use() -> None:
    table = SlotTable()
    for i, when in enumerate([50, 20, INT64_MAX, 20, 10]):
        slot = add(table, b"%d" % i, 9 - i)
        table.expiry.set(array(slot), when)
    table.free(array(4))
    assert table.expiry.due(20, table.version).tolist() == [3, 1] and table.expiry.after(20) == 50
    assert table.expiry.after(50) == INT64_MAX
