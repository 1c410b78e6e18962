from __future__ import annotations

import itertools

import pytest

from catalog.types.column_type import ColumnType, Kind
from catalog.types.literal import LiteralKind, LiteralMismatch
from catalog.types.range_operand import WITHIN, ends_of, limits
from catalog.types.range_value import read_range

INT4 = ColumnType(Kind.INT4RANGE)


def ends(text: str) -> tuple[object, object]:
    found = read_range(INT4, text)
    return found.lower, found.upper


def test_a_range_is_its_ends_and_a_value_those_of_the_range_of_it_alone() -> None:
    assert ends_of(INT4, "&&", LiteralKind.STRING, "[1,5)", False) == ends("[1,4]")
    assert ends_of(INT4, "@>", LiteralKind.DIGITS, "3", False) == ends("[3,3]")
    assert ends_of(INT4, WITHIN, LiteralKind.STRING, "3", False) == ends("[3,3]")
    assert ends_of(INT4, "@>", LiteralKind.NULL, "NULL", False) is None


@pytest.mark.parametrize(("operator", "text"), [("&&", "x"), (WITHIN, "[1,5)")])
def test_what_is_no_operand_is_refused(operator: str, text: str) -> None:
    with pytest.raises(LiteralMismatch):
        ends_of(INT4, operator, LiteralKind.STRING, text, False)


def test_limits_of_both_ends_hold_of_the_ranges_that_meet_the_operator() -> None:
    sets = {f"[{low},{high}]": set(range(low, high + 1)) for low in range(4) for high in range(low, 4)}
    meets = {"&&": lambda one, other: bool(one & other), "@>": lambda one, other: one >= other}
    meets["<@"] = lambda one, other: one <= other
    for (one, held), (other, wanted) in itertools.product(sets.items(), repeat=2):
        for operator, holds in meets.items():
            operand = ends_of(INT4, operator, LiteralKind.STRING, other, False)
            assert operand is not None
            within = [
                (least is None or end >= least) and (greatest is None or end <= greatest)
                for end, (least, greatest) in zip(
                    ends(one), (limits(operator, operand, True), limits(operator, operand, False)), strict=True
                )
            ]
            assert all(within) == holds(held, wanted), (one, operator, other)
