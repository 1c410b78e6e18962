"""Expressions over two columns: whatever two values of each may become is told, and nothing is told that never is."""

from __future__ import annotations

from itertools import product

import pytest

from catalog.schema.view import (
    Among,
    Arithmetic,
    Coalesce,
    ColumnOf,
    Comparison,
    Condition,
    Constant,
    Expression,
    IsNull,
    Truncated,
)
from catalog.types.column_type import ColumnType, Kind
from catalog.view.expression_growth import condition_moves, expression_growth, signs_of, where_holds
from catalog.view.growth import EITHER, NEGATIVE, POSITIVE, ColumnGrowth, Signs
from catalog.view.moves import ANY, EMPTIES, FALLS, FILLS, FIXED, RISES, Moves
from tests.oracle.naive_growth import seen_values
from tests.oracle.naive_views import _true as holds
from tests.oracle.naive_views import _value as computed

INTEGER, BIGINT, DOUBLE = ColumnType(Kind.INTEGER), ColumnType(Kind.BIGINT), ColumnType(Kind.DOUBLE)
VARCHAR, TIMESTAMP, WIDE = ColumnType(Kind.VARCHAR), ColumnType(Kind.TIMESTAMP), ColumnType(Kind.DECIMAL, 38, 2)
A, B = ColumnOf("a", INTEGER), ColumnOf("b", INTEGER)
NUMBERS = {EITHER: (-2, -1, 0, 1, 2), POSITIVE: (0, 1, 2), NEGATIVE: (-2, -1, 0)}
GROWTHS = [
    ColumnGrowth(moves, signs, nullable)
    for moves in (FIXED, RISES, FALLS)
    for signs in (EITHER, POSITIVE, NEGATIVE)
    for nullable in (False, True)
] + [ColumnGrowth(moves, signs) for moves in (FILLS, EMPTIES, RISES | FILLS) for signs in (EITHER, POSITIVE)]


def steps(growth: ColumnGrowth) -> list[tuple[int | None, int | None]]:
    values = (*NUMBERS[growth.signs], *([None] if growth.nullable else []))
    return [pair for pair in product(values, repeat=2) if not seen_values(pair[:1], pair[1:]) & ~growth.moves]


STEPS = {(each.moves, each.signs, each.nullable): steps(each) for each in GROWTHS}


def valued(what: Expression | Condition) -> dict[tuple[int | None, int | None], int | None]:
    """Return what an expression is for each two values; a condition is 0 or 1."""
    places = product((None, *NUMBERS[EITHER]), repeat=2)
    if isinstance(what, Condition):
        return {(a, b): int(holds(what, {"a": a, "b": b})) for a, b in places}
    return {(a, b): computed(what, {"a": a, "b": b}) for a, b in places}


Step = tuple[int | None, int | None]
Seen = tuple[Moves, Signs, bool]


def steps_of(values: dict[Step, int | None]) -> dict[tuple[Step, Step], Seen]:
    """Return what each two steps of the columns do, which signs they lead to, and whether to NULL."""
    found = {}
    for (a, c), (b, d) in product(product((None, *NUMBERS[EITHER]), repeat=2), repeat=2):
        before, after = values[a, b], values[c, d]
        signs = Signs(0) if not after else POSITIVE if after > 0 else NEGATIVE
        found[(a, c), (b, d)] = seen_values([before], [after]), signs, after is None
    return found


def seen(all_steps: dict[tuple[Step, Step], Seen], one: ColumnGrowth, other: ColumnGrowth) -> Seen:
    """Return what such values do in all steps, which signs they have, and whether one is NULL."""
    ours, theirs = (STEPS[each.moves, each.signs, each.nullable] for each in (one, other))
    moves, signs, null = FIXED, Signs(0), False
    for its_moves, its_signs, its_null in {all_steps[both] for both in product(ours, theirs)}:
        moves, signs, null = moves | its_moves, signs | its_signs, null or its_null
    return moves, signs, null


EXPRESSIONS = {
    "a + b": Arithmetic("+", A, B, BIGINT),
    "a - b": Arithmetic("-", A, B, BIGINT),
    "a * b": Arithmetic("*", A, B, BIGINT),
    "coalesce(a, b)": Coalesce((A, B), INTEGER),
    "a * 2": Arithmetic("*", A, Constant(2, INTEGER), BIGINT),
    "0 - a": Arithmetic("-", Constant(0, INTEGER), A, BIGINT),
    "coalesce(a, 0)": Coalesce((A, Constant(0, INTEGER)), INTEGER),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_every_step_of_expressions(name: str) -> None:
    exact, all_steps = 0, steps_of(valued(EXPRESSIONS[name]))
    for one, other in product(GROWTHS, repeat=2):
        said = expression_growth(EXPRESSIONS[name], {"a": one, "b": other})
        moves, signs, null = seen(all_steps, one, other)
        assert not moves & ~said.moves, f"{one} {other}: {moves}, said {said}"
        assert not signs & ~said.signs and (said.nullable or not null), f"{one} {other}: {signs} {null}, said {said}"
        exact += moves == said.moves
    assert exact >= 0.85 * len(GROWTHS) ** 2, f"exact for {exact} of {len(GROWTHS) ** 2}"


CONDITIONS: dict[str, Condition] = {
    **{f"a {op} b": Comparison(op, A, B) for op in ("=", "<>", "<", "<=", ">", ">=")},
    "a > 0": Comparison(">", A, Constant(0, INTEGER)),
    "0 > a": Comparison(">", Constant(0, INTEGER), A),
    "a in (1)": Among(A, (Constant(1, INTEGER),), False),
    "a not in (0, 1)": Among(A, (Constant(0, INTEGER), Constant(1, INTEGER)), True),
    "a is null": IsNull(A, False),
    "a is not null": IsNull(A, True),
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_every_step_of_conditions(name: str) -> None:
    all_steps = steps_of(valued(CONDITIONS[name]))
    for one, other in product(GROWTHS, repeat=2):
        said = condition_moves(CONDITIONS[name], {"a": one, "b": other})
        moves, _, _ = seen(all_steps, one, other)
        assert not moves & ~said, f"{one} {other}: {moves}, said {said}"


@pytest.mark.parametrize("name", CONDITIONS)
def test_signs_of_the_rows_that_pass(name: str) -> None:
    condition = CONDITIONS[name]
    held = where_holds({"a": ColumnGrowth(), "b": ColumnGrowth()}, [condition])
    for a, b in product((None, -2, -1, 0, 1, 2), repeat=2):
        if holds(condition, {"a": a, "b": b}):
            for value, growth in ((a, held["a"]), (b, held["b"])):
                assert not value or (POSITIVE if value > 0 else NEGATIVE) in growth.signs


def test_what_is_compared_with_a_constant_has_its_sign() -> None:
    columns = {"a": ColumnGrowth()}
    assert where_holds(columns, [CONDITIONS["a > 0"]])["a"].signs == POSITIVE
    assert where_holds(columns, [CONDITIONS["0 > a"]])["a"].signs == NEGATIVE
    assert where_holds(columns, [CONDITIONS["a in (1)"]])["a"].signs == POSITIVE
    assert where_holds(columns, [Comparison("=", A, Constant(0, INTEGER))])["a"].signs == Signs(0)


def test_what_moves_as_a_float_may_be_beyond_all_doubles() -> None:
    columns = {"a": ColumnGrowth(RISES, POSITIVE), "b": ColumnGrowth(FIXED, POSITIVE)}
    assert expression_growth(Arithmetic("+", A, B, DOUBLE), columns).moves == ANY
    assert expression_growth(Arithmetic("*", B, B, DOUBLE), columns).moves == FIXED


def test_a_truncated_moment_moves_as_the_moment_does() -> None:
    columns = {"a": ColumnGrowth(RISES | FILLS)}
    made = expression_growth(Truncated("hour", ColumnOf("a", TIMESTAMP), TIMESTAMP), columns)
    assert made == ColumnGrowth(RISES | FILLS, EITHER, True)


def test_signs_of_constants() -> None:
    constants = [
        (0, INTEGER),
        (None, INTEGER),
        ("0.00", WIDE),
        (5, INTEGER),
        ("5.00", WIDE),
        (-5, DOUBLE),
        ("-0.50", WIDE),
    ]
    none = Signs(0)
    found = [signs_of(Constant(value, type_)) for value, type_ in constants]
    assert found == [none, none, none, POSITIVE, POSITIVE, NEGATIVE, NEGATIVE]
    assert signs_of(Constant("-a", VARCHAR)) == EITHER
