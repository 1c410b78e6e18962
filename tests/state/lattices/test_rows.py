from __future__ import annotations

from itertools import product

from state.lattices.rows import Rows
from state.lattices.tick import Tick
from tests.state.lattices.law import check_law, contradicts

TICKS = [Tick(), Tick.of(None), Tick.of(1)]


def test_law() -> None:
    values = []
    for rest, one, other in product(TICKS[:2], [None, *TICKS], TICKS):
        known = {key: tick.copy() for key, tick in (("a", one), ("b", other)) if tick is not None}
        values.append(Rows(rest.copy(), known))
    check_law(values)


def test_final_when_no_other_key_has_a_row() -> None:
    rows = Rows(Tick(), {"a": Tick.of(1)})
    assert not rows.final and rows.now == {"a": 1}
    assert rows.merge(Rows(Tick.of(None), {"a": Tick()}))
    assert rows.final and rows.now == {"a": 1} and rows.at("b") == Tick.of(None)
    contradicts(rows, Rows(Tick(), {"b": Tick.of(1)}))


def test_publishers_are_told_apart_by_domain_and_tick() -> None:
    merged = Rows(Tick(), {("north", 7): Tick.of(1)})
    assert merged.merge(Rows(Tick(), {("south", 7): Tick.of(2)}))
    contradicts(Rows(Tick(), {7: Tick.of(1)}), Rows(Tick(), {7: Tick.of(2)}))


def test_a_key_that_says_nothing_is_as_if_it_were_not_there() -> None:
    assert Rows(Tick(), {"a": Tick()}) == Rows(Tick(), {})
