"""What binary formats write as numbers, in the words of JSON: floats, the bytes of a decimal, counted nanoseconds."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal

from tidewire.verification.input.decoding import Bad, Number

_MOST_DECIMAL_BYTES = 1_500


def float_number(type: str, value: float) -> Number:
    """Return a float, digit by digit, for a column that takes one. Raises Bad."""
    if type not in ("FLOAT", "DOUBLE") or not math.isfinite(value):
        raise Bad("a float")
    return Number(str(Decimal(value)))


def decimal_number(type: str, value: bytes, scale: int) -> Number:
    """Return a decimal of its two's complement, highest byte first. Raises Bad."""
    if not type.startswith("DECIMAL") or not 0 < len(value) <= _MOST_DECIMAL_BYTES:
        raise Bad("no decimal")
    return Number(f"{int.from_bytes(value, 'big', signed=True)}e{-scale}")


def moment_text(nanos: int) -> str:
    """Return a timestamp of nanoseconds since 1970. Raises Bad."""
    micros, rest = divmod(nanos, 1_000)
    if rest:
        raise Bad("finer than a microsecond")
    try:
        return (dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=micros)).isoformat(" ")
    except OverflowError:
        raise Bad("no timestamp of the years 1 to 9999") from None
