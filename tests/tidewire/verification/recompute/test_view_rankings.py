"""Places at each moment are those of the rows that hold then, sorted by hand."""

from __future__ import annotations

import random
from functools import cmp_to_key
from itertools import product
from typing import Any

import pytest

from tests.effort import examples
from tests.tidewire.verification.recompute.drawn_versions import MOMENTS, check_apart, drawn_versions, held, rows_at
from tidewire.verification.input.view_plan import Field, Order, Ranking
from tidewire.verification.recompute.history import FOREVER
from tidewire.verification.recompute.version import Version
from tidewire.verification.recompute.view_rankings import ranked

ID, G, X = Field(0, "INTEGER"), Field(1, "VARCHAR"), Field(2, "INTEGER")
Row = tuple[Any, ...]


def compare(order: tuple[Order, ...], one: Row, other: Row) -> int:
    for member in order:
        assert isinstance(member.of, Field)
        left, right = one[member.of.place], other[member.of.place]
        if left == right:
            continue
        if left is None or right is None:
            return -1 if (left is None) is member.nulls_first else 1
        return -1 if (left < right) is not member.descending else 1
    return 0


def expected(rows: list[Row], ranking: Ranking) -> list[Row]:
    made = []
    for value in {tuple(row[one.place] for one in ranking.by if isinstance(one, Field)) for row in rows}:
        its = [row for row in rows if tuple(row[one.place] for one in ranking.by if isinstance(one, Field)) == value]
        its.sort(key=cmp_to_key(lambda one, other: compare(ranking.order, one, other)))
        made += [(*row, place) for place, row in enumerate(its[: ranking.most], 1)]
    return sorted(made, key=repr)


@pytest.mark.parametrize(("by", "most"), [*product([(), (G,)], [None, 0, 1, 2])])
def test_at_each_moment(by: tuple[Field, ...], most: int | None) -> None:
    choose = random.Random(7)
    for descending, nulls_first in product([False, True], repeat=2):
        order = Order(X, descending, nulls_first), Order(ID, choose.random() < 0.5, False)
        for _ in range(examples(400)):
            versions = drawn_versions(choose, [["u", None], [None, 0, 1, 2]], keys=5)
            ranking = Ranking(by, order, most)
            made = list(ranked(versions, ranking))
            check_apart(made)
            for moment in MOMENTS:
                rows = [version.row for version in held(versions, moment)]
                assert rows_at(made, moment) == expected(rows, ranking)


def test_a_row_whose_place_stays_is_one_version() -> None:
    first, second, third = (
        Version(start, end, (n,), (n, "u", n)) for n, (start, end) in enumerate([(1, 9), (3, 5), (2, FOREVER)])
    )
    made = set(ranked([third, first, second], Ranking((), (Order(X, False, False),), 2)))
    assert made == {
        Version(1, 9, (0,), (0, "u", 0, 1)),
        Version(3, 5, (1,), (1, "u", 1, 2)),
        Version(2, 3, (2,), (2, "u", 2, 2)),
        Version(5, 9, (2,), (2, "u", 2, 2)),
        Version(9, FOREVER, (2,), (2, "u", 2, 1)),
    }
