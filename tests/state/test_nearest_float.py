"""One rounding, against exact fractions."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from state.nearest_float import nearest_double, nearest_real, real_of
from tests.effort import deep_examples, examples
from tests.oracle.naive_float import hard_texts, naive_nearest, naive_real


@pytest.mark.deep
@given(hard_texts() | hard_texts(small=True))
@example("1.0000000596046447753906250001")
@example("-1.0000000596046447753906249999")
@example("340282356779733661637539395458142568447.9")
@example("340282356779733661637539395458142568448")
@example("7.006492321624085354618e-46")
@example(
    "7.00649232162408535461864791644958065640130970938257885878534141944895541342930300743319094181060791015625e-46"
)
@settings(deadline=None, max_examples=deep_examples(1000))
def test_a_text_is_rounded_once(text: str) -> None:
    assert nearest_real(text) == naive_real(text)
    assert nearest_double(text) == naive_nearest(text, 64)


@given(st.floats(allow_nan=False, allow_infinity=False) | hard_texts().map(float))
@settings(deadline=None, max_examples=examples(300))
def test_a_double_is_taken_for_exactly_what_it_is(value: float) -> None:
    numerator, denominator = value.as_integer_ratio()
    power = denominator.bit_length() - 1
    assert real_of(value) == naive_real(f"{numerator * 5**power}e-{power}")


@pytest.mark.parametrize(("text", "infinite"), [("1e400", math.inf), ("-1e99999999999999999999", -math.inf)])
def test_what_lies_beyond_is_infinite(text: str, infinite: float) -> None:
    assert nearest_real(text) == nearest_double(text) == infinite


@pytest.mark.parametrize("text", ["1e-400", "1e-99999999999999999999", "0e99999999999999999999", "-0"])
def test_what_is_too_small_is_zero(text: str) -> None:
    assert nearest_real(text) == nearest_double(text) == 0.0
