"""Slots, shapes, index and registrations stay in step; deltas say all of it."""

from __future__ import annotations

import numpy as np

from catalog.column_type import ColumnType, Kind
from catalog.compiler import Compiled
from catalog.relation import Column, Relation
from catalog.shape import Region, Shape
from overlay.edge_state import Delta
from overlay.roster import Roster

NUMBER = ColumnType(Kind.BIGINT)
TABLE = Relation("t", (Column("k", NUMBER, False),), ("k",), "t")


def compiled(aggregate: str = "min", lo: int = 0, hi: int = 9) -> Compiled:
    return Compiled(Region(Shape("t", aggregate, "k", (), "k"), b"[]", lo, hi, lo > hi), NUMBER, "c", "S")


def copy(deltas: list[Delta], era: int = 0) -> Roster:
    roster = Roster()
    for delta in deltas:
        roster.apply(delta)
    roster.settle(era)
    roster.check()
    return roster


def test_a_newer_waiting_one_takes_the_place_of_the_older() -> None:
    roster = Roster()
    roster.add(b"a", 1, compiled(), TABLE)
    slot = roster.add(b"a", 2, compiled("max"), TABLE)
    assert roster.slots.waiting == {b"a": slot} and roster.slots.awaiting == {2: slot}
    assert [entry.shape.aggregate for entry in roster.shapes] == ["max"]
    roster.check()


def test_empty_regions_are_synced_but_never_indexed() -> None:
    roster = Roster()
    slots = [roster.add(b"a", 1, compiled(lo=1, hi=0), TABLE), roster.add(b"b", 2, compiled(), TABLE)]
    for slot in slots:
        roster.sync(slot, 0, False, 1)
    roster.enlist(slots)
    assert roster.index.slots() == [slots[1]]
    roster.check()
    roster.retire(slots[0])
    roster.retire(slots[1])
    roster.check()
    assert len(roster.slots) == 0 and len(roster.index) == 0 and not list(roster.shapes)


def test_the_sum_of_deltas_is_the_whole_when_slots_and_shape_numbers_are_used_again() -> None:
    roster, deltas = Roster(), []
    first = roster.add(b"a", 1, compiled(), TABLE)
    deltas.append(roster.changes())
    roster.sync(first, 5, True, 1)
    roster.enlist([first])
    deltas.append(roster.changes())
    roster.retire(first)
    second = roster.add(b"b", 2, compiled("max"), TABLE)
    assert second == first
    deltas.append(roster.changes())
    roster.sync(second, 6, True, 1)
    roster.enlist([second])
    roster.move(np.array([second]), np.array([7]), np.array([True]), np.array([2]))
    deltas.append(roster.changes())
    for parts in (deltas, [roster.whole()]):
        assert copy(parts).whole() == roster.whole()
    assert roster.changes() == Delta()
    assert len(deltas[1].slots) == 0 and len(deltas[3].slots) == 0


def test_a_new_era_makes_all_wait_and_the_oldest_registers_first() -> None:
    roster = Roster()
    slots = [roster.add(b"%d" % version, version, compiled(), TABLE) for version in (5, 3, 9)]
    roster.sync(slots[0], 1, True, 1)
    roster.enlist([slots[0]])
    roster.next_era()
    roster.register_all()
    assert list(roster.registrations.unsent) == [slots[1], slots[0], slots[2]]
    assert len(roster.index) == 0
    roster.check()
