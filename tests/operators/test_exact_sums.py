from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.types.column_type import ColumnType, Kind
from operators.exact_sums import ExactSums
from operators.exact_units import double_of_units, units_of_one
from state.change_batch import ChangeBatch
from state.order_code import INT64_MAX, INT64_MIN, code_of_double
from state.row_store import RowStore
from tests.effort import examples

CALM = settings(max_examples=examples(100), deadline=None)
BIGINT, DOUBLE, WIDE = ColumnType(Kind.BIGINT), ColumnType(Kind.DOUBLE), ColumnType(Kind.DECIMAL, 38, 2)
DOUBLES = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([5e-324, -5e-324, 2.3e-308, 1e308, -0.0])


def stretches(n: int) -> tuple[np.ndarray, np.ndarray]:
    pairs = [(first, stop) for first in range(n + 1) for stop in range(first, n + 1)]
    first, stop = np.array(pairs, np.int64).T.copy()
    return first, stop


def check(sums: ExactSums, units: list[int]) -> None:
    first, stop = stretches(len(units))
    expected = [sum(units[a:b]) for a, b in zip(first.tolist(), stop.tolist(), strict=True)]
    assert sums.between(first, stop) == expected


@CALM
@given(st.lists(st.integers(INT64_MIN, INT64_MAX) | st.sampled_from([INT64_MIN, INT64_MAX, -1, 0]), max_size=7))
def test_integers_beyond_64_bits(codes: list[int]) -> None:
    check(ExactSums.of(BIGINT, np.array(codes, np.int64)), codes)


@CALM
@given(st.lists(DOUBLES, max_size=7))
def test_doubles_are_summed_without_rounding(values: list[float]) -> None:
    codes = np.array([code_of_double(value) for value in values], np.int64)
    check(ExactSums.of(DOUBLE, codes), [int(Fraction(value) * 2**1074) for value in values])


def test_adding_and_taking_away_leaves_nothing() -> None:
    codes = np.array([code_of_double(value) for value in (1e308, 0.1, -1e308)])
    (total,) = ExactSums.of(DOUBLE, codes).between(np.array([0]), np.array([3]))
    assert double_of_units(units_of_one(DOUBLE), total) == 0.1


@CALM
@given(st.lists(st.none() | st.integers(1 - 10**38, 10**38 - 1), max_size=7))
def test_wide_decimals(unscaled: list[int | None]) -> None:
    texts = [None if value is None else _text(value) for value in unscaled]
    rows, m = RowStore(1, (0,)), len(texts)
    valid = np.array([text is not None for text in texts], np.bool_).reshape(1, m)
    live, nowhere = np.ones(m, np.bool_), np.zeros(m, np.int32)
    keys = [b"%d" % i for i in range(m)]
    batch = ChangeBatch(keys, live, np.zeros((1, m), np.int64), valid, {0: texts}, nowhere, np.arange(m))
    rows.commit(rows.replay(batch))
    still = rows.still()
    check(ExactSums.of_texts(WIDE, still.codes[0], still.valid[0], rows, 0), [value or 0 for value in unscaled])


def _text(unscaled: int) -> str:
    digits = str(abs(unscaled)).rjust(3, "0")
    return f"{'-' if unscaled < 0 else ''}{digits[:-2]}.{digits[-2:]}"
