"""Types of results hold them exactly, and no type that is smaller does."""

from __future__ import annotations

from decimal import Decimal
from itertools import combinations_with_replacement, product

import pytest

from tidewire.verification.input.view_plan import scale_of
from tidewire.verification.input.view_source import NoView
from tidewire.verification.input.view_types import arithmetic_type, common_type, decimal_type

WHOLE = ["SMALLINT", "INTEGER", "BIGINT", "HUGEINT"]
NUMBERS = [*WHOLE, "DECIMAL(4,0)", "DECIMAL(4,1)", "DECIMAL(12,3)", "FLOAT", "DOUBLE"]
OTHERS = ["VARCHAR", "DATE", "TIMESTAMP", "BOOLEAN", "INT4RANGE"]


def least(type: str) -> Decimal:
    """The least positive number of a type."""
    return Decimal(1).scaleb(-scale_of(type))


@pytest.mark.parametrize("name", ["+", "-", "*"])
def test_a_result_has_the_digits_that_it_needs(name: str) -> None:
    for left, right in product(NUMBERS[:-2], NUMBERS[:-2]):
        check_digits(name, left, right)


def check_digits(name: str, left: str, right: str) -> None:
    made = arithmetic_type(name, left, right)
    results = {"+": least(left) + least(right), "-": least(left) - 2 * least(right), "*": least(left) * least(right)}
    needed = max(0, -int(results[name].as_tuple().exponent))
    if any(type.startswith("DECIMAL") for type in (left, right)):
        assert made == decimal_type(needed) and scale_of(made) == needed
    else:
        assert made == "HUGEINT" and needed == 0


def test_a_double_makes_a_double() -> None:
    for name, other, floating in product("+-*", NUMBERS, ("FLOAT", "DOUBLE")):
        assert arithmetic_type(name, other, floating) == arithmetic_type(name, floating, other) == "DOUBLE"


def test_nothing_is_computed_of_what_is_no_number() -> None:
    for pair in [*product(["NULL", *NUMBERS], OTHERS), *product(OTHERS, NUMBERS)]:
        with pytest.raises(NoView):
            arithmetic_type("+", *pair)


def test_null_beside_a_number() -> None:
    assert arithmetic_type("+", "NULL", "DECIMAL(4,1)") == decimal_type(1)
    assert arithmetic_type("*", "NULL", "BIGINT") == "HUGEINT"


def test_a_common_type_does_not_depend_on_the_order_and_is_common_to_itself() -> None:
    for types in combinations_with_replacement(["NULL", *NUMBERS, *OTHERS], 2):
        check_common(types)


def check_common(types: tuple[str, str]) -> None:
    try:
        made = common_type(types)
    except NoView:
        with pytest.raises(NoView):
            common_type(types[::-1])
        assert not set(types) <= {"NULL", *NUMBERS} and set(types) != {"DATE", "TIMESTAMP"}
        return
    assert made == common_type(types[::-1])
    assert common_type([made, *types]) == made
    assert made in types or made in ("HUGEINT", "DOUBLE") or made == decimal_type(max(map(scale_of, types)))


@pytest.mark.parametrize(
    ("types", "made"),
    [
        ([], "NULL"), (["NULL"], "NULL"), (["NULL", "VARCHAR"], "VARCHAR"), (["DATE", "TIMESTAMP"], "TIMESTAMP"),
        (["INTEGER", "INTEGER"], "INTEGER"), (["INTEGER", "BIGINT"], "HUGEINT"), (["FLOAT", "FLOAT"], "FLOAT"),
        (["FLOAT", "INTEGER"], "DOUBLE"), (["DECIMAL(4,1)", "DECIMAL(9,3)", "INTEGER"], "DECIMAL(38,3)"),
        (["DECIMAL(4,1)", "DOUBLE"], "DOUBLE"),
    ],
)  # fmt: skip
def test_types_together(types: list[str], made: str) -> None:
    assert common_type(types) == made
