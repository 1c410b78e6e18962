"""Values of rows: conversions between numbers, NULLs, texts."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np

from catalog.types.column_type import ColumnType, Kind
from operators.views.row_values import RowValues, first_valid, nearest_doubles, scaled
from state.order_code import doubles_of_codes
from tests.operators.views.view_draws import BIGINT, DOUBLE, LONG, SHORT, VALUES, VARCHAR, WIDE
from tests.oracle.naive_views import EXACT, stored_of, value_of


def listed(values: RowValues) -> list[int | str | None]:
    made = values.made()
    texts = None if made.texts is None else list(made.texts)
    return [
        (texts[i] if texts is not None else int(made.codes[i])) if made.valid[i] else None for i in range(len(values))
    ]


def test_numbers_become_the_same_numbers_of_wider_types_and_the_nearest_doubles() -> None:
    widest = ColumnType(Kind.DECIMAL, 38, 2)
    exact = [(type_, stored) for type_, values in VALUES.items() if type_.kind in EXACT for stored in values]
    for type_, stored in exact:
        for target in (widest, DOUBLE):
            found = listed(RowValues.of_constant(type_, stored, 2).as_type(target))
            assert found == [stored_of(target, value_of(type_, stored))] * 2, (type_, stored, target)


def test_doubles_are_the_nearest_ones() -> None:
    units = [2**53 + 1, 2**63 - 1, -(2**63), 1, 0, 3, 123456789012345678]
    for scale in (0, 2, 18):
        wanted = [float(Fraction(unit, 10**scale)) for unit in units]
        assert nearest_doubles(np.array(units), scale).tolist() == wanted
        assert nearest_doubles(np.array(units, np.object_), scale).tolist() == wanted


def test_what_64_bits_do_not_hold_is_scaled_in_integers() -> None:
    assert scaled(np.array([2**62, -1]), 2).tolist() == [2**62 * 100, -100]
    assert scaled(np.array([5, -1]), 2).dtype == np.int64


def test_the_first_that_is_there() -> None:
    for type_, other in product((VARCHAR, WIDE, BIGINT, SHORT, LONG), (0, 1)):
        values = VALUES[type_]
        columns = [RowValues.of_constant(type_, None, 1), RowValues.of_constant(type_, values[other], 1)]
        assert listed(first_valid(columns)) == listed(first_valid(columns[::-1])) == [values[other]]
        assert listed(first_valid(columns[:1])) == [None]


def test_what_was_computed_beside_what_is_stored() -> None:
    computed = RowValues.of_units(WIDE, np.array([10**19, 0], np.object_), np.array([True, False]))
    stored = RowValues.of_constant(WIDE, "-1.25", 2)
    assert listed(first_valid([computed, stored])) == ["100000000000000000.00", "-1.25"]
    assert listed(first_valid([stored, computed])) == ["-1.25", "-1.25"]


def test_what_is_not_finite_is_null() -> None:
    values = np.array([np.inf, -np.inf, np.nan, 1.0, -0.0])
    found = RowValues.of_doubles(DOUBLE, values, np.ones(5, np.bool_))
    assert found.valid.tolist() == [False, False, False, True, True]
    assert doubles_of_codes(found.codes).tolist() == [0, 0, 0, 1, 0]
    assert listed(RowValues.of_doubles(ColumnType(Kind.REAL), np.array([1e39]), np.ones(1, np.bool_))) == [None]
