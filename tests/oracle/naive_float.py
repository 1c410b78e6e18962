"""Rounding by exact fractions, and the decimal texts that are hard to round: those around the middle of two floats."""

from __future__ import annotations

import math
import struct
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context
from fractions import Fraction

from hypothesis import strategies as st

EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
_FORMS = {32: (24, -149, 2**128), 64: (53, -1074, 2**1024)}


def naive_nearest(text: str, bits: int) -> float:
    """Return the float of so many bits nearest to `text`: a multiple of the unit of its size, ties to even."""
    precision, least, beyond = _FORMS[bits]
    if abs(float(text)) in (0.0, math.inf):
        return float(text)
    exact = Fraction(EXACT.create_decimal(text))
    size, power = abs(exact), least
    while size >= Fraction(2) ** (power + precision):
        power += 1
    unit = Fraction(2) ** power
    units = round(size / unit)
    nearest = math.inf if units * unit >= beyond else float(units * unit)
    return -nearest if exact < 0 else nearest


def naive_real(text: str) -> float:
    """Return the nearest 32-bit float."""
    return naive_nearest(text, 32)


def _real(pattern: int) -> Fraction:
    return Fraction(struct.unpack("<f", struct.pack("<I", pattern))[0])


def _double(pattern: int) -> Fraction:
    return Fraction(struct.unpack("<d", struct.pack("<Q", pattern))[0])


def _written(value: Fraction) -> str:
    """Return a fraction whose denominator is a power of two as a decimal text, with all its digits."""
    power = value.denominator.bit_length() - 1
    digits = str(abs(value.numerator) * 5**power)
    text = f"{digits[:-power] or '0'}.{digits[-power:].rjust(power, '0')}" if power else digits
    return ("-" if value < 0 else "") + text


_PLACES = {
    "real": (_real, st.integers(0, 0x7F7FFFFE) | st.integers(0, 9) | st.integers(0x7FFFFA, 0x800009)),
    "double": (_double, st.integers(0x3FF0000000000000, 0x3FFFFFFFFFFFFFFE) | st.integers(0, 3)),
}


@st.composite
def hard_texts(draw: st.DrawFn, small: bool = False) -> str:
    """Draw a number at, just below or just above a float or the middle of two, in one of its spellings.

    `small`: with at most 18 digits, none far from 1.
    """
    if small:
        return draw(_short_texts())
    made, patterns = _PLACES[draw(st.sampled_from(["real", "real", "double"]))]
    pattern = draw(patterns)
    low, high = made(pattern), made(pattern + 1)
    text = _written(draw(st.sampled_from([low, (low + high) / 2, (low + high) / 2])))
    if draw(st.booleans()):
        tail = "0" * draw(st.integers(0, 30)) + draw(st.sampled_from(["", "1", "000"]))
        text += tail if "." in text else f".{tail}0"
    else:
        text = _below(text)
    return draw(st.sampled_from(["", "-"])) + draw(_spelt(text))


@st.composite
def _short_texts(draw: st.DrawFn) -> str:
    """Draw what a division of two integers rounds to the middle of two 32-bit floats, though it is none."""
    pattern = draw(st.integers(0x3F800000, 0x3F8FFFFF) | st.integers(0x4B000000, 0x4B8FFFFF))
    middle = (_real(pattern) + _real(pattern + 1)) / 2
    digits = draw(st.integers(12, 17)) - len(str(int(middle)))
    units = int(middle * 10**digits) + draw(st.integers(0, 1))
    return f"{units // 10**digits}.{units % 10**digits:0{digits}d}"


def _below(text: str) -> str:
    """Return a number a little below `text`, in its size."""
    if not text.strip("0."):
        return text
    whole, _, fraction = text.partition(".")
    digits = str(int(whole + fraction) * 10**20 - 1).rjust(len(whole) + len(fraction) + 20, "0")
    return f"{digits[: len(whole)]}.{digits[len(whole) :]}"


@st.composite
def _spelt(draw: st.DrawFn, text: str) -> str:
    """Draw a spelling: as it is, or with an exponent."""
    if draw(st.booleans()):
        return text
    whole, _, fraction = text.partition(".")
    digits = (whole + fraction).lstrip("0") or "0"
    exponent = len(digits) - 1 - len(fraction)
    mark = draw(st.sampled_from(["e", "E"]))
    sign = "+" if exponent >= 0 and draw(st.booleans()) else ""
    mantissa = digits[0] + ("." + digits[1:] if digits[1:] else "")
    return f"{mantissa}{mark}{sign}{exponent}"
