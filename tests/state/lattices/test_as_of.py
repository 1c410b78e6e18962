from __future__ import annotations

from itertools import product

from state.lattices.as_of import AsOf
from tests.state.lattices.law import check_law, contradicts, upper

POSITIONS = 3
STATEMENTS = [AsOf(), *(AsOf(p, x, closed) for p in range(POSITIONS) for x in range(2) for closed in (False, True))]


def says_of(statement: AsOf, history: tuple[int, ...]) -> bool:
    held = history[statement.position :] if statement.closed else history[statement.position : statement.position + 1]
    return statement.position < 0 or all(value == statement.value for value in held)


def of_one_history(*statements: AsOf) -> bool:
    return any(all(says_of(each, history) for each in statements) for history in product(range(2), repeat=POSITIONS))


def test_law_of_statements_about_one_history() -> None:
    check_law(STATEMENTS, of_one_history)


def test_the_newest_stands_and_errors_are_found() -> None:
    assert upper(AsOf(4, "x"), AsOf(7, "y")) == AsOf(7, "y")
    contradicts(AsOf(4, "x"), AsOf(4, "y"))
    contradicts(AsOf(4, "x", True), AsOf(7, "y"))
    assert upper(AsOf(4, "x", True), AsOf(2, "y")) == AsOf(4, "x", True)


def test_vectors_of_positions_have_no_least_upper_bound() -> None:
    """x as of (1, 0) and y as of (0, 1) both evolve to any value as of (1, 1), and to no least one."""
    above = [((1, 1), value) for value in ("x", "y", "z")]

    def leq(one: tuple[tuple[int, int], str], other: tuple[tuple[int, int], str]) -> bool:
        earlier = all(a <= b for a, b in zip(one[0], other[0], strict=True))
        return one == other or (one[0] != other[0] and earlier)

    assert all(leq(((1, 0), "x"), each) and leq(((0, 1), "y"), each) for each in above)
    assert not [least for least in above if all(leq(least, each) for each in above)]
