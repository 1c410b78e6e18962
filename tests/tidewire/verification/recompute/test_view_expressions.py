"""Expressions on rows: three truth values, numbers as they are, doubles that are rounded, moments that are cut."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from itertools import product
from typing import Any

import pytest

from tidewire.verification.input.view_plan import Call, Expression, Field, Literal
from tidewire.verification.recompute.view_expressions import as_type, evaluator, finite, row_of
from tidewire.verification.records.range_values import bounds_of

A, B = Field(0, "INTEGER"), Field(1, "INTEGER")
NOON = dt.datetime(2026, 3, 1, 12, 34, 56, 789)
MANY_DIGITS = Decimal("1.00000000000000000001")
TRUTHS = (True, False, None)


def computed(operator: str, *operands: Any, type: str = "BOOLEAN", types: str = "INTEGER") -> Any:
    fields: list[Expression] = [Field(place, types) for place in range(len(operands))]
    return evaluator(Call(operator, tuple(fields), type))(operands)


@pytest.mark.parametrize("width", [1, 2, 3])
def test_and_or_of_three_truth_values(width: int) -> None:
    """NULL is what could be either: the result is known where both would give the same."""
    for values in product(TRUTHS, repeat=width):
        worlds = list(product(*([True, False] if value is None else [value] for value in values)))
        for name, decide in (("and", all), ("or", any)):
            results = {decide(world) for world in worlds}
            assert computed(name, *values) is (results.pop() if len(results) == 1 else None), (name, values)


def test_not_and_null() -> None:
    assert [computed("not", value) for value in TRUTHS] == [False, True, None]
    assert [computed("null", value) for value in (0, "", None)] == [False, False, True]


@pytest.mark.parametrize(
    ("name", "holds"), [("=", "010"), ("<>", "101"), ("<", "100"), ("<=", "110"), (">", "001"), (">=", "011")]
)
def test_comparisons_of_less_equal_and_greater(name: str, holds: str) -> None:
    pairs: list[tuple[Any, Any]] = [(1, Decimal("1.5")), (Decimal("1.50"), 1.5), (2, 1.5)]
    assert [computed(name, *pair) for pair in pairs] == [one == "1" for one in holds]
    assert computed(name, 1, None) is computed(name, None, None) is None


def test_numbers_are_compared_as_what_they_are() -> None:
    assert computed("=", 2**53 + 1, float(2**53)) is False
    assert computed("=", Decimal("0.1"), 0.1) is False and computed("<", Decimal("0.1"), 0.1) is True
    assert computed("<", "a", "B") is False, "by code point"


@pytest.mark.parametrize(
    ("value", "members", "found"),
    [
        (1, (1, 2), True),
        (1, (2, 3), False),
        (1, (2, None), None),
        (1, (1, None), True),
        (None, (1,), None),
        (1, (1.0,), True),
    ],
)
def test_among_members(value: Any, members: tuple[Any, ...], found: bool | None) -> None:
    assert computed("in", value, *members) is found


@pytest.mark.parametrize(
    ("name", "operands", "type", "result"),
    [
        ("+", (2**63 - 1, 1), "HUGEINT", 2**63),
        ("*", (10**30, 10**30), "HUGEINT", 10**60),
        ("-", (Decimal("0.1"), 1), "DECIMAL(38,1)", Decimal("-0.9")),
        ("*", (MANY_DIGITS, MANY_DIGITS), "DECIMAL(38,40)", Decimal("1.0000000000000000000200000000000000000001")),
        ("+", (0.1, Decimal("0.2")), "DOUBLE", 0.1 + 0.2),
        ("+", (2**53, 1.0), "DOUBLE", 2.0**53),
        ("*", (1e308, 10), "DOUBLE", None),
        ("*", (-0.0, 5), "DOUBLE", 0.0),
        ("*", (0.0, -5), "DOUBLE", 0.0),
        ("+", (None, 1), "HUGEINT", None),
        ("*", (0, None), "HUGEINT", None),
    ],
)
def test_arithmetic(name: str, operands: tuple[Any, ...], type: str, result: Any) -> None:
    made = computed(name, *operands, type=type)
    assert made == result and isinstance(made, float) is isinstance(result, float)
    assert not isinstance(made, float) or math.copysign(1, made) == 1, "there is one zero"


def test_the_first_that_is_there_as_the_type_of_all() -> None:
    assert computed("coalesce", None, 1, 2, type="DECIMAL(38,2)") == Decimal(1)
    assert isinstance(computed("coalesce", None, 1, type="DECIMAL(38,2)"), Decimal)
    assert isinstance(computed("coalesce", 1, None, type="DOUBLE"), float)
    assert computed("coalesce", None, None, type="DOUBLE") is None
    assert computed("coalesce", False, True) is False, "what is false is there"


@pytest.mark.parametrize(
    ("unit", "moment"),
    [
        ("minute", dt.datetime(2026, 3, 1, 12, 34)),
        ("hour", dt.datetime(2026, 3, 1, 12)),
        ("day", dt.datetime(2026, 3, 1)),
    ],
)
def test_moments_are_cut(unit: str, moment: dt.datetime) -> None:
    assert computed(f"trunc-{unit}", NOON) == computed(f"trunc-{unit}", moment) == moment
    assert computed(f"trunc-{unit}", NOON.date()) == dt.datetime(2026, 3, 1)
    assert computed(f"trunc-{unit}", None) is None


def test_a_day_beside_a_moment_is_its_beginning() -> None:
    day, moment = Field(0, "DATE"), Field(1, "TIMESTAMP")
    later = evaluator(Call("<", (day, moment), "BOOLEAN"))
    assert later((NOON.date(), NOON)) is True and later((NOON.date(), dt.datetime(2026, 3, 1))) is False
    assert later((None, NOON)) is None


@pytest.mark.parametrize(
    ("name", "other", "found"),
    [("&&", "[4,9]", True), ("&&", "[5,9]", False), ("@>", "[3,4]", True), ("@>", "[3,5]", False), ("<@", "(,)", True)],
)
def test_ranges(name: str, other: str, found: bool) -> None:
    constant = Literal(bounds_of("INT4RANGE", other), "INT4RANGE")
    meets = evaluator(Call(name, (Field(0, "INT4RANGE"), constant), "BOOLEAN"))
    assert meets(("[3,5)",)) is found and meets((None,)) is None
    unknown = evaluator(Call(name, (Field(0, "INT4RANGE"), Literal(None, "INT4RANGE")), "BOOLEAN"))
    assert unknown(("[3,5)",)) is None


def test_parts_of_ranges() -> None:
    for name, values in (
        ("lower", [3, None, None, None]),
        ("upper", [5, None, None, None]),
        ("empty", [False, False, True, None]),
    ):
        assert [computed(name, text, types="INT4RANGE") for text in ("[3,5)", "(,)", "empty", None)] == values


def test_as_type() -> None:
    assert as_type(None, "DOUBLE") is None and as_type("a", "VARCHAR") == "a"
    assert math.copysign(1, as_type(-0.0, "DOUBLE")) == 1
    assert as_type(NOON, "TIMESTAMP") is NOON and as_type(NOON.date(), "TIMESTAMP") == dt.datetime(2026, 3, 1)


def test_what_is_not_finite_is_null() -> None:
    assert [finite(value) for value in (math.inf, -math.inf, math.nan, 1.5)] == [None, None, None, 1.5]
    assert str(finite(-0.0)) == "0.0"


def test_several_at_once() -> None:
    assert row_of([B, Literal("c", "VARCHAR"), A])((1, 2)) == (2, "c", 1)
    assert row_of([])((1, 2)) == ()
