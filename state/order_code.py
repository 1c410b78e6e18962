"""Order codes: every orderable value as one int64, exactly order-preserving (architecture, "Order codes").

Integers, dates, timestamps and decimals of at most 18 digits are int64 as they are. Doubles go through the
sign-magnitude flip, b = bits(v + 0.0); b if b >= 0 else b ^ INT64_MAX: lossless, and -0.0 has the code of 0.0
(so -1, the pattern of -0.0, is the code of nothing). NaN has no place in an order: callers refuse it, and so
do the functions here.

A code may be any of the 2**64 integers, so none is free to mean "nothing here". Where a kernel needs such a
mark, `spare_top` frees INT64_MAX for one batch: a batch holds fewer than 2**64 distinct values, so some code
is held by none; the codes above it move down by one, and the order stays exact.
"""

from __future__ import annotations

import math
import struct

import numpy as np
import numpy.typing as npt

from state.change_batch import I64, Bool

INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1


def code_of_double(value: float) -> int:
    """Return the order code of a double.

    Raises ValueError for NaN.

    >>> code_of_double(-0.0), code_of_double(5e-324), code_of_double(-5e-324)
    (0, 1, -2)
    """
    if math.isnan(value):
        raise ValueError("NaN has no order code")
    bits: int = struct.unpack("<q", struct.pack("<d", value + 0.0))[0]
    return bits if bits >= 0 else bits ^ INT64_MAX


def double_of_code(code: int) -> float:
    """Return the double whose order code is `code`; the inverse of `code_of_double`."""
    bits = code if code >= 0 else code ^ INT64_MAX
    value: float = struct.unpack("<d", struct.pack("<q", bits))[0]
    return value


def codes_of_doubles(values: npt.NDArray[np.float64]) -> I64:
    """Return the order codes of an array of doubles.

    Cost: 3 ns a value. Raises ValueError if one is NaN.
    """
    if np.isnan(values).any():
        raise ValueError("NaN has no order code")
    bits = (values + 0.0).view(np.int64)
    return np.where(bits >= 0, bits, bits ^ INT64_MAX)


def doubles_of_codes(codes: I64) -> npt.NDArray[np.float64]:
    """Return the doubles of an array of order codes; the inverse of `codes_of_doubles`."""
    return np.where(codes >= 0, codes, codes ^ INT64_MAX).view(np.float64)


def spare_top(values: I64, valid: Bool) -> tuple[I64, int | None]:
    """Return order-equal `values` of which none that is valid is INT64_MAX, and the gap that made room (or None).

    `restore_top` undoes it. Cost: a maximum, O(n); only where INT64_MAX occurs, a sort.

    >>> spare_top(np.array([3, INT64_MAX]), np.array([True, True]))[1] == INT64_MAX - 1
    True
    """
    if not len(values) or values.max(where=valid, initial=INT64_MIN) < INT64_MAX:
        return values, None
    descending = np.unique(values[valid])[::-1]
    run = int(np.argmax(np.append(INT64_MAX - np.arange(len(descending)) != descending, True)))
    gap = INT64_MAX - run
    return np.where(values > gap, values - 1, values), gap


def restore_top(values: I64, gap: int | None) -> I64:
    """Return the codes that `spare_top` had moved, given its gap."""
    return values if gap is None else np.where(values >= gap, values + 1, values)
