from __future__ import annotations

from itertools import combinations

from state.lattices.best_k import BestK
from tests.state.lattices.law import check_law, check_meaning, contradicts

LISTS = [BestK(2, members, done) for n in range(3) for members in combinations(range(4), n) for done in (False, True)]
OUTCOMES = [members for n in range(3) for members in combinations(range(-2, 5), n)]


def test_law() -> None:
    check_law(LISTS)
    check_meaning(LISTS, OUTCOMES)


def test_members_leave_the_list_and_it_only_becomes_better() -> None:
    best = BestK(2, (3, 7))
    assert best.merge(BestK(2, (5,))) and best.now == (3, 5)
    assert not best.merge(BestK(2, (8, 9)))
    assert best.merge(BestK(2, (3, 5), True)) and best.final


def test_what_is_done_takes_no_other_member() -> None:
    contradicts(BestK(2, (3, 5), True), BestK(2, (4,)))
    assert not BestK(2, (3, 5), True).merge(BestK(2, (6,)))
