from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.order_code import (
    INT64_MAX,
    INT64_MIN,
    code_of_double,
    codes_of_doubles,
    double_of_code,
    doubles_of_codes,
    restore_top,
    spare_top,
)

DOUBLES = st.floats(allow_nan=False)
NEAR_TOP = st.one_of(st.integers(INT64_MAX - 4, INT64_MAX), st.integers(INT64_MIN, INT64_MAX))


@given(DOUBLES, DOUBLES)
def test_codes_order_as_doubles_do(a: float, b: float) -> None:
    assert (code_of_double(a) < code_of_double(b)) == (a < b)
    assert (code_of_double(a) == code_of_double(b)) == (a == b)


@given(DOUBLES)
def test_a_double_comes_back(value: float) -> None:
    assert double_of_code(code_of_double(value)) == value
    assert INT64_MIN <= code_of_double(value) <= INT64_MAX


@given(st.lists(DOUBLES))
def test_arrays_agree_with_scalars(values: list[float]) -> None:
    codes = codes_of_doubles(np.array(values, np.float64))
    assert codes.tolist() == [code_of_double(value) for value in values]
    assert doubles_of_codes(codes).tolist() == values


def test_the_next_code_is_the_next_double() -> None:
    for value in (1.0, -1.0, 1e300, -5e-324, sys.float_info.max, 0.1):
        assert double_of_code(code_of_double(value) + 1) == math.nextafter(value, math.inf)


def test_both_zeros_have_one_code() -> None:
    assert code_of_double(-0.0) == code_of_double(0.0) == 0
    assert math.copysign(1, double_of_code(0)) == 1


def test_nan_is_refused() -> None:
    with pytest.raises(ValueError, match="NaN"):
        code_of_double(math.nan)
    with pytest.raises(ValueError, match="NaN"):
        codes_of_doubles(np.array([1.0, math.nan]))


@given(st.lists(st.tuples(NEAR_TOP, st.booleans())))
def test_spare_top_frees_the_top_and_keeps_the_order(entries: list[tuple[int, bool]]) -> None:
    values = np.array([value for value, _ in entries], np.int64)
    valid = np.array([there for _, there in entries], np.bool_)
    moved, gap = spare_top(values, valid)
    held = moved[valid]
    assert (held < INT64_MAX).all()
    assert restore_top(held, gap).tolist() == values[valid].tolist()
    assert np.array_equal(np.argsort(held, kind="stable"), np.argsort(values[valid], kind="stable"))


def test_spare_top_of_a_solid_run() -> None:
    values = np.arange(INT64_MAX - 5, INT64_MAX, dtype=np.int64)
    values = np.append(values, INT64_MAX)
    moved, gap = spare_top(values, np.ones(6, np.bool_))
    assert gap == INT64_MAX - 6
    assert moved.tolist() == (values - 1).tolist()
