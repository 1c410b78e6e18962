"""Numbers of binary formats in the words of JSON, to the last digit."""

from __future__ import annotations

import pytest

from tidewire.verification.input.binary_values import decimal_number, float_number, moment_text
from tidewire.verification.input.decoding import Bad, Number


def test_floats_are_said_digit_by_digit() -> None:
    assert float_number("DOUBLE", 0.1) == "0.1000000000000000055511151231257827021181583404541015625"
    assert float_number("FLOAT", 0.5) == Number("0.5")
    assert isinstance(float_number("FLOAT", 0.5), Number)


@pytest.mark.parametrize(
    ("type_", "value"),
    [("BIGINT", 1.0), ("DECIMAL(6,2)", 1.5), ("VARCHAR", 1.5), ("DOUBLE", float("inf")), ("FLOAT", float("nan"))],
)
def test_other_columns_take_no_float_and_none_takes_what_is_no_number(type_: str, value: float) -> None:
    with pytest.raises(Bad):
        float_number(type_, value)


@pytest.mark.parametrize(
    ("value", "scale", "said"),
    [
        (b"\x04\xe2", 2, "1250e-2"), (b"\xff", 0, "-1e0"), (b"\x80\0", 1, "-32768e-1"), (b"\0\x80", 0, "128e0"),
        (b"\1", -3, "1e3"), (b"\0" * 1_500, 0, "0e0"),
    ],
)  # fmt: skip
def test_decimals_are_twos_complement(value: bytes, scale: int, said: str) -> None:
    assert decimal_number("DECIMAL(6,2)", value, scale) == said


@pytest.mark.parametrize(
    ("type_", "value"), [("BIGINT", b"\1"), ("DECIMAL(6,2)", b""), ("DECIMAL(6,2)", b"\0" * 1_501)]
)
def test_what_is_no_decimal(type_: str, value: bytes) -> None:
    with pytest.raises(Bad):
        decimal_number(type_, value, 0)


SECOND = 10**9


@pytest.mark.parametrize(
    ("nanos", "said"),
    [
        (0, "1970-01-01 00:00:00"), (1_000, "1970-01-01 00:00:00.000001"), (-1_000, "1969-12-31 23:59:59.999999"),
        (-62_135_596_800 * SECOND, "0001-01-01 00:00:00"),
        (253_402_300_800 * SECOND - 1_000, "9999-12-31 23:59:59.999999"),
    ],
)  # fmt: skip
def test_moments(nanos: int, said: str) -> None:
    assert moment_text(nanos) == said


@pytest.mark.parametrize(
    "nanos", [1, -1, 999, -62_135_596_800 * SECOND - 1_000, 253_402_300_800 * SECOND, 2**63 * SECOND, -(2**63) * SECOND]
)
def test_moments_that_no_column_has(nanos: int) -> None:
    with pytest.raises(Bad):
        moment_text(nanos)
