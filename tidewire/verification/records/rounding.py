"""Decimal texts as numbers: exact ones, and the nearest 32-bit float, found among its neighbours by exact fractions."""

from __future__ import annotations

import math
import re
import struct
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from fractions import Fraction

EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
"""Holds every number that a record or a statement has room for."""
_EXPONENT = re.compile(r"(.*)[eE]([+-]?)0*([0-9]+)")
_LONGEST_EXPONENT = 6
_LARGEST, _INFINITE = 0x7F7FFFFF, 0x7F800000


def number_of(text: str) -> Decimal:
    """Return the number that a text spells; one whose exponent has more than six digits is as far away, or as small.

    >>> number_of("1e-99999999999999999999"), number_of("0e99999999999999999999")
    (Decimal('1E-999999'), Decimal('0'))
    """
    found = _EXPONENT.fullmatch(text)
    if found is None or len(found[3]) <= _LONGEST_EXPONENT:
        return EXACT.create_decimal(text)
    mantissa = EXACT.create_decimal(found[1])
    if not mantissa:
        return Decimal(0)
    least = 10**_LONGEST_EXPONENT - 1
    return mantissa.scaleb(-least if found[2] == "-" else least, EXACT)


def nearest_real(text: str) -> float:
    """Return the nearest 32-bit float, ties to even, infinite beyond the largest."""
    double = float(text)
    if double == 0.0 or math.isinf(double):
        return double
    exact = abs(Fraction(number_of(text)))
    near: int = struct.unpack("<I", struct.pack("<f", min(abs(double), float(_real_of(_LARGEST)))))[0]
    best = min((near - 1, near, near + 1), key=lambda bits: (abs(_real_of(bits) - exact), bits & 1))
    return math.copysign(math.inf if best >= _INFINITE else float(_real_of(best)), double)


def _real_of(bits: int) -> Fraction:
    """Return the 32-bit float of these bits; beyond the largest stands where the next one would be."""
    if bits > _LARGEST:
        return 2 * _real_of(_LARGEST) - _real_of(_LARGEST - 1)
    return Fraction(struct.unpack("<f", struct.pack("<I", max(bits, 0)))[0])
