"""Which rows pass a WHERE: comparisons, IN, IS NULL, all of which must be true; NULL is not.

    sides                               compared as
    one kind of number, exact both      units of the finer scale, in 64 bits or Python's integers
    REAL or DOUBLE, both                order codes
    exact and REAL or DOUBLE            the nearest doubles; where these are equal, exact rationals
    texts                               by bytes
    the others                          order codes; a DATE beside a TIMESTAMP is its first moment

Cost: O(rows) each; see `row_values.py`; 2 us for each exact number beside a double that is its nearest; IN 2 us a
constant besides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from catalog.schema.view import Among, Comparison, Condition, Constant, IsNull
from catalog.types.column_type import ColumnType, Kind
from operators.batch_view import BatchView
from operators.exact_units import unit_of, units_of_one
from operators.views.expressions import evaluate
from operators.views.row_values import EXACT_KINDS, FLOAT_KINDS, RowValues, scaled
from state.change_batch import I64, Bool
from state.order_code import INT64_MAX, INT64_MIN, code_of_double

I8 = npt.NDArray[np.int8]
_DAY_US = 86_400_000_000
_TRUE_OF: dict[str, Callable[[I8], Bool]] = {
    "=": lambda sign: sign == 0,
    "<>": lambda sign: sign != 0,
    "<": lambda sign: sign < 0,
    "<=": lambda sign: sign <= 0,
    ">": lambda sign: sign > 0,
    ">=": lambda sign: sign >= 0,
}


def passing(conditions: Sequence[Condition], view: BatchView, versions: I64) -> Bool:
    """Return which versions meet all conditions."""
    passes = np.ones(len(versions), np.bool_)
    for condition in conditions:
        passes &= _true(condition, view, versions)
    return passes


def _true(condition: Condition, view: BatchView, versions: I64) -> Bool:
    match condition:
        case Comparison(op, left, right):
            one, other = evaluate(left, view, versions), evaluate(right, view, versions)
            return one.valid & other.valid & _TRUE_OF[op](signs(one, other))
        case Among(operand, values, negated):
            of = evaluate(operand, view, versions)
            return of.valid & (_among(of, values) != negated)
        case IsNull(operand, negated):
            valid: Bool = evaluate(operand, view, versions).valid
            return valid if negated else ~valid


def _among(of: RowValues, values: Sequence[Constant]) -> Bool:
    """Return which values are equal to one of some constants; anything where they are NULL."""
    if of.type.is_text:
        wanted = {str(value.value).encode() for value in values}
        texts, place = used_texts(of)
        return np.array([text in wanted for text in texts] or [False], np.bool_)[place]
    found = [_stored_as(of.type, value) for value in values]
    codes = [code for code in found if code is not None]
    units = of.units() if of.exact else of.codes
    if units.dtype == np.object_:
        held = frozenset(codes)
        return np.array([int(unit) in held for unit in units.tolist()], np.bool_)
    return np.isin(units, np.array([code for code in codes if INT64_MIN <= code <= INT64_MAX], np.int64))


def _stored_as(type_: ColumnType, constant: Constant) -> int | None:
    """Return a constant in units of a type, or its code where that is not exact; None if it has no such value."""
    assert constant.value is not None
    if type_.kind not in (*EXACT_KINDS, *FLOAT_KINDS):
        return int(constant.value)
    value = Fraction(unit_of(constant.type, constant.value), units_of_one(constant.type))
    if type_.kind in EXACT_KINDS:
        units = value * units_of_one(type_)
        return units.numerator if units.denominator == 1 else None
    try:
        nearest = float(value)
    except OverflowError:
        return None
    return code_of_double(nearest) if Fraction(nearest) == value else None


def signs(left: RowValues, right: RowValues) -> I8:
    """Return the sign of the order of values, row by row; anything where one is NULL."""
    if left.type.is_text:
        one, other = _text_places(left, right)
        return _signs(one, other)
    if left.exact and right.exact:
        scale = max(left.type.scale, right.type.scale)
        units = [scaled(side.units(), scale - side.type.scale) for side in (left, right)]
        return _signs(units[0], units[1])
    if left.exact != right.exact:
        return _beside_doubles(left, right) if left.exact else -_beside_doubles(right, left)
    if left.type.kind is not right.type.kind and not {left.type.kind, right.type.kind} <= {*FLOAT_KINDS}:
        return _signs(_moments(left), _moments(right))
    return _signs(left.codes, right.codes)


def _signs(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> I8:
    above, below = (one > other).astype(np.int8), (one < other).astype(np.int8)
    return above - below


def _moments(days: RowValues) -> I64:
    codes: I64 = days.codes * _DAY_US if days.type.kind is Kind.DATE else days.codes
    return codes


def _beside_doubles(exact: RowValues, floats: RowValues) -> I8:
    """Return the signs of exact numbers beside doubles.

    A double that is below the one nearest to a number is below the number, and so above; only equal ones say nothing.
    """
    units, doubles = exact.units(), floats.doubles()
    sign = _signs(exact.doubles(), doubles)
    one = 10**exact.type.scale
    for at in np.flatnonzero((sign == 0) & exact.valid & floats.valid).tolist():
        number, other = Fraction(int(units[at]), one), Fraction(float(doubles[at]))
        sign[at] = (number > other) - (number < other)
    return sign


def _text_places(left: RowValues, right: RowValues) -> tuple[I64, I64]:
    """Return the places of texts among all that are there, in the order of their bytes. Cost: 1 us a different one."""
    sides = [used_texts(side) for side in (left, right)]
    order = sorted({text for texts, _ in sides for text in texts})
    number = {text: at for at, text in enumerate(order)}
    places = [np.array([number[text] for text in texts] or [0], np.int64)[place] for texts, place in sides]
    return places[0], places[1]


def used_texts(side: RowValues) -> tuple[list[bytes], I64]:
    """Return the different texts of some values, and the place of each value among them, 0 where it is NULL."""
    assert side.strings is not None
    used, found = np.unique(side.codes[side.valid], return_inverse=True)
    place = np.zeros(len(side), np.int64)
    place[side.valid] = found
    strings = side.strings.take(used)
    return [strings[i] for i in range(len(strings))], place
