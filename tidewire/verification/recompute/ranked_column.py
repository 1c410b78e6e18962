"""One column that questions measure: its values by rank, as deliveries show them and as exact numbers.

Versions carry ranks only (`history`), so a sweep compares and adds integers: the value of rank 3 is `shown[3]`, and
`units[3]` of them, of which `one` make one. Rank 0 is NULL.

    BIGINT, DECIMAL(12,2)     units of the last digit          10.25 = 1025 units
    REAL, DOUBLE              units of 2**-1074                every double is a whole number of them
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

_FLOATS = ("FLOAT", "DOUBLE")
_INTEGERS = ("SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_FINEST = 2**1074


@dataclass(slots=True)
class Measure:
    """`type` is DuckDB's; `units` is empty where the type is no number."""

    type: str
    shown: list[Any] = field(default_factory=lambda: [None])
    units: list[int] = field(default_factory=lambda: [0])

    @classmethod
    def of(cls, type: str, values: Iterable[Any]) -> Measure:
        """Make a measure of the column's values, in order, as DuckDB gives them."""
        made = cls(type)
        for value in values:
            made.shown.append(json_value(value))
            if made.is_number:
                made.units.append(_units(value))
        return made

    @property
    def is_number(self) -> bool:
        """Whether values can be added."""
        return self.type in _FLOATS or self.type in _INTEGERS or self.type.startswith("DECIMAL")

    @property
    def is_float(self) -> bool:
        """Whether values are binary fractions, whose sums a double may not hold."""
        return self.type in _FLOATS

    @property
    def one(self) -> int:
        """How many units make one."""
        return _FINEST if self.type in _FLOATS else 10**self.scale

    @property
    def scale(self) -> int:
        """The digits behind the point of a DECIMAL, else 0."""
        return int(self.type[:-1].split(",")[1]) if self.type.startswith("DECIMAL") else 0

    def sum_shown(self, total: int) -> Any:
        """Return a total of units as a delivery shows a SUM."""
        if self.type in _FLOATS:
            return nearest(total, _FINEST)
        if not self.type.startswith("DECIMAL"):
            return total
        digits = str(abs(total)).rjust(self.scale + 1, "0")
        cut = len(digits) - self.scale
        return ("-" if total < 0 else "") + digits[:cut] + ("." + digits[cut:] if self.scale else "")

    def ordered(self, values: Iterable[Any]) -> list[Any]:
        """Return values as a delivery lists them: NULL first, then by value."""
        return sorted(values, key=self._place)

    def _place(self, value: Any) -> tuple[bool, Any]:
        if value is None:
            return False, 0
        return True, Fraction(value) if self.type.startswith("DECIMAL") else value


def nearest(numerator: int, denominator: int) -> float | str:
    """Return the double nearest to a quotient; a word where it would be infinite, for which JSON has no number."""
    try:
        return numerator / denominator
    except OverflowError:
        return "-Infinity" if numerator < 0 else "Infinity"


def json_value(value: Any) -> Any:
    """Return a value of DuckDB as a delivery shows it: decimals and times as text, the rest as itself."""
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, dt.datetime | dt.date):
        return value.isoformat()
    return value


def _units(value: Any) -> int:
    if isinstance(value, Decimal):
        return int(format(value, "f").replace(".", ""))
    if isinstance(value, float):
        numerator, denominator = value.as_integer_ratio()
        return numerator * (_FINEST // denominator)
    return int(value)
