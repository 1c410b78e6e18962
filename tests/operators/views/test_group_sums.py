"""SUM and AVG of groups from limbs, against exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.types.column_type import ColumnType, Kind
from operators.exact_sums import Limbs, totals_of
from operators.views.group_sums import average_of, is_small, narrowed, sum_of
from state.order_code import code_of_double
from tests.state.test_ordering import CALM

SMALLINT, INTEGER, BIGINT = ColumnType(Kind.SMALLINT), ColumnType(Kind.INTEGER), ColumnType(Kind.BIGINT)
DOUBLE, WIDE, SHORT = ColumnType(Kind.DOUBLE), ColumnType(Kind.DECIMAL, 38, 0), ColumnType(Kind.DECIMAL, 8, 2)
_LIMB = 2**32
LIMBS = st.lists(st.integers(-(2**61), 2**61) | st.sampled_from([0, 1, -1, _LIMB, -_LIMB, 2**29, 2**30]), max_size=4)


def limbs_of(groups: list[list[int]], width: int) -> np.ndarray:
    return np.array([[*group, *[0] * (width - len(group))] for group in groups], np.int64).T.copy()


def total(limbs: list[int]) -> int:
    return sum(limb * _LIMB**place for place, limb in enumerate(limbs))


@CALM
@given(st.lists(LIMBS, min_size=1, max_size=4))
def test_fewer_limbs_say_the_same(groups: list[list[int]]) -> None:
    few = narrowed(limbs_of(groups, 4))
    assert totals_of(few, 0) == [total(group) for group in groups]
    assert len(few) <= 4 and (len(few) == 1 or few[-1].any())


@CALM
@given(st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4), min_size=1, max_size=4))
def test_sums_and_means_are_exact(groups: list[list[int]]) -> None:
    parts = [Limbs.of(BIGINT, np.array(group, np.int64)).limbs for group in groups]
    width = max(map(len, parts))
    limbs = np.array([[*part.sum(axis=1), *[0] * (width - len(part))] for part in parts], np.int64).T.copy()
    counts = np.array([len(group) for group in groups])
    for given_ in (limbs, narrowed(limbs)):
        made = sum_of(BIGINT, 0, given_, counts, WIDE)
        assert made.units().tolist() == [sum(group) for group in groups]
        assert made.valid.tolist() == [bool(group) for group in groups]
        means = average_of(BIGINT, 0, given_, counts, DOUBLE)
        expected = [code_of_double(float(Fraction(sum(group), len(group)))) if group else None for group in groups]
        assert [c if v else None for c, v in zip(means.codes.tolist(), means.valid.tolist(), strict=True)] == expected


def test_a_sum_has_the_scale_of_its_type() -> None:
    counts = np.array([2, 0])
    made = sum_of(SHORT, 0, np.array([[325, 0]]), counts, ColumnType(Kind.DECIMAL, 18, 2))
    assert (made.codes.tolist(), made.valid.tolist()) == ([325, 0], [True, False])
    means = average_of(SHORT, 0, np.array([[325, 0]]), counts, DOUBLE)
    assert means.codes.tolist()[0] == code_of_double(1.625) and means.valid.tolist() == [True, False]


@pytest.mark.parametrize("value", [2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1])
def test_a_mean_at_the_edge_of_what_doubles_hold(value: int) -> None:
    means = average_of(BIGINT, 0, np.array([[value]]), np.array([3]), DOUBLE)
    assert means.codes.tolist() == [code_of_double(float(Fraction(value, 3)))]


def test_which_values_are_small() -> None:
    assert all(map(is_small, (SMALLINT, INTEGER, SHORT))) and not any(map(is_small, (BIGINT, DOUBLE, WIDE)))
