"""Join keys: when values of two columns are equal, whatever their tables and types are.

    types of the columns                        equal where                        cost
    one family of codes (integers, say)         codes are equal                    10 ns a value
    VARCHAR; DECIMAL of one scale, over 18      texts are equal, looked up by      0.2 us a text, 4 ns a text that the
    digits                                      bytes                              other table has
    other numbers                               exact rationals are equal          5 us a different value

A family is of types whose codes mean the same: SMALLINT, INTEGER, BIGINT and DECIMAL of scale 0; DECIMAL of one scale;
REAL and DOUBLE (-0.0 has the code of 0.0); any other type alone. NULL is equal to nothing.

`translated` takes the values of one column to the codes of another, to look rows up by them; `numbered` gives values of
several columns numbers, equal where the values are, for whoever must not know types.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from catalog.types.column_type import ColumnType, Kind
from catalog.types.order_key import key_of_unscaled, text_of_key
from operators.batch_view import BatchView
from operators.exact_units import unit_of, units_of_one
from state.byte_table import ByteTable
from state.change_batch import I64, Bool
from state.distinct_numbers import distinct_numbers
from state.order_code import INT64_MAX, INT64_MIN, code_of_double

_INTEGERS = (Kind.SMALLINT, Kind.INTEGER, Kind.BIGINT)
_FLOATS = (Kind.REAL, Kind.DOUBLE)
_NARROW = 2**40
Family = tuple[Kind, int, bool]


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """A column of one table of a batch."""

    view: BatchView
    number: int

    @property
    def type(self) -> ColumnType:
        """The type of its values."""
        return self.view.relation.columns[self.number].type

    @property
    def family(self) -> Family:
        """What its codes, or texts, mean: columns of one family are equal where these are."""
        type_ = self.type
        if type_.kind in _INTEGERS:
            return Kind.DECIMAL, 0, True
        if type_.kind in _FLOATS:
            return Kind.DOUBLE, 0, True
        return type_.kind, type_.scale, type_.coded

    def same_numbers(self, other: KeyColumn) -> bool:
        """Whether values of both are equal where the numbers in the rows are."""
        if self.type.coded:
            return self.family == other.family
        return self.view.rows is other.view.rows and self.number == other.number


def translated(column: KeyColumn, codes: I64, other: KeyColumn) -> tuple[I64, Bool]:
    """Return the numbers that values of a column have in rows of another one, and whether they can be there at all.

    Cost: see the module's header; where texts or types differ, of each different value.
    """
    if column.same_numbers(other):
        return codes, np.ones(len(codes), np.bool_)
    used, place = distinct(codes)
    if column.family == other.family:
        found = other.view.rows.numbers_of(other.number, column.view.rows.texts_of(column.number, used))
        return found.astype(np.int64)[place], (found >= 0)[place]
    numbers = _numbers(other, _exact(column, used))
    known = np.array([number is not None for number in numbers], np.bool_)
    return np.array([number or 0 for number in numbers], np.int64)[place], known[place]


def agreeing(columns: Sequence[KeyColumn], versions: I64) -> Bool:
    """Return which versions of one table have a value in all of `columns`, and the same in each."""
    head = columns[0]
    valid, codes = head.view.replay.valid, head.view.replay.codes
    agree = np.logical_and.reduce([valid[column.number][versions] for column in columns])
    for column in columns[1:]:
        rows = np.flatnonzero(agree)
        found, known = translated(column, codes[column.number][versions[rows]], head)
        agree[rows] = known & (found == codes[head.number][versions[rows]])
    return agree


def numbered(columns: Sequence[tuple[KeyColumn, I64]]) -> list[I64]:
    """Return numbers from 0 on for values of several columns: equal where the values are."""
    ends = np.cumsum([len(codes) for _, codes in columns])[:-1]
    head = columns[0][0]
    if all(head.same_numbers(column) for column, _ in columns):
        _, place = distinct(np.concatenate([codes for _, codes in columns]))
        return np.split(place, ends)
    values = _text_numbers(columns) if not head.type.coded and _are_alike(columns) else _exact_numbers(columns)
    return [numbers[place] for numbers, place in values]


def distinct(codes: I64) -> tuple[I64, I64]:
    """Return the different ones of some codes, ascending, and the place of each among them.

    Cost: 2 ns each where they span little more than they are many, else a sort.
    """
    if not len(codes):
        return codes, codes
    least = int(codes.min())
    if int(codes.max()) - least >= _NARROW:
        found, place = np.unique(codes, return_inverse=True)
        return found, place
    found, place = distinct_numbers(codes - least)
    return found + least, place


def _are_alike(columns: Sequence[tuple[KeyColumn, I64]]) -> bool:
    return len({column.family for column, _ in columns}) == 1


def _text_numbers(columns: Sequence[tuple[KeyColumn, I64]]) -> list[tuple[I64, I64]]:
    """Return the number of each different text of a column, and the places of its values among these."""
    table, found = ByteTable(), []
    for column, codes in columns:
        used, place = distinct(codes)
        found.append((table.intern(column.view.rows.strings_of(column.number).take(used)).astype(np.int64), place))
    return found


def _exact_numbers(columns: Sequence[tuple[KeyColumn, I64]]) -> list[tuple[I64, I64]]:
    """Return the number of each different value of a column, and the places of its values among these."""
    numbers: dict[Fraction, int] = {}
    found = []
    for column, codes in columns:
        used, place = distinct(codes)
        own = [numbers.setdefault(value, len(numbers)) for value in _exact(column, used)]
        found.append((np.array(own, np.int64), place))
    return found


def _exact(column: KeyColumn, used: I64) -> list[Fraction]:
    """Return numbers, as a column has them, as they are."""
    type_ = column.type
    values: list[int] | list[str] = used.tolist()
    if not type_.coded:
        values = column.view.rows.texts_of(column.number, used)
    one = units_of_one(type_)
    return [Fraction(unit_of(type_, value), one) for value in values]


def _numbers(column: KeyColumn, values: Sequence[Fraction]) -> list[int | None]:
    """Return the number that each value has in rows of a column, None where it cannot be there."""
    type_ = column.type
    if type_.kind in _FLOATS:
        return [_double_code(value) for value in values]
    scaled = [value * units_of_one(type_) for value in values]
    units = [value.numerator if value.denominator == 1 else None for value in scaled]
    if type_.coded:
        return [unit if unit is not None and INT64_MIN <= unit <= INT64_MAX else None for unit in units]
    texts = [text_of_key(type_, key_of_unscaled(unit)) for unit in units if unit is not None]
    found = iter(column.view.rows.numbers_of(column.number, texts).tolist())
    numbers = [None if unit is None else next(found) for unit in units]
    return [None if number is None or number < 0 else number for number in numbers]


def _double_code(value: Fraction) -> int | None:
    try:
        nearest = float(value)
    except OverflowError:
        return None
    return code_of_double(nearest) if Fraction(nearest) == value else None
