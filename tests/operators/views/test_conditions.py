"""Comparisons across types, beside exact fractions: signs, three values, IN and NOT IN."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from catalog.schema.view import Constant
from catalog.types.column_type import ColumnType
from operators.views.conditions import _among, signs
from operators.views.row_values import RowValues
from tests.operators.views.view_draws import BIGINT, LONG, SHORT, VALUES, WIDE, comparable
from tests.oracle.naive_views import _plain, value_of

EXTRA: dict[ColumnType, list[int | str]] = {
    BIGINT: [2**53, 2**53 + 1, -(2**53) - 1, 2**62 + 1],
    SHORT: [10, 30, -10],
    WIDE: ["0.10", "0.30", "9007199254740993.00"],
    LONG: ["9007199254740993", "-99999999999999999999999999999999999999"],
}


@pytest.mark.parametrize(("one", "other"), [pair for pair in product(VALUES, VALUES) if comparable(*pair)])
def test_signs_are_those_of_the_values(one: ColumnType, other: ColumnType) -> None:
    for a, b in product(VALUES[one] + EXTRA.get(one, []), VALUES[other] + EXTRA.get(other, [])):
        sides = RowValues.of_constant(one, a, 2), RowValues.of_constant(other, b, 2)
        here, there = _plain(value_of(one, a)), _plain(value_of(other, b))
        assert signs(*sides).tolist() == [(here > there) - (here < there)] * 2, (a, b)


@pytest.mark.parametrize(("one", "other"), [pair for pair in product(VALUES, VALUES) if comparable(*pair)])
def test_in_finds_what_is_equal(one: ColumnType, other: ColumnType) -> None:
    mine, constants = VALUES[one] + EXTRA.get(one, []), VALUES[other] + EXTRA.get(other, [])
    for a in mine:
        here, values = _plain(value_of(one, a)), RowValues.of_constant(one, a, 2)
        equal = [value for value in constants if _plain(value_of(other, value)) == here]
        for some in (constants, [value for value in constants if value not in equal], constants[:1]):
            found = _among(values, [Constant(value, other) for value in some])
            assert found.tolist() == [bool(set(some) & set(equal))] * 2, (a, some)
    assert len(_among(RowValues.of_constant(one, mine[0], 0), [Constant(constants[0], other)])) == 0
    assert len(_among(RowValues.of_constant(one, None, 1), [Constant(constants[0], other)])) == 1


def test_null_beside_anything_is_no_error() -> None:
    for one, other in product(VALUES, VALUES):
        if comparable(one, other):
            null, value = RowValues.of_constant(one, None, 1), RowValues.of_constant(other, VALUES[other][-1], 1)
            assert len(signs(null, value)) == len(signs(value, null)) == 1
            none = RowValues.of_constant(one, None, 0), RowValues.of_constant(other, VALUES[other][-1], 0)
            assert signs(*none).tolist() == np.zeros(0).tolist()
