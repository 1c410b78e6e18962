"""Slots, shapes, index and registrations stay in step; deltas say all of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from catalog.query.compiler import Compiled
from catalog.query.shape import Output, Region, Shape
from catalog.types.column_type import ColumnType, Kind
from operators.answer import Tally
from overlay.answers.answer import answer_of
from overlay.subscriptions.edge_state import Delta
from overlay.subscriptions.subscription_store import SubscriptionStore
from state.change_batch import I64
from tests.overlay.arrivals import newcomers

NUMBER = ColumnType(Kind.BIGINT)


def compiled(function: str = "min", lo: int | bytes = 0, hi: int | bytes = 9, column: str = "k") -> Compiled:
    shape = Shape("t", (Output(function, "k"),), (), column)
    return Compiled(Region(shape, b"[]", lo, hi, lo > hi), (NUMBER,), "c", "S")  # type: ignore[operator]


def add(store: SubscriptionStore, key: bytes, version: int, what: Compiled) -> int:
    return int(store.add(newcomers((key, version, what)))[0])


def array(*values: int) -> I64:
    return np.array(values, np.int64)


def sync(store: SubscriptionStore, slot: int, value: int, n: int = 1) -> None:
    store.sync(array(slot), array(value), array(1) > 0, array(n))


def copy(deltas: list[Delta], era: int = 0) -> SubscriptionStore:
    store = SubscriptionStore()
    for delta in deltas:
        store.apply(delta)
    store.rebuild(era)
    store.check()
    return store


def test_a_newer_waiting_one_takes_the_place_of_the_older() -> None:
    store = SubscriptionStore()
    add(store, b"a", 1, compiled())
    slot = add(store, b"a", 2, compiled("max"))
    assert store.slots.find(b"a") == (None, slot) and store.slots.awaiting().tolist() == [slot]
    assert [entry.shape.outputs[0].function for entry in store.shapes] == ["max"]
    store.check()


def test_integers_that_no_bigint_holds_are_such_for_who_comes_after() -> None:
    whole = ColumnType(Kind.DECIMAL, 38, 0, whole=True)
    store = SubscriptionStore()
    add(store, b"a", 1, replace(compiled(), columns=(whole,)))
    delta = store.changes()
    assert delta is not None
    assert [entry.types for entry in copy([delta]).shapes] == [(whole,)]


def test_empty_regions_are_synced_but_never_indexed() -> None:
    store = SubscriptionStore()
    slots = store.add(newcomers((b"a", 1, compiled(lo=1, hi=0)), (b"b", 2, compiled())))
    store.sync(slots, array(0, 0), slots >= 0, array(1, 1))
    assert store.index.slots() == [slots[1]]
    store.check()
    store.retire(slots[:2])
    store.check()
    assert len(store.slots) == 0 and len(store.index) == 0 and not list(store.shapes)


def test_the_sum_of_deltas_is_the_whole_when_slots_and_shape_numbers_are_used_again() -> None:
    store, deltas = SubscriptionStore(), []
    first = add(store, b"a", 1, compiled())
    deltas.append(store.changes())
    sync(store, first, 5)
    deltas.append(store.changes())
    store.retire(np.array([first]))
    second = add(store, b"b", 2, compiled("max"))
    assert second == first
    deltas.append(store.changes())
    sync(store, second, 6)
    store.move(array(second), array(7), array(1) > 0, array(2))
    deltas.append(store.changes())
    for parts in (deltas, [store.whole()]):
        assert copy(parts).whole() == store.whole()
    assert store.changes() == Delta()
    assert len(deltas[1].slots) == 0 and len(deltas[3].slots) == 0 and deltas[2].freed == [second]


def test_answers_of_their_own_go_with_their_slot_and_not_with_the_next_one() -> None:
    store, deltas = SubscriptionStore(), []
    first = add(store, b"a", 1, compiled("sum", b"a", b"c", "s"))
    store.sync(array(first), array(0), array(0) > 0, array(1))
    store.answers.start(first, answer_of((Tally.of(2, 7),)))
    deltas.append(store.changes())
    assert copy(deltas).whole() == store.whole() and len(deltas[0].answers) == 1
    store.slots.expiry.set(array(first), 8)
    store.touch(array(first))
    deltas.append(store.changes())
    assert copy(deltas).whole() == store.whole() and not deltas[1].answers
    store.retire(np.array([first]))
    assert add(store, b"b", 2, compiled()) == first
    deltas.append(store.changes())
    again = copy(deltas)
    assert again.whole() == store.whole() and not len(again.answers)
    assert again.slots.expiry.after(0) == 2**63 - 1


def test_a_new_era_makes_all_wait_and_the_oldest_registers_first() -> None:
    store = SubscriptionStore()
    slots = [add(store, b"%d" % version, version, compiled()) for version in (5, 3, 9)]
    sync(store, slots[0], 1)
    store.next_era()
    store.register_all()
    assert store.registrations.queued().tolist() == [slots[1], slots[0], slots[2]]
    assert len(store.index) == 0
    store.check()
