"""Aggregates of tiny groups: a move is told iff some step of that kind makes it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import pytest

from catalog.view.aggregate_growth import aggregate_moves
from catalog.view.growth import EITHER, NEGATIVE, POSITIVE, ColumnGrowth, Signs
from catalog.view.moves import ANY, EMPTIES, FALLS, FILLS, FIXED, RISES, Moves
from tests.oracle.naive_growth import seen_values

ABSENT = "absent"
VALUES: dict[Signs, Sequence[object]] = {
    EITHER: (None, -2, -1, 0, 1, 2),
    POSITIVE: (None, 0, 1, 2),
    NEGATIVE: (None, -2, -1, 0),
}


def aggregated(kind: str, held: Sequence[object]) -> object:
    values = [value for value in held if isinstance(value, int)]
    if kind == "COUNT":
        return len(values)
    if not values:
        return None
    return {"MIN": min(values), "MAX": max(values), "SUM": sum(values), "AVG": Fraction(sum(values), len(values))}[kind]


def steps(signs: Signs, rows: Moves, moves: Moves) -> list[tuple[object, object]]:
    """Return what one row, or its absence, may become."""
    out: list[tuple[object, object]] = [(ABSENT, ABSENT)]
    for one, other in product((ABSENT, *VALUES[signs]), repeat=2):
        if ABSENT in (one, other):
            allowed = one == other or (RISES in rows if one == ABSENT else FALLS in rows)
        else:
            allowed = not seen_values([one], [other]) & ~moves
        if allowed:
            out.append((one, other))
    return out


@pytest.mark.parametrize("kind", ["COUNT", "MIN", "MAX", "SUM", "AVG"])
def test_every_step_of_two_rows(kind: str) -> None:
    for signs, rows, moves in product(
        (EITHER, POSITIVE, NEGATIVE), (FIXED, RISES, FALLS), (FIXED, RISES, FALLS, FILLS, EMPTIES, RISES | FILLS)
    ):
        said = aggregate_moves(kind, rows, ColumnGrowth(moves, signs), floats=False)
        seen = FIXED
        for one, other in product(steps(signs, rows, moves), repeat=2):
            before, after = ([pair[side] for pair in (one, other)] for side in (0, 1))
            seen |= seen_values([aggregated(kind, before)], [aggregated(kind, after)])
        assert seen == said, f"{kind} {signs} rows {rows} values {moves}: {seen}, said {said}"


def test_rows_are_counted_whatever_is_in_them() -> None:
    assert aggregate_moves("count", RISES, None, False) == RISES


def test_sums_of_floats_may_be_beyond_all_doubles_and_come_back() -> None:
    assert aggregate_moves("SUM", RISES, ColumnGrowth(FIXED, POSITIVE), True) == ANY
    assert aggregate_moves("SUM", FIXED, ColumnGrowth(FIXED, POSITIVE), True) == FIXED


def test_the_latest_may_be_anything() -> None:
    assert aggregate_moves("LATEST", RISES, ColumnGrowth(FIXED), False) == ANY
