"""Slots, shapes, index and registrations stay in step; deltas say all of it."""

from __future__ import annotations

import numpy as np

from catalog.query.compiler import Compiled
from catalog.query.shape import Output, Region, Shape
from catalog.types.column_type import ColumnType, Kind
from operators.answer import Tally
from overlay.answers.composite import states_of
from overlay.subscriptions.edge_state import Delta
from overlay.subscriptions.roster import Roster
from state.change_batch import I64
from tests.overlay.arrivals import newcomers

NUMBER = ColumnType(Kind.BIGINT)


def compiled(function: str = "min", lo: int | bytes = 0, hi: int | bytes = 9, column: str = "k") -> Compiled:
    shape = Shape("t", (Output(function, "k"),), (), column)
    return Compiled(Region(shape, b"[]", lo, hi, lo > hi), (NUMBER,), "c", "S")  # type: ignore[operator]


def add(roster: Roster, key: bytes, version: int, what: Compiled) -> int:
    return int(roster.add(newcomers((key, version, what)))[0])


def array(*values: int) -> I64:
    return np.array(values, np.int64)


def sync(roster: Roster, slot: int, value: int, n: int = 1) -> None:
    roster.sync(array(slot), array(value), array(1) > 0, array(n))


def copy(deltas: list[Delta], era: int = 0) -> Roster:
    roster = Roster()
    for delta in deltas:
        roster.apply(delta)
    roster.settle(era)
    roster.check()
    return roster


def test_a_newer_waiting_one_takes_the_place_of_the_older() -> None:
    roster = Roster()
    add(roster, b"a", 1, compiled())
    slot = add(roster, b"a", 2, compiled("max"))
    assert roster.slots.find(b"a") == (None, slot) and roster.slots.awaiting().tolist() == [slot]
    assert [entry.shape.outputs[0].function for entry in roster.shapes] == ["max"]
    roster.check()


def test_empty_regions_are_synced_but_never_indexed() -> None:
    roster = Roster()
    slots = roster.add(newcomers((b"a", 1, compiled(lo=1, hi=0)), (b"b", 2, compiled())))
    roster.sync(slots, array(0, 0), slots >= 0, array(1, 1))
    assert roster.index.slots() == [slots[1]]
    roster.check()
    roster.retire(slots[:2])
    roster.check()
    assert len(roster.slots) == 0 and len(roster.index) == 0 and not list(roster.shapes)


def test_the_sum_of_deltas_is_the_whole_when_slots_and_shape_numbers_are_used_again() -> None:
    roster, deltas = Roster(), []
    first = add(roster, b"a", 1, compiled())
    deltas.append(roster.changes())
    sync(roster, first, 5)
    deltas.append(roster.changes())
    roster.retire(np.array([first]))
    second = add(roster, b"b", 2, compiled("max"))
    assert second == first
    deltas.append(roster.changes())
    sync(roster, second, 6)
    roster.move(array(second), array(7), array(1) > 0, array(2))
    deltas.append(roster.changes())
    for parts in (deltas, [roster.whole()]):
        assert copy(parts).whole() == roster.whole()
    assert roster.changes() == Delta()
    assert len(deltas[1].slots) == 0 and len(deltas[3].slots) == 0 and deltas[2].freed == [second]


def test_answers_of_their_own_go_with_their_slot_and_not_with_the_next_one() -> None:
    roster, deltas = Roster(), []
    first = add(roster, b"a", 1, compiled("sum", b"a", b"c", "s"))
    roster.sync(array(first), array(0), array(0) > 0, array(1))
    roster.answers.start(first, states_of((Tally.of(2, 7),)))
    deltas.append(roster.changes())
    assert copy(deltas).whole() == roster.whole() and len(deltas[0].answers) == 1
    roster.slots.set_expires(array(first), 8)
    roster.touch(array(first))
    deltas.append(roster.changes())
    assert copy(deltas).whole() == roster.whole() and not deltas[1].answers
    roster.retire(np.array([first]))
    assert add(roster, b"b", 2, compiled()) == first
    deltas.append(roster.changes())
    again = copy(deltas)
    assert again.whole() == roster.whole() and not len(again.answers)
    assert again.slots.next_expiry(0) == 2**63 - 1


def test_a_new_era_makes_all_wait_and_the_oldest_registers_first() -> None:
    roster = Roster()
    slots = [add(roster, b"%d" % version, version, compiled()) for version in (5, 3, 9)]
    sync(roster, slots[0], 1)
    roster.next_era()
    roster.register_all()
    assert roster.registrations.queued().tolist() == [slots[1], slots[0], slots[2]]
    assert len(roster.index) == 0
    roster.check()
