"""The verification's rounding, against exact fractions."""

import math
from decimal import Decimal

import pytest
from hypothesis import example, given, settings

from tests.effort import examples
from tests.oracle.naive_float import hard_texts, naive_real
from tidewire.verification.input.decoding import Bad, Number, scalar
from tidewire.verification.records.rounding import nearest_real, number_of


@given(hard_texts() | hard_texts(small=True))
@example("340282356779733661637539395458142568448")
@example("-340282356779733661637539395458142568447.9")
@settings(deadline=None, max_examples=examples(400))
def test_a_real_is_rounded_once(text: str) -> None:
    nearest = naive_real(text)
    assert nearest_real(text) == nearest
    if math.isinf(nearest):
        with pytest.raises(Bad):
            scalar("FLOAT", Number(text))
    else:
        assert scalar("FLOAT", Number(text)) == repr(nearest + 0.0)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1.50", "1.50"),
        ("-2E+3", "-2E+3"),
        ("-1e99999999999999999999", "-1E+999999"),
        ("12e-0099999999999999999999", "12E-999999"),
        ("0.0e99999999999999999999", "0"),
        ("1e0000000000000000000002", "1E+2"),
        ("7" * 12_000, "7" * 12_000),
    ],
)
def test_a_text_of_any_length_is_a_number(text: str, number: str) -> None:
    assert number_of(text) == Decimal(number)


def test_what_is_too_small_or_too_large_for_a_real() -> None:
    assert scalar("FLOAT", Number("1e-99999999999999999999")) == "0.0"
    assert scalar("DECIMAL(4,2)", Number("0e99999999999999999999")) == "0"
    assert nearest_real("-1e99999999999999999999") == -math.inf
