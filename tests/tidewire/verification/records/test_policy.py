"""Options cut off the SQL, and which changes they tell."""

from fractions import Fraction
from typing import Any

import pytest

from tidewire.verification.recompute.answers import RowAnswers
from tidewire.verification.recompute.ranked_column import Measure
from tidewire.verification.records.policy import EVERY_CHANGE, Policy, Step, cut_options, told_steps, with_record
from tidewire.verification.records.question import Item

COUNT = RowAnswers([(Item("count", None), None)], (0,))


@pytest.mark.parametrize(
    ("options", "policy"),
    [
        ("", EVERY_CHANGE),
        (" NOTIFY\n every  change ;", EVERY_CHANGE),
        (" notify latest ttl 5", Policy("latest", ttl=5)),
        (" TTL 2 DAYS NOTIFY MIN CHANGE 0.5", Policy("least", Fraction(1, 2), ttl=172_800)),
        (" NOTIFY MIN CHANGE 5% /* TTL 3 */", Policy("least", Fraction(5), percent=True)),
        (" -- NOTIFY LATEST", EVERY_CHANGE),
        (" NOTIFY Transitions", Policy("transitions")),
        (" snapshot  none NOTIFY ENTER TTL 1;", Policy("enter", ttl=1, bare=True)),
    ],
)
def test_options_behind_the_statement(options: str, policy: Policy) -> None:
    statement, found = cut_options(f"SELECT MIN(ttl) FROM t WHERE v = 'NOTIFY LATEST'{options}")
    assert found == policy
    assert statement.strip() == "SELECT MIN(ttl) FROM t WHERE v = 'NOTIFY LATEST'"


def test_what_the_record_says_beside() -> None:
    assert with_record(Policy(ttl=3), "min change 2 %", None) == Policy("least", Fraction(2), percent=True, ttl=3)
    assert with_record(EVERY_CHANGE, None, 9) == Policy(ttl=9)


def test_a_policy_of_rows_may_stand_beside() -> None:
    assert with_record(Policy(bare=True), "ENTER", None) == Policy("enter", bare=True)


def told(policy: Policy, *counts: tuple[int, int]) -> list[tuple[int, int, int, int]]:
    """`counts` are (batch, new count), one a seq, beginning at 10."""
    before, steps = 10, []
    for seq, (batch, count) in enumerate(counts, 1):
        steps.append((batch, Step(seq, (before,), (count,))))
        before = count
    return [(s.seq, s.before[0], s.after[0], s.changes) for s in told_steps(COUNT, steps, policy, (10,))]


def test_latest_tells_once_a_batch_and_not_what_came_back() -> None:
    steps = [(0, 11), (0, 12), (1, 13), (1, 12), (2, 9)]
    assert told(Policy("latest"), *steps) == [(2, 10, 12, 2), (5, 12, 9, 1)]
    assert len(told(EVERY_CHANGE, *steps)) == 5
    assert told(Policy("latest"), (0, 11), (0, 10), (0, 12)) == [(3, 10, 12, 3)]


def test_min_change_tells_what_has_moved_far_enough_from_what_was_told() -> None:
    assert told(Policy("least", Fraction(2)), (0, 11), (1, 12), (1, 11), (1, 14)) == [(2, 10, 12, 2), (4, 12, 14, 2)]
    assert told(Policy("least", Fraction(50), percent=True), (0, 14), (0, 15), (0, 8)) == [(2, 10, 15, 2)]
    assert told(Policy("least", Fraction(50), percent=True), (0, 0), (0, 1)) == [(1, 10, 0, 1), (2, 0, 1, 1)]
    null = Policy("least", Fraction(5))
    assert null.reached(None, Fraction(1)) and null.reached(Fraction(1), None) and not null.reached(None, None)


SUM = RowAnswers([(Item("sum", "d"), Measure("DOUBLE"))], (None,))


def told_sums(policy: Policy, *amounts: tuple[int, Fraction]) -> list[tuple[int, Any, Any, int]]:
    """`amounts` are (batch, what is added), one a seq, to a sum of 1e16, whose neighbours are 2 apart."""
    before, steps = 10**16 * 2**1074, []
    for seq, (batch, amount) in enumerate(amounts, 1):
        after = before + int(amount * 2**1074)
        steps.append((batch, Step(seq, (before,), (after,))))
        before = after
    found = told_steps(SUM, steps, policy, (10**16 * 2**1074,))
    return [(s.seq, SUM.shown(s.before) - 1e16, SUM.shown(s.after) - 1e16, s.changes) for s in found]


def test_what_is_shown_as_it_was_told_last_is_not_told() -> None:
    amounts = [(0, 1), (0, 1), (1, 0.5), (1, 2), (1, -2), (2, 2)]
    steps = [(batch, Fraction(amount)) for batch, amount in amounts]
    assert told_sums(EVERY_CHANGE, *steps) == [(2, 0, 2, 1), (4, 2, 4, 1), (5, 4, 2, 1), (6, 2, 4, 1)]
    assert told_sums(Policy("latest"), *steps) == [(2, 0, 2, 1), (6, 2, 4, 1)]
    assert told_sums(Policy("least", Fraction(1, 2)), *steps) == told_sums(EVERY_CHANGE, *steps)
    assert told_sums(Policy("least", Fraction(2)), (0, Fraction(3, 2)), (0, Fraction(1, 2))) == [(2, 0, 2, 1)]
    infinite = 2**1024 * 2**1074
    assert told_steps(SUM, [(0, Step(1, (infinite,), (2 * infinite,)))], EVERY_CHANGE, (infinite,)) == []
