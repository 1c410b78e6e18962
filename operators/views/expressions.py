"""Expressions over many versions of rows at once: columns, constants, + - *, COALESCE and DATE_TRUNC.

Exact numbers stay exact: the planner gives every sum and product a type that holds it, and what 64 bits do not hold on
the way is computed in Python's integers. Where a side is a REAL or DOUBLE both are taken as the nearest doubles, and
the result is IEEE's; what is not finite then (beyond all doubles, or no number) is NULL. NULL in a side is NULL.

Cost: O(rows) a node; see `row_values.py`.
"""

from __future__ import annotations

import numpy as np

from catalog.schema.view import Arithmetic, Coalesce, ColumnOf, Constant, Expression, Truncated
from catalog.types.column_type import ColumnType, Kind
from operators.batch_view import BatchView
from operators.views.row_values import FLOAT_KINDS, Exact, RowValues, first_valid, largest, scaled
from state.change_batch import I64
from state.order_code import INT64_MAX

_SECOND_US = 1_000_000
_DAY_US = 86_400 * _SECOND_US
_UNITS = {"minute": 60 * _SECOND_US, "hour": 3_600 * _SECOND_US, "day": _DAY_US}


def evaluate(expression: Expression, view: BatchView, versions: I64) -> RowValues:
    """Return what an expression is of each version, a value of the expression's type."""
    match expression:
        case ColumnOf(name):
            return RowValues.of_column(view, view.relation.index(name), versions)
        case Constant(value, type_):
            return RowValues.of_constant(type_, value, len(versions))
        case Arithmetic(op, left, right, type_):
            return _computed(op, evaluate(left, view, versions), evaluate(right, view, versions), type_)
        case Coalesce(operands, type_):
            return first_valid([evaluate(each, view, versions).as_type(type_) for each in operands])
        case Truncated(unit, operand, type_):
            return _truncated(_UNITS[unit], evaluate(operand, view, versions), type_)


def _computed(op: str, left: RowValues, right: RowValues, type_: ColumnType) -> RowValues:
    valid = left.valid & right.valid
    if type_.kind in FLOAT_KINDS:
        with np.errstate(over="ignore", invalid="ignore"):
            one, other = left.doubles(), right.doubles()
            result = one + other if op == "+" else one - other if op == "-" else one * other
        return RowValues.of_doubles(type_, result, valid)
    one, other = left.units(), right.units()
    if op == "*":
        product = _product(one, other)
        return RowValues.of_units(type_, scaled(product, type_.scale - left.type.scale - right.type.scale), valid)
    one, other = scaled(one, type_.scale - left.type.scale), scaled(other, type_.scale - right.type.scale)
    if largest(one) + largest(other) > INT64_MAX:
        one = one.astype(np.object_)
    return RowValues.of_units(type_, one + other if op == "+" else one - other, valid)


def _product(one: Exact, other: Exact) -> Exact:
    if largest(one) * largest(other) > INT64_MAX:
        one = one.astype(np.object_)
    return one * other


def _truncated(unit: int, of: RowValues, type_: ColumnType) -> RowValues:
    """Return moments, or days, cut down to a unit in microseconds; also before 1970."""
    moments = of.codes * _DAY_US if of.type.kind is Kind.DATE else of.codes
    cut = moments // unit * unit
    return RowValues(type_, cut // _DAY_US if type_.kind is Kind.DATE else cut, of.valid)
