"""Values of one type in many rows: what expressions are computed of, and what becomes a column of a view.

    type                       codes
    VARCHAR                    numbers of texts in `strings`
    DECIMAL over 18 digits     the same, as columns have them; or as exact integers, where they were computed
    any other                  order codes

Numbers meet as *units* where both sides are exact, integers of 10**-scale, in 64 bits or, where these do not hold
them, as Python's; and as the nearest doubles where one side is a REAL or DOUBLE.

Cost: O(rows), 2 ns each in 64 bits, 0.1 us in Python's integers; of wide decimals as `decimal_texts.py` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from catalog.types.column_type import ColumnType, Kind
from operators.batch_view import BatchView
from operators.exact_units import double_of_units
from operators.views.decimal_texts import texts_of_units, units_of_texts
from operators.views.made_changes import MadeColumn
from state.byte_table import Strings
from state.change_batch import I64, Bool
from state.order_code import INT64_MAX, codes_of_doubles, doubles_of_codes

Exact = npt.NDArray[Any]
"""Integers: int64, or objects where 64 bits do not hold them."""
F64 = npt.NDArray[np.float64]
EXACT_KINDS = (Kind.SMALLINT, Kind.INTEGER, Kind.BIGINT, Kind.DECIMAL)
FLOAT_KINDS = (Kind.REAL, Kind.DOUBLE)
_EXACT_DOUBLE = 2**53
_EXACT_POWER = 22


@dataclass(frozen=True, slots=True)
class RowValues:
    """k values. codes: see the module's header, 0 where NULL.  valid: bool[k]."""

    type: ColumnType
    codes: Exact
    valid: Bool
    strings: Strings | None = None

    @classmethod
    def of_column(cls, view: BatchView, column: int, versions: I64) -> RowValues:
        """Return a column of some versions."""
        type_ = view.relation.columns[column].type
        strings = None if type_.coded else view.rows.strings_of(column)
        return cls(type_, view.replay.codes[column][versions], view.replay.valid[column][versions], strings)

    @classmethod
    def of_versions(cls, view: BatchView, column: int, versions: I64) -> RowValues:
        """Return a column of some versions, NULL for -1."""
        there = versions >= 0
        if there.all():
            return cls.of_column(view, column, versions)
        found = cls.of_column(view, column, versions[there])
        codes, valid = np.zeros(len(versions), np.int64), np.zeros(len(versions), np.bool_)
        codes[there], valid[there] = found.codes, found.valid
        return cls(found.type, codes, valid, found.strings)

    @classmethod
    def of_constant(cls, type_: ColumnType, value: int | str | None, count: int) -> RowValues:
        """Return the same value `count` times, given as order code or text."""
        code, valid = value if isinstance(value, int) else 0, np.full(count, value is not None)
        strings = Strings.of([value.encode() if isinstance(value, str) else b""])
        return cls(type_, np.full(count, code, np.int64), valid, None if type_.coded else strings)

    @classmethod
    def of_doubles(cls, type_: ColumnType, values: F64, valid: Bool) -> RowValues:
        """Return doubles; what is not finite is NULL."""
        if type_.kind is Kind.REAL:
            with np.errstate(over="ignore"):
                values = values.astype(np.float32).astype(np.float64)
        there = valid & np.isfinite(values)
        return cls(type_, codes_of_doubles(np.where(there, values, 0.0)), there)

    @classmethod
    def of_units(cls, type_: ColumnType, units: Exact, valid: Bool) -> RowValues:
        """Return exact numbers, given in units of the type. Raises OverflowError if a coded type does not hold one."""
        units = np.where(valid, units, 0)
        return cls(type_, units.astype(np.int64) if type_.coded else units, valid)

    def __len__(self) -> int:
        return len(self.valid)

    @property
    def exact(self) -> bool:
        """Whether these are numbers that are no floats."""
        return self.type.kind in EXACT_KINDS

    def units(self) -> Exact:
        """Return exact numbers in units of their own type."""
        if self.strings is None:
            return self.codes
        used, place = np.unique(self.codes[self.valid], return_inverse=True)
        read = units_of_texts(self.type, self.strings.take(used))
        units = np.zeros(len(self), read.dtype)
        units[self.valid] = read[place]
        return units

    def doubles(self) -> F64:
        """Return each number as the nearest double."""
        if not self.exact:
            return doubles_of_codes(self.codes)
        return nearest_doubles(self.units(), self.type.scale)

    def as_type(self, type_: ColumnType) -> RowValues:
        """Return the same values as those of another type, which holds them; numbers as the nearest double of it."""
        if type_ == self.type:
            return self
        if type_.kind in FLOAT_KINDS:
            return RowValues.of_doubles(type_, self.doubles(), self.valid)
        if type_.kind in EXACT_KINDS:
            return RowValues.of_units(type_, scaled(self.units(), type_.scale - self.type.scale), self.valid)
        return RowValues(type_, self.codes, self.valid, self.strings)

    def flat_texts(self) -> Strings | None:
        """Return the text of each value, end to end, nothing for NULL; None where values are no texts."""
        if self.strings is None:
            return None
        found = self.strings.take(self.codes[self.valid])
        lengths = np.zeros(len(self), np.int64)
        lengths[self.valid] = found.lengths
        stops = np.cumsum(lengths)
        return Strings(found.data, stops - lengths, stops)

    def made(self) -> MadeColumn:
        """Return these as a column of a view."""
        if self.type.coded:
            return MadeColumn(np.where(self.valid, self.codes, 0), self.valid)
        flat = self.flat_texts()
        if flat is not None:
            return MadeColumn.of_texts(flat, self.valid)
        return MadeColumn.of_texts(texts_of_units(self.type, self.codes), self.valid)


def first_valid(values: Sequence[RowValues]) -> RowValues:
    """Return of values of one type, row by row, the first that is not NULL."""
    head = values[0]
    codes, valid = head.codes.copy(), head.valid.copy()
    strings = head.strings
    for other in values[1:]:
        fill = ~valid & other.valid
        shift = 0
        taken = other.codes
        if strings is not None and other.strings is not None:
            shift, strings = len(strings), strings.then(other.strings)
        elif strings is not None or other.strings is not None:
            taken, codes, strings = other.units(), RowValues(head.type, codes, valid, strings).units(), None
        if taken.dtype != codes.dtype:
            taken, codes = taken.astype(np.object_), codes.astype(np.object_)
        codes[fill] = taken[fill] + shift
        valid |= fill
    return RowValues(head.type, codes, valid, strings)


def largest(units: Exact) -> int:
    """Return the largest magnitude among some integers."""
    return max(abs(int(units.min())), abs(int(units.max()))) if len(units) else 0


def scaled(units: Exact, digits: int) -> Exact:
    """Return integers times 10**digits, in 64 bits if they hold them."""
    if not digits:
        return units
    factor = 10**digits
    if units.dtype != np.object_ and largest(units) * factor > INT64_MAX:
        units = units.astype(np.object_)
    return units * factor


def nearest_doubles(units: Exact, scale: int) -> F64:
    """Return units / 10**scale as the nearest doubles. Cost: 2 ns each below 2**53, else 0.3 us."""
    if units.dtype != np.object_ and (not scale or (scale <= _EXACT_POWER and largest(units) <= _EXACT_DOUBLE)):
        quotients: F64 = units.astype(np.float64) / 10.0**scale
        return quotients
    one = 10**scale
    return np.array([double_of_units(one, int(unit)) for unit in units.tolist()], np.float64)
