"""JSON texts of outputs, from the states of their parts (`overlay/answers/answer.py`).

    COUNT                      integer
    COUNT(DISTINCT c)          integer: the total, which is without NULL
    SUM   integers, DECIMAL    integer of any size; string with the column's scale
          REAL, DOUBLE         number, the nearest double of the exact sum
    AVG                        number, the nearest double of the exact quotient
    MIN, MAX, DISTINCT         as the column: `catalog/types/value.py`; a whole DECIMAL, as views have them, integer
    no values                  null, except COUNT and COUNT(DISTINCT c): 0

JSON has no infinity: a SUM of doubles that no double can hold is the string "Infinity" or "-Infinity".
What is a *nearest* double is not all that is known of the answer: two of them may be exactly apart, and written the
same. `rounded` tells which outputs are so, and what is written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from catalog.types.column_type import ColumnType, Kind
from operators.exact_units import double_of_units, unit_of, units_of_one
from overlay.delivery.delivery import NULL, ValueTexts, json_text

OutputText = Callable[..., str]
"""From a state to JSON text: (count, total) for counts, sum and avg; an order code, text or None for the others."""

Rounded = Callable[[int, int], float | None]
"""From (count, total) to the double that is written, None for null."""

_FLOATS = (Kind.REAL, Kind.DOUBLE)


def output_text(function: str, type_: ColumnType | None) -> OutputText:
    """Return what writes an output of `function` over a column of `type_` (None: COUNT(*))."""
    if function == "count":
        return lambda pair: str(pair[0])
    if function == "count_distinct":
        return lambda pair: str(pair[1])
    assert type_ is not None, f"{function} is of a column"
    nearest = rounded(function, type_)
    if nearest is not None:
        return lambda pair: _number(nearest(*pair))
    if function == "sum":
        write = _sum_text(type_)
        return lambda pair: write(pair[1]) if pair[0] else NULL
    if type_.coded:
        texts = ValueTexts(type_)
        return lambda code: texts.text(code, True) if code is not None else NULL
    write_one = str if type_.whole else json_text
    return lambda text: write_one(text) if text is not None else NULL


def rounded(function: str, type_: ColumnType | None) -> Rounded | None:
    """Return what gives the double that an output is written as; None where it is written exactly."""
    if type_ is None or not (function == "avg" or (function == "sum" and type_.kind in _FLOATS)):
        return None
    units = units_of_one(type_)
    if function == "avg":
        return lambda count, total: double_of_units(units, total, count) if count else None
    return lambda count, total: double_of_units(units, total) if count else None


def sorted_texts(values: Iterable[int | str | None], type_: ColumnType | None, text: OutputText) -> list[str]:
    """Return the JSON texts of distinct values: NULL first, then in the order of the column's type."""
    values = list(values)
    known = [value for value in values if value is not None]
    if type_ is not None and type_.kind is Kind.DECIMAL and not type_.coded:
        decimal = type_
        known.sort(key=lambda value: unit_of(decimal, value))
    else:
        known.sort()
    return [NULL] * (len(known) < len(values)) + [text(value) for value in known]


def _sum_text(type_: ColumnType) -> Callable[[int], str]:
    if type_.kind is Kind.DECIMAL and not type_.whole:
        return lambda total: f'"{_fixed(total, type_.scale)}"'
    return str


def _fixed(unscaled: int, scale: int) -> str:
    if not scale:
        return str(unscaled)
    digits = str(abs(unscaled)).rjust(scale + 1, "0")
    return f"{'-' if unscaled < 0 else ''}{digits[:-scale]}.{digits[-scale:]}"


def _number(value: float | None) -> str:
    if value is not None and math.isinf(value):
        return '"Infinity"' if value > 0 else '"-Infinity"'
    return json_text(value)
