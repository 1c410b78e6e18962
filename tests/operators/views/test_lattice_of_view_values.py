"""Over rows that are only ever added, what a view computes is `now` of what is known, and what is final stays.

A history has so many ticks, each of which is a row or silence, and is read in batches. After each batch the value that
the product has is compared with a lattice's, made of the ticks known so far; the lattice's may only have grown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.schema.relation import Column, Relation
from catalog.schema.view import (
    Aggregate,
    Arithmetic,
    By,
    ColumnOf,
    Comparison,
    Constant,
    GroupBy,
    Joined,
    Map,
    Stage,
    TopK,
)
from catalog.types.column_type import ColumnType, Kind
from state.lattices.best_k import BestK
from state.lattices.latest import latest
from state.lattices.lattice import Lattice
from state.lattices.rows import Rows
from state.lattices.span import difference
from state.lattices.span_of_ticks import count, maximum, mean, minimum, total
from state.lattices.tick import Tick
from state.lattices.truth import Truth, less
from tests.effort import examples
from tests.operators.views.view_world import Cause, ViewWorld, rows_of
from tests.oracle.naive_views import Row, stored_of

BIGINT, INTEGER, DOUBLE = ColumnType(Kind.BIGINT), ColumnType(Kind.INTEGER), ColumnType(Kind.DOUBLE)
SOME = settings(max_examples=examples(60), deadline=None)
LEAST, GREATEST, K = -1, 2, 2
GROUPS = (0, 1, None)
EVENT = Relation("e", (Column("id", BIGINT, False), Column("g", INTEGER), Column("x", INTEGER)), ("id",), "e")
OTHER = Relation("o", EVENT.columns, EVENT.key, "o")
TABLES = {"e": EVENT, "o": OTHER}
X, G = ColumnOf("x", INTEGER), ColumnOf("g", INTEGER)
History = dict[str, list[Row | None]]
"""By tick the row of each table, None for silence."""


@dataclass
class Known:
    """What is known of a history: the ticks before `upto`."""

    history: History
    upto: dict[str, int]

    def rows(self, table: str) -> list[Tick]:
        return [Tick.of(row) if at < self.upto[table] else Tick() for at, row in enumerate(self.history[table])]

    def values(self, group: int | None) -> list[Tick]:
        """Return x of the rows of a group; other rows, and NULL, are silent there."""
        return [_of(tick, lambda row: row[2] if row[1] == group else None) for tick in self.rows("e")]

    def members(self, group: int | None) -> list[Tick]:
        return [_of(tick, lambda row: row if row[1] == group else None) for tick in self.rows("e")]


def _of(tick: Tick, event: Callable[[Any], Any]) -> Tick:
    return tick if tick.value is None else Tick.of(event(tick.value))


def drawn_history(rng: Random) -> History:
    """Return ticks of both tables, with a key of its own in each row."""
    out: History = {}
    for table in TABLES:
        values = (None, *range(LEAST, GREATEST + 1))
        rows = [(at, rng.choice(GROUPS), rng.choice(values)) for at in range(rng.randint(1, 6))]
        out[table] = [row if rng.random() < 0.7 else None for row in rows]
    return out


def played(seed: int, stages: Sequence[Stage], check: Callable[[ViewWorld, Known], dict[Any, Lattice]]) -> None:
    """Read a drawn history in batches; `check` compares and returns what is known, which may only grow."""
    rng = Random(seed)
    history = drawn_history(rng)
    world, known = ViewWorld(TABLES, stages), Known(history, dict.fromkeys(TABLES, 0))
    before = check(world, known)
    while any(known.upto[table] < len(history[table]) for table in TABLES):
        causes: list[Cause] = []
        for table in rng.sample(list(TABLES), 2):
            end = min(len(history[table]), known.upto[table] + rng.randint(0, 3))
            rows = [row for row in history[table][known.upto[table] : end] if row is not None]
            causes += [[(table, b"%d" % row[0], row)] for row in rows]  # type: ignore[str-format]
            known.upto[table] = end
        world.play(causes)
        now = check(world, known)
        for name, lattice in before.items():
            assert lattice.leq(now[name]), f"{name}: {lattice} became {now[name]}"
            assert not lattice.final or now[name].now == lattice.now
        before = now
    assert all(lattice.final for lattice in before.values())


LatticeOf = Callable[[Known, int | None], Any]
AGGREGATES: dict[str, tuple[Aggregate, LatticeOf]] = {
    "MIN": (Aggregate("MIN", "x", INTEGER), lambda known, group: minimum(known.values(group), LEAST, GREATEST)),
    "MAX": (Aggregate("MAX", "x", INTEGER), lambda known, group: maximum(known.values(group), LEAST, GREATEST)),
    "COUNT": (Aggregate("COUNT", "x", BIGINT), lambda known, group: count(known.values(group))),
    "COUNT(*)": (Aggregate("COUNT", None, BIGINT), lambda known, group: count(_as_ones(known.members(group)))),
    "SUM": (Aggregate("SUM", "x", BIGINT), lambda known, group: total(known.values(group), LEAST, GREATEST)),
    "AVG": (Aggregate("AVG", "x", DOUBLE), lambda known, group: mean(known.values(group), LEAST, GREATEST)),
    "LATEST": (Aggregate("LATEST", "x", INTEGER, "id"), lambda known, group: latest(known.members(group))),
}


def _as_ones(ticks: Sequence[Tick]) -> list[Tick]:
    return [_of(tick, lambda row: 1) for tick in ticks]


def stored(name: str, now: Any) -> Any:
    """Return what the lattice shows as the product stores it."""
    if name == "LATEST":
        return None if now is None else now[2]
    return stored_of(DOUBLE, Fraction(now)) if name == "AVG" and now is not None else now


def by_group(world: ViewWorld) -> dict[Any, tuple[Any, ...]]:
    """Return the values that the view has by group."""
    return {row[0]: row[1:] for row in rows_of(world.held["v"]).values()}


@SOME
@given(st.integers(0, 2**32))
def test_aggregates(seed: int) -> None:
    aggregates = tuple([aggregate for aggregate, _ in AGGREGATES.values()])
    columns = (EVENT.column("g"), *(Column(name, each.type) for name, (each, _) in AGGREGATES.items()))
    stage = Stage(Relation("v", columns, ("g",), ""), GroupBy("e", ("g",), aggregates))

    def check(world: ViewWorld, known: Known) -> dict[Any, Lattice]:
        out: dict[Any, Lattice] = {}
        values = by_group(world)
        for group in GROUPS:
            lattices = {name: lattice(known, group) for name, (_, lattice) in AGGREGATES.items()}
            assert (group in values) == (lattices["COUNT(*)"].now > 0), "a group is there once it has a row"
            if group in values:
                assert values[group] == tuple(stored(name, each.now) for name, each in lattices.items())
            out |= {(group, name): each for name, each in lattices.items()}
        return out

    played(seed, [stage], check)


@SOME
@given(st.integers(0, 2**32))
def test_differences_and_conditions_on_aggregates(seed: int) -> None:
    """MAX(x) - MIN(x), and WHERE that is less than 2: both are known before all ticks are."""
    columns = (EVENT.column("g"), Column("high", INTEGER), Column("low", INTEGER))
    aggregates = (Aggregate("MAX", "x", INTEGER), Aggregate("MIN", "x", INTEGER))
    ends = Stage(Relation("ends", columns, ("g",), ""), GroupBy("e", ("g",), aggregates))
    width = Arithmetic("-", ColumnOf("high", INTEGER), ColumnOf("low", INTEGER), BIGINT)
    shown = (EVENT.column("g"), Column("width", BIGINT))
    every = Stage(Relation("v", shown, ("g",), ""), Map("ends", (G, width)))
    narrow = Stage(
        Relation("n", shown, ("g",), ""), Map("ends", (G, width), (Comparison("<", width, Constant(2, BIGINT)),))
    )

    def check(world: ViewWorld, known: Known) -> dict[Any, Lattice]:
        out: dict[Any, Lattice] = {}
        held = {row[0] for row in rows_of(world.held["n"]).values()}
        for group in GROUPS:
            high, low = (of(known.values(group), LEAST, GREATEST) for of in (maximum, minimum))
            apart = difference(high, low)
            passes = less(apart, difference(maximum([Tick.of(2)], 2, 2), maximum([Tick.of(0)], 0, 0)))
            assert by_group(world).get(group, (None,)) == (apart.now,)
            assert (group in held) == passes.now
            out[group, "width"], out[group, "passes"] = apart, passes
        return out

    played(seed, [ends, every, narrow], check)


@SOME
@given(st.integers(0, 2**32))
def test_first_rows(seed: int) -> None:
    """Rows leave the set; the list only becomes better."""
    operator = TopK("e", ("g",), (By("x", False, False), By("id", False, False)), K, False)
    stage = Stage(Relation("v", EVENT.columns, EVENT.key, ""), operator)

    def check(world: ViewWorld, known: Known) -> dict[Any, Lattice]:
        out: dict[Any, Lattice] = {}
        for group in GROUPS:
            rows = [tick.value for tick in known.members(group) if tick.value is not None]
            ranks = sorted((row[2] is None, row[2] or 0, row[0]) for row in rows)  # type: ignore[index]
            done = all(tick.known for tick in known.rows("e"))
            best = BestK(K, tuple(ranks[:K]), done)
            held = sorted(
                (row[2] is None, row[2] or 0, row[0]) for row in rows_of(world.held["v"]).values() if row[1] == group
            )
            assert tuple(held) == best.now
            out[group] = best
        return out

    played(seed, [stage], check)


@SOME
@given(st.integers(0, 2**32))
def test_rows_that_pass(seed: int) -> None:
    """Each tick of a filtered stream is that of the stream, or silent."""
    operator = Map("e", (ColumnOf("id", BIGINT), X), (Comparison(">", X, Constant(0, INTEGER)),))
    stage = Stage(Relation("v", (EVENT.columns[0], EVENT.column("x")), EVENT.key, ""), operator)

    def check(world: ViewWorld, known: Known) -> dict[Any, Lattice]:
        ticks = [_of(tick, lambda row: (row[0], row[2]) if (row[2] or 0) > 0 else None) for tick in known.rows("e")]
        rows = Rows(Tick.of(None), dict(enumerate(ticks)))
        assert rows.now == {row[0]: row for row in rows_of(world.held["v"]).values()}
        return {"rows": rows}

    played(seed, [stage], check)


@SOME
@given(st.integers(0, 2**32))
def test_pairs_and_rows_without_partner(seed: int) -> None:
    """A pair is there for good once both rows are; a row without partner is there for now, until nothing can come."""
    columns = tuple(Column(f"{side}{c.name}", c.type) for side in "lr" for c in EVENT.columns)
    stage = Stage(Relation("v", columns, (), ""), Joined("e", "o", (("g", "g"),), True, False))

    def check(world: ViewWorld, known: Known) -> dict[Any, Lattice]:
        pairs: dict[Any, Tick] = {}
        alone: dict[Any, Lattice] = {}
        for i, left in enumerate(known.rows("e")):
            fits = [pair_of(left, right) for right in known.rows("o")]
            pairs |= {(i, j): tick for j, tick in enumerate(fits)}
            if left.value is not None:
                alone[i] = without(fits)
        made = rows_of(world.held["v"]).values()
        both = Rows(Tick.of(None), pairs)
        assert both.now == {(row[0], row[3]): row for row in made if row[3] is not None}
        assert {i for i, truth in alone.items() if truth.now} == {row[0] for row in made if row[3] is None}
        return {"pairs": both, **alone}

    played(seed, [stage], check)


def pair_of(left: Tick, right: Tick) -> Tick:
    """Return the joined row; silence as soon as one side is silent, or both are known and do not fit."""
    if any(side.known and (side.value is None or side.value[1] is None) for side in (left, right)):  # type: ignore[index]
        return Tick.of(None)
    if not (left.known and right.known):
        return Tick()
    one, other = left.value, right.value
    return Tick.of((*one, *other) if one[1] == other[1] else None)  # type: ignore[index,misc]


def without(pairs: Sequence[Tick]) -> Truth:
    """Return whether a row stays without partner."""
    if any(tick.value is not None for tick in pairs):
        return Truth.of(False)
    return Truth.of(True) if all(tick.known for tick in pairs) else Truth(estimate=True)
