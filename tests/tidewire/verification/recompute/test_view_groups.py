"""Groups at each moment are what is counted, by hand, of the rows that hold then."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from tests.effort import examples
from tests.tidewire.verification.recompute.drawn_versions import MOMENTS, check_apart, drawn_versions, held
from tidewire.verification.input.view_plan import Aggregate, Call, Field, Group
from tidewire.verification.recompute.history import FOREVER
from tidewire.verification.recompute.version import Version
from tidewire.verification.recompute.view_groups import grouped

ID, G, X, D, F = (
    Field(place, type) for place, type in enumerate(["INTEGER", "VARCHAR", "INTEGER", "DECIMAL(4,2)", "DOUBLE"])
)
COLUMNS: list[list[Any]] = [
    ["u", "v", None],
    [None, 0, 1, 2],
    [None, Decimal("-1.50"), Decimal("0.25")],
    [None, 0.1, 2.5, 1e308],
]
AGGREGATES = [
    Aggregate("count", None, (), "BIGINT"),
    *(Aggregate(kind, X, (), "BIGINT") for kind in ("count", "min", "max", "sum")),
    *(Aggregate(kind, D, (), "DECIMAL(38,2)") for kind in ("sum", "min")),
    *(Aggregate("avg", of, (), "DOUBLE") for of in (X, D, F)),
    Aggregate("sum", F, (), "DOUBLE"),
    Aggregate("latest", G, (X, ID), "VARCHAR"),
    Aggregate("latest", X, (D, G, ID), "BIGINT"),
]


def expected(aggregate: Aggregate, rows: Sequence[tuple[Any, ...]]) -> Any:
    if aggregate.of is None:
        return len(rows)
    assert isinstance(aggregate.of, Field)
    if aggregate.kind == "latest":
        return latest(aggregate, aggregate.of.place, rows)
    known = [value for row in rows if (value := row[aggregate.of.place]) is not None]
    if aggregate.kind == "count":
        return len(known)
    if not known:
        return None
    if aggregate.kind in ("min", "max"):
        return {"min": min, "max": max}[aggregate.kind](known)
    total = sum(map(Fraction, known))
    if aggregate.kind == "avg" or aggregate.of.type == "DOUBLE":
        return double(total / len(known) if aggregate.kind == "avg" else total)
    return Decimal(total.numerator) / total.denominator if aggregate.of.type.startswith("DECIMAL") else int(total)


def double(value: Fraction) -> float | None:
    try:
        return float(value)
    except OverflowError:
        return None


def latest(aggregate: Aggregate, of: int, rows: Sequence[tuple[Any, ...]]) -> Any:
    by = [one.place for one in aggregate.by if isinstance(one, Field)]
    there = [row for row in rows if row[by[0]] is not None]
    for place in by:  # each member decides among those that are equal before it
        best = max((row[place] for row in there if row[place] is not None), default=None)
        there = [row for row in there if row[place] == best]
    return there[0][of] if there else None


@pytest.mark.parametrize("by", [(G,), (), (G, X)])
def test_at_each_moment(by: tuple[Field, ...]) -> None:
    choose = random.Random(len(by))
    for _ in range(examples(800)):
        versions = drawn_versions(choose, COLUMNS, keys=5)
        made = list(grouped(versions, Group(by, tuple(AGGREGATES))))
        check_apart(made)
        for moment in MOMENTS:
            groups: dict[tuple[Any, ...], list[tuple[Any, ...]]] = defaultdict(list, {} if by else {(): []})
            for version in held(versions, moment):
                groups[tuple(version.row[one.place] for one in by)].append(version.row)
            told = {version.key: version.row for version in held(made, moment)}
            assert told == {key: (*key, *(expected(one, rows) for one in AGGREGATES)) for key, rows in groups.items()}


def test_without_group_by_there_is_a_row_for_ever() -> None:
    count = Group((), (Aggregate("count", None, (), "BIGINT"), Aggregate("min", X, (), "BIGINT")))
    assert list(grouped([], count)) == [Version(0, FOREVER, (), (0, None))]
    assert list(grouped([], Group((G,), count.aggregates))) == []


def test_what_is_counted_may_be_computed() -> None:
    of = Call("+", (X, X), "HUGEINT")
    row = (1, "u", 2**62, None, None)
    made = list(grouped([Version(3, 5, (1,), row)], Group((G,), (Aggregate("sum", of, (), "HUGEINT"),))))
    assert made == [Version(3, 5, ("u",), ("u", 2**63))]
