from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.types.column_type import ColumnType, Kind
from connectors.dead_letter import RecordFault
from connectors.formats.binary_scalar import read_float, read_unscaled, whole_micros, within
from state.order_code import code_of_double

REAL, DOUBLE, TIMESTAMP = ColumnType(Kind.REAL), ColumnType(Kind.DOUBLE), ColumnType(Kind.TIMESTAMP)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats(value: float) -> None:
    assert read_float(DOUBLE, value) == code_of_double(value)
    with np.errstate(over="ignore"):
        nearest = float(np.float32(value))
    if np.isfinite(nearest):
        assert read_float(REAL, value) == code_of_double(nearest)
    else:
        with pytest.raises(RecordFault, match="expected REAL"):
            read_float(REAL, value)


@given(st.integers(-(10**20), 10**20), st.integers(0, 8), st.integers(0, 6))
def test_unscaled_decimals(unscaled: int, scale: int, column_scale: int) -> None:
    data = unscaled.to_bytes(16, "big", signed=True)
    found = Fraction(unscaled) / 10**scale * 10**column_scale
    if found.denominator == 1:
        read = read_unscaled(ColumnType(Kind.DECIMAL, 38, column_scale), data, scale)
        assert isinstance(read, str) and Fraction(Decimal(read)) == found / 10**column_scale
    else:
        with pytest.raises(RecordFault, match="beyond the scale"):
            read_unscaled(ColumnType(Kind.DECIMAL, 38, column_scale), data, scale)


def test_decimals_without_bytes_or_with_too_many() -> None:
    for data, said in ((b"", "without bytes"), (b"\1" * 1_501, "of 1501 bytes")):
        with pytest.raises(RecordFault, match=said):
            read_unscaled(ColumnType(Kind.DECIMAL, 12, 2), data, 2)


def test_times() -> None:
    assert (whole_micros(TIMESTAMP, -1_000), whole_micros(TIMESTAMP, 5_000)) == (-1, 5)
    with pytest.raises(RecordFault, match="whole microseconds"):
        whole_micros(TIMESTAMP, 1_001)
    low, high = TIMESTAMP.reach
    assert (within(TIMESTAMP, low), within(TIMESTAMP, high)) == (low, high)
    for code in (low - 1, high + 1):
        with pytest.raises(RecordFault, match="0001 to 9999"):
            within(TIMESTAMP, code)
