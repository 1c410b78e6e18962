from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.types.column_type import ColumnType, Kind
from operators.exact_units import double_of_units, is_summable, unit_of, units_of_one
from state.order_code import code_of_double

DOUBLE, CENTS = ColumnType(Kind.DOUBLE), ColumnType(Kind.DECIMAL, 12, 2)
DOUBLES = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(DOUBLES, min_size=1, max_size=5))
def test_a_mean_of_doubles_is_the_nearest_double_of_the_exact_one(values: list[float]) -> None:
    total = sum(unit_of(DOUBLE, code_of_double(value)) for value in values)
    assert double_of_units(units_of_one(DOUBLE), total, len(values)) == float(sum(map(Fraction, values)) / len(values))
    assert total - sum(unit_of(DOUBLE, code_of_double(value)) for value in reversed(values)) == 0


def test_a_sum_beyond_all_doubles_is_infinite() -> None:
    most = unit_of(DOUBLE, code_of_double(1.7976931348623157e308))
    assert (
        double_of_units(units_of_one(DOUBLE), 2 * most) == math.inf
        and double_of_units(units_of_one(DOUBLE), -2 * most) == -math.inf
    )
    assert double_of_units(units_of_one(DOUBLE), 2 * most, 2) == 1.7976931348623157e308


@given(st.integers(-(10**12), 10**12), st.integers(1, 9))
def test_decimals_count_in_their_last_digit(unscaled: int, count: int) -> None:
    assert double_of_units(units_of_one(CENTS), unit_of(CENTS, unscaled), count) == float(
        Fraction(unscaled, 100 * count)
    )
    text = f"{'-' if unscaled < 0 else ''}{abs(unscaled) // 100}.{abs(unscaled) % 100:02d}"
    assert unit_of(ColumnType(Kind.DECIMAL, 38, 2), text) == unscaled


@pytest.mark.parametrize("kind", [Kind.VARCHAR, Kind.BOOLEAN, Kind.DATE, Kind.TIMESTAMP])
def test_what_is_no_number_counts_and_is_not_summed(kind: Kind) -> None:
    assert not is_summable(ColumnType(kind)) and is_summable(DOUBLE) and is_summable(CENTS)
    assert unit_of(ColumnType(kind), "7" if kind is Kind.VARCHAR else 7) == 0
