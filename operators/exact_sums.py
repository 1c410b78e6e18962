"""Exact sums over stretches of a column: prefix sums of 32-bit limbs, so that nothing rounds and nothing overflows.

A value in units (exact_units.py) is an integer of up to 2,130 bits. Written in base 2**32, with the sign at every
limb or at the highest, each limb is below 2**33, so 2**30 of them fit into an int64; only limbs that occur are kept:

    integers, short decimals    2 limbs
    wide decimals               5 limbs
    doubles                     3 limbs each, at 2**(exponent / 32); 6 or so for values of one kind, at most 67

Cost: O(n) for each limb, 10 ns; a stretch 0.3 us and 0.1 us a limb.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np

from catalog.types.column_type import ColumnType, Kind
from operators.readable_rows import Texts
from state.byte_table import U8
from state.change_batch import I64, Bool
from state.distinct_numbers import distinct_numbers
from state.order_code import doubles_of_codes

_LIMB = 32
_LOW = 2**_LIMB - 1
_WIDE = 5
_FRACTION = 52
_MINUS, _ZERO, _NINE = 45, 48, 57


@numba.njit(cache=True)
def _read(data: U8, starts: I64, stops: I64, limbs: I64) -> None:
    """Read the digits of decimal texts into limbs, which are 0; those of a negative one are negative all of them."""
    for i in range(len(starts)):
        sign = 1
        for at in range(starts[i], stops[i]):
            digit = data[at]
            if digit == _MINUS:
                sign = -1
            elif _ZERO <= digit <= _NINE:
                carry = np.int64(digit) - _ZERO
                for k in range(len(limbs)):
                    carry += limbs[k, i] * 10
                    limbs[k, i] = carry & _LOW
                    carry >>= _LIMB
        for k in range(len(limbs)):
            limbs[k, i] *= sign


ENTRIES = (_read,)
"""The kernels that are called from Python."""


@dataclass(frozen=True, slots=True)
class Limbs:
    """n values. limbs: int64[limbs, n], limb k in units of 2**(32 * (k + lowest)); sums of up to 2**30 of them fit."""

    limbs: I64
    lowest: int = 0

    @classmethod
    def of(cls, type_: ColumnType, codes: I64) -> Limbs:
        """Return values given as order codes."""
        if type_.kind in (Kind.REAL, Kind.DOUBLE):
            return cls._of_doubles(codes)
        return cls(np.stack([codes & _LOW, codes >> _LIMB]))

    @classmethod
    def of_texts(cls, type_: ColumnType, numbers: I64, there: Bool, rows: Texts, column: int) -> Limbs:
        """Return wide decimals given as dictionary numbers, 0 where none is there, or texts are no numbers.

        Cost: 0.1 us a different one.
        """
        if type_.kind is not Kind.DECIMAL:
            return cls(np.zeros((_WIDE, len(numbers)), np.int64))
        used, which = distinct_numbers(numbers[there])
        digits = np.zeros((_WIDE, len(used)), np.int64)
        _read(*rows.strings_of(column).take(used).views, digits)
        limbs = np.zeros((_WIDE, len(numbers)), np.int64)
        limbs[:, there] = digits[:, which]
        return cls(limbs)

    @classmethod
    def _of_doubles(cls, codes: I64) -> Limbs:
        bits = doubles_of_codes(codes).view(np.int64)
        exponent, fraction = (bits >> _FRACTION) & 0x7FF, bits & (2**_FRACTION - 1)
        mantissa = np.where(exponent > 0, fraction | 2**_FRACTION, fraction)
        shift = np.maximum(exponent - 1, 0)
        place, within = shift // _LIMB, shift % _LIMB
        filled = mantissa != 0
        if not filled.any():
            return cls(np.zeros((0, len(codes)), np.int64))
        lowest, highest = int(place[filled].min()), int(place[filled].max())
        low, high = (mantissa & _LOW) << within, (mantissa >> _LIMB) << within
        sign = np.where(bits < 0, -1, 1)
        limbs = np.zeros((highest - lowest + 3, len(codes)), np.int64)
        at, which = (place - lowest)[filled], np.flatnonzero(filled)
        limbs[at, which] = (sign * (low & _LOW))[filled]
        limbs[at + 1, which] = (sign * ((low >> _LIMB) + (high & _LOW)))[filled]
        limbs[at + 2, which] = (sign * (high >> _LIMB))[filled]
        return cls(limbs, lowest)


class ExactSums:
    """Sums of the values of any stretch [first, stop)."""

    __slots__ = ("_lowest", "_sums")

    def __init__(self, values: Limbs) -> None:
        """Take the values. Cost: O(n) a limb."""
        limbs = values.limbs
        self._sums = np.zeros((len(limbs), limbs.shape[1] + 1), np.int64)
        np.cumsum(limbs, axis=1, out=self._sums[:, 1:])
        self._lowest = values.lowest

    @classmethod
    def of(cls, type_: ColumnType, codes: I64) -> ExactSums:
        """Return the sums of values given as order codes."""
        return cls(Limbs.of(type_, codes))

    @classmethod
    def of_texts(cls, type_: ColumnType, numbers: I64, there: Bool, rows: Texts, column: int) -> ExactSums:
        """Return the sums of wide decimals given as dictionary numbers. Cost: 0.1 us a different one, besides."""
        return cls(Limbs.of_texts(type_, numbers, there, rows, column))

    def between(self, first: I64, stop: I64) -> list[int]:
        """Return the sum of each stretch [first, stop). Cost: see the module's header."""
        return totals_of(self._sums[:, stop] - self._sums[:, first], self._lowest)


def totals_of(sums: I64, lowest: int) -> list[int]:
    """Return the totals that sums of limbs are, int64[limbs, totals]. Cost: 0.1 us a limb and total."""
    totals = [0] * sums.shape[1]
    for k, column in enumerate(sums.tolist()):
        shift = _LIMB * (k + lowest)
        totals = [total + (limb << shift) for total, limb in zip(totals, column, strict=True)]
    return totals
