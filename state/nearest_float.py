"""Decimal texts and doubles as the nearest float of 64 or 32 bits: the one rounding of everything that people write.

Records, literals, parameters and rows to publish meet in a comparison, so all of them round here: to nearest, ties to
even, in one step from the text, gradually below the normal range, and to an infinity beyond the largest float. Whoever
may not have an infinity refuses it.

A REAL is not the 32-bit float nearest to the double nearest to the text: where that double lies midway between two
32-bit floats, it may be the result of a rounding itself.

    text       1.0000000596046447753906250001
    double     1.000000059604644775390625          midway between 1 and 1.00000011920928955078125
    twice      1.0                                 ties to even
    once       1.00000011920928955078125           the text lies above the middle
"""

from __future__ import annotations

import math
from decimal import Decimal

_BEYOND_REAL = 2.0**128


def nearest_double(text: str) -> float:
    """Return the 64-bit float nearest to the decimal `text`. Cost: 0.1 us.

    >>> nearest_double("0.1"), nearest_double("-1e400")
    (0.1, -inf)
    """
    return float(text)


def nearest_real(text: str) -> float:
    """Return the 32-bit float nearest to the decimal `text`, as the double that it equals. Cost: 1 us.

    >>> nearest_real("1.0000000596046447753906250001"), nearest_real("1e39")
    (1.0000001192092896, inf)
    """
    return _real(float(text), text)


def real_of(value: float) -> float:
    """Return the 32-bit float nearest to a double, which is taken for exactly what it is. Cost: 0.7 us."""
    return _real(value, None)


def _real(number: float, text: str | None) -> float:
    """Return the 32-bit float nearest to `text`, whose nearest double is `number`; to `number` if there is no text."""
    size = abs(number)
    if size >= _BEYOND_REAL:
        return math.copysign(math.inf, number)
    unit = math.ldexp(1.0, max(math.frexp(size)[1], -125) - 24)
    units, rest = divmod(size / unit, 1.0)
    if rest == 0.5:
        beyond = Decimal(text.removeprefix("-")).compare(Decimal(size)) if text is not None else 0
        rest += float(beyond) / 4 if beyond else 0.25 * (units % 2)
    nearest = (units + (rest > 0.5)) * unit
    return math.copysign(nearest if nearest < _BEYOND_REAL else math.inf, number)
