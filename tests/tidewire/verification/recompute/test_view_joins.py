"""Pairs at each moment are those of the rows that hold then, each looked at beside each other."""

from __future__ import annotations

import random
from decimal import Decimal
from itertools import product
from typing import Any

import pytest

from tests.effort import examples
from tests.tidewire.verification.recompute.drawn_versions import MOMENTS, check_apart, drawn_versions, held, rows_at
from tidewire.verification.input.view_plan import Call, Expression, Field, Join, Named
from tidewire.verification.recompute.version import Version
from tidewire.verification.recompute.view_joins import joined

Row = tuple[Any, ...]
LEFT = [[None, 0, 1, 2], ["u", "v", None]]
RIGHT = [[None, Decimal("0.0"), Decimal("1.5"), 2.0, 1], ["u", "v"]]
ALSO: Expression = Call("<>", (Field(2, "VARCHAR"), Field(5, "VARCHAR")), "BOOLEAN")


def meets(one: Row, other: Row, join: Join) -> bool:
    values = [(one[left], other[right]) for left, right in join.equal]
    if any(left is None or right is None or left != right for left, right in values):
        return False
    return join.also is None or (one[2] is not None and one[2] != other[2])


def expected(left: list[Row], right: list[Row], join: Join) -> list[Row]:
    made = []
    for one in left:
        pairs = [one + other for other in right if meets(one, other, join)]
        made += pairs or ([(*one, None, None, None)] if join.outer else [])
    return sorted(made, key=repr)


@pytest.mark.parametrize(
    ("equal", "also", "outer"),
    [*product([(), ((1, 1),), ((2, 2),), ((1, 1), (2, 2)), ((1, 0),)], [None, ALSO], [False, True])],
)
def test_at_each_moment(equal: tuple[tuple[int, int], ...], also: Expression | None, outer: bool) -> None:
    choose = random.Random(5)
    join = Join(Named("p", 3), Named("q", 3), equal, also, outer, lookup=equal == ((1, 0),))
    for _ in range(examples(200)):
        left, right = drawn_versions(choose, LEFT), drawn_versions(choose, RIGHT)
        made = list(joined(left, right, join))
        check_apart(made)
        for moment in MOMENTS:
            both = [[version.row for version in held(side, moment)] for side in (left, right)]
            assert rows_at(made, moment) == expected(*both, join)


def test_the_key_is_that_of_the_pair_or_of_the_left_row_that_looks_up() -> None:
    left, right = Version(3, 9, (1,), (1, 0, "u")), Version(1, 4, (0,), (0, 0, "v"))
    for lookup, keys in ((True, [(1,), (1,)]), (False, [((1,), (0,)), ((1,), None)])):
        made = list(joined([left], [right], Join(Named("p", 3), Named("q", 3), ((1, 0),), None, True, lookup)))
        assert [version.key for version in made] == keys
        assert [version[:2] for version in made] == [(3, 4), (4, 9)]
