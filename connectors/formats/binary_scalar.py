"""Values that binary formats write otherwise than JSON: floats, unscaled decimals, counted times, all exact."""

from __future__ import annotations

import math

from catalog.types.column_type import ColumnType, Kind
from connectors.dead_letter import RecordFault
from connectors.json.document import Number, shown
from connectors.json.scalar import Coded, read_scalar
from state.nearest_float import real_of
from state.order_code import code_of_double

_LONGEST_DECIMAL = 1_500


def read_float(type_: ColumnType, value: float) -> int:
    """Return the code of a finite float; for a REAL, of the nearest 32-bit float. Raises RecordFault."""
    number = real_of(value) if type_.kind is Kind.REAL and math.isfinite(value) else value
    if not math.isfinite(number):
        raise RecordFault("out_of_range", f"expected {type_}, got {value!r}")
    return code_of_double(number)


def read_unscaled(type_: ColumnType, value: bytes, scale: int) -> Coded:
    """Return a DECIMAL of big-endian two's complement bytes, times 10 to the power of -`scale`. Raises RecordFault."""
    if not value:
        raise RecordFault("malformed_value", f"expected {type_}, got a decimal without bytes")
    if len(value) > _LONGEST_DECIMAL:
        raise RecordFault("out_of_range", f"expected {type_}, got a decimal of {len(value)} bytes")
    return read_scalar(type_, Number(f"{int.from_bytes(value, 'big', signed=True)}e{-scale}"))


def whole_micros(type_: ColumnType, nanos: int) -> int:
    """Return the code of a TIMESTAMP of nanoseconds since 1970. Raises RecordFault."""
    micros, rest = divmod(nanos, 1_000)
    if rest:
        raise RecordFault("out_of_scale", f"expected {type_} in whole microseconds, got {nanos} ns")
    return within(type_, micros)


def within(type_: ColumnType, code: int) -> int:
    """Return the code of a DATE or TIMESTAMP if its year is one of 0001 to 9999. Raises RecordFault."""
    lowest, highest = type_.reach
    if not lowest <= code <= highest:
        raise RecordFault("out_of_range", f"expected {type_} of the years 0001 to 9999, got {shown(Number(code))}")
    return code
