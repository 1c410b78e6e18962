from __future__ import annotations

from itertools import product

from state.lattices.choice import Choice
from state.lattices.truth import Truth
from tests.state.lattices.law import check_law, contradicts

TRUTHS = [None, Truth(), Truth.of(True), Truth.of(False)]
RANKS = {"a": 1, "b": 2, "c": 2}


def choice(k: int, truths: tuple[Truth | None, ...], still: bool) -> Choice:
    known = zip(RANKS.items(), truths, strict=False)
    return Choice(k, {name: (rank, truth.copy()) for (name, rank), truth in known if truth is not None}, still)


def test_law() -> None:
    check_law([choice(1, truths, still) for truths in product(TRUTHS, repeat=2) for still in (True, False)], alike=True)


def test_final_as_soon_as_one_list_is_left() -> None:
    for k, truths in product((1, 2), product(TRUTHS[1:], repeat=3)):
        known = choice(k, truths, False)
        lists = set()
        for world in product((True, False), repeat=3):
            if all(truth.admits(held) for truth, held in zip(truths, world, strict=True)):
                lists.add(choice(k, tuple(map(Truth.of, world)), False).now)
        assert known.final == (len(lists) == 1)
        assert known.now in lists
        assert not choice(k, truths, True).final


def test_a_flight_that_may_come_back_keeps_the_list_open() -> None:
    full_for_now = {"NW44": (480, Truth()), "AA141": (620, Truth.of(True)), "BA178": (700, Truth())}
    cheapest = Choice(1, full_for_now, False)
    assert cheapest.now == ((620, "AA141"),) and not cheapest.final
    assert cheapest.merge(Choice(1, {"NW44": (480, Truth.of(False))}))
    assert cheapest.final and cheapest.now == ((620, "AA141"),)


def test_contradictions() -> None:
    contradicts(Choice(1, {"a": (1, Truth())}), Choice(1, {"a": (2, Truth())}))
    contradicts(Choice(1, {"a": (1, Truth.of(True))}), Choice(1, {"a": (1, Truth.of(False))}))
    contradicts(Choice(1, {}, False), Choice(1, {"a": (1, Truth())}))
