from __future__ import annotations

from itertools import product

from state.lattices.latest import Latest, latest
from state.lattices.tick import Tick
from tests.state.lattices.law import check_law, contradicts, upper
from tests.state.lattices.worlds import one_more, partly_known

LAST = 2
STATEMENTS = [
    Latest(tick, value, upto, LAST)
    for tick in range(-1, LAST + 1)
    for value in ((None,) if tick < 0 else (0, 1))
    for upto in range(tick, LAST + 1)
]
HISTORIES = list(product((None, 0, 1), repeat=LAST + 1))
OUTCOMES = [(-1, None), *product(range(LAST + 1), (0, 1))]


def says_of(statement: Latest, history: tuple[int | None, ...]) -> bool:
    return (statement.tick < 0 or history[statement.tick] == statement.value) and all(
        history[tick] is None for tick in range(statement.tick + 1, statement.upto + 1)
    )


def of_one_history(*statements: Latest) -> bool:
    return any(all(says_of(each, history) for each in statements) for history in HISTORIES)


def test_law_of_statements_about_one_history() -> None:
    check_law(STATEMENTS, of_one_history)


def test_order_is_inclusion_and_merging_is_intersection() -> None:
    held = [{outcome for outcome in OUTCOMES if each.admits(outcome)} for each in STATEMENTS]
    for (one, mine), (other, theirs) in product(zip(STATEMENTS, held, strict=True), repeat=2):
        assert one.leq(other) == (theirs <= mine)
        assert one.final == (len(mine) == 1)
        if of_one_history(one, other):
            assert {outcome for outcome in OUTCOMES if upper(one, other).admits(outcome)} == mine & theirs


def test_in_every_world() -> None:
    for ticks in partly_known(3):
        made = latest(ticks)
        assert made.now == next((tick.value for tick in reversed(ticks) if tick.value is not None), None)
        assert made.final or not all(tick.known for tick in ticks)
        for more in one_more(ticks):
            assert made.leq(latest(more))


def test_conflicts_are_found_only_if_no_later_event_came_between() -> None:
    silent, event = Latest(0, "a", 5), Latest(3, "b", 3)
    contradicts(silent, event)
    contradicts(Latest(3, "a", 3), Latest(3, "b", 3))
    later = upper(silent, Latest(7, "c", 7))
    assert upper(later, event) == later, "what was silent before 7 is forgotten"


def test_the_event_alone_says_nothing_of_what_follows() -> None:
    assert latest([Tick.of("a"), Tick()]) == Latest(0, "a", 0, 1)
    assert latest([Tick.of("a"), Tick.of(None)]).final
