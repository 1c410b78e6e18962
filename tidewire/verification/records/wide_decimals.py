"""DECIMALs of more than 18 digits in conditions: compared by text keys, since DuckDB has no type with digits to spare.

A constant may lie between two values of the column, or beyond them all; beside a DECIMAL(38,2) there is no type in
which DuckDB could hold 0.005. The key of a value is its sign and its digits in units of the last place, the nines'
complement of them below zero, so keys sort as values do; the key of a constant that is no value is that of the
next lower one with a 5 behind it.

    DECIMAL(4,2)     -0.01 -> 099998     0.00 -> 100000     0.005 -> 1000005     0.01 -> 100001
"""

from __future__ import annotations

import re
from decimal import ROUND_FLOOR, Decimal

from tidewire.verification.records.rounding import EXACT

_DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_NARROW = 18
_MOST_DIGITS = 39
_BELOW, _BEYOND = "", "9"


def wide_digits(type: str) -> tuple[int, int] | None:
    """Return precision and scale of a DECIMAL of more than 18 digits, and of HUGEINT; None for other types."""
    if type == "HUGEINT":
        return _MOST_DIGITS, 0
    found = _DECIMAL.fullmatch(type)
    return (int(found[1]), int(found[2])) if found is not None and int(found[1]) > _NARROW else None


def key_column(name: str) -> str:
    """Return the name of the column that holds the keys of the column `name`."""
    return f"__key_{name.lower().encode().hex()}"


def key_expression(column: str, precision: int, scale: int) -> str:
    """Return the SQL of the key of `column`, NULL for NULL."""
    digits = f"lpad(replace(ltrim(CAST({column} AS VARCHAR), '-'), '.', ''), {precision + 1}, '0')"
    complement = f"translate({digits}, '0123456789', '9876543210')"
    return f"CASE WHEN {column} < 0 THEN '0' || {complement} WHEN {column} >= 0 THEN '1' || {digits} END"


def key_of(number: Decimal, precision: int, scale: int) -> str:
    """Return the key of a constant beside a column of DECIMAL(precision, scale).

    >>> [key_of(Decimal(text), 4, 2) for text in ("-0.01", "0", "0.005", "0.01", "100", "-1e9")]
    ['099998', '100000', '1000005', '100001', '9', '']
    """
    if number and number.adjusted() >= precision - scale:
        return _BELOW if number < 0 else _BEYOND
    floor = number.quantize(Decimal(1).scaleb(-scale), rounding=ROUND_FLOOR, context=EXACT)
    units = int(format(floor, "f").replace(".", ""))
    digits = str(units if units >= 0 else 10 ** (precision + 1) - 1 + units).rjust(precision + 1, "0")
    return f"{'1' if units >= 0 else '0'}{digits}{'' if floor == number else '5'}"
