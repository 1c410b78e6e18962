"""Expressions and conditions, computed exactly: integers of any size, DECIMALs of any digits, three truth values.

Python compares int, Decimal and float as the numbers that they are, and equal ones have equal hashes; texts compare by
code point, as SQL's do here. Where a DOUBLE takes part, operands become the nearest DOUBLE and results are rounded;
what is beyond all doubles then is NULL.
"""

from __future__ import annotations

import datetime as dt
import math
import operator
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from tidewire.verification.input.view_plan import FLOATS, Call, Expression, Field, Literal
from tidewire.verification.records.range_values import MEETS, PARTS, Bounds, bounds_of
from tidewire.verification.records.rounding import EXACT

Row = tuple[Any, ...]
Evaluator = Callable[[Row], Any]
_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge
}  # fmt: skip
_PYTHON: dict[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_DECIMAL = {"+": EXACT.add, "-": EXACT.subtract, "*": EXACT.multiply}
_BELOW_MINUTE = {"second": 0, "microsecond": 0}
_TRUNCATED: dict[str, dict[str, int]] = {
    "trunc-minute": _BELOW_MINUTE,
    "trunc-hour": {"minute": 0, **_BELOW_MINUTE},
    "trunc-day": {"hour": 0, "minute": 0, **_BELOW_MINUTE},
}


def evaluator(expression: Expression) -> Evaluator:
    """Return what computes an expression of a row; None is NULL, or neither true nor false."""
    if isinstance(expression, Field):
        return operator.itemgetter(expression.place)
    if isinstance(expression, Literal):
        value = expression.value
        return lambda _: value
    return _call(expression, [evaluator(operand) for operand in expression.operands])


def row_of(expressions: Sequence[Expression]) -> Callable[[Row], Row]:
    """Return what computes several expressions of a row."""
    of = [evaluator(expression) for expression in expressions]
    return lambda row: tuple([one(row) for one in of])


def as_type(value: Any, type: str) -> Any:
    """Return a number or a date as a value of another type that holds it; None stays."""
    if value is None:
        return None
    if type in FLOATS:
        return float(value) + 0.0
    if type.startswith("DECIMAL"):
        return value if isinstance(value, Decimal) else Decimal(value)
    if type == "TIMESTAMP" and not isinstance(value, dt.datetime):
        return dt.datetime(value.year, value.month, value.day)
    return value


def finite(computed: float) -> float | None:
    """Return a DOUBLE that was computed as a view has it: None where it is not finite, and one zero.

    >>> finite(1e308 * 10), finite(-0.0)
    (None, 0.0)
    """
    return computed + 0.0 if math.isfinite(computed) else None


def _call(call: Call, operands: list[Evaluator]) -> Evaluator:
    name = call.operator
    if name in _PYTHON:
        return _arithmetic(name, call.type, *operands)
    if name in _COMPARED:
        return _comparison(_COMPARED[name], *operands, mixed=_is_mixed(call))
    if name == "coalesce":
        return _coalesce(operands, call.type)
    if name in _TRUNCATED:
        return _truncated(operands[0], _TRUNCATED[name])
    if name == "in":
        return _among(operands[0], operands[1:])
    if name in ("and", "or"):
        return _several(operands, name == "or")
    if name in MEETS:
        return _met(MEETS[name], call.operands[0].type, *operands)
    [of] = operands
    if name in PARTS:
        return _part(PARTS[name], call.operands[0].type, of)
    if name == "null":
        return lambda row: of(row) is None
    return lambda row: None if (value := of(row)) is None else not value


def _arithmetic(name: str, type: str, left: Evaluator, right: Evaluator) -> Evaluator:
    decimal = type.startswith("DECIMAL")
    compute = _DECIMAL[name] if decimal else _PYTHON[name]

    def computed(row: Row) -> Any:
        one, other = left(row), right(row)
        if one is None or other is None:
            return None
        value = compute(as_type(one, type), as_type(other, type))
        return finite(value) if isinstance(value, float) else value

    return computed


def _is_mixed(call: Call) -> bool:
    """Whether a DATE is beside a TIMESTAMP."""
    types = {operand.type for operand in call.operands}
    return {"DATE", "TIMESTAMP"} <= types


def _comparison(holds: Callable[[Any, Any], bool], left: Evaluator, right: Evaluator, *, mixed: bool) -> Evaluator:
    def compared(row: Row) -> bool | None:
        one, other = left(row), right(row)
        if one is None or other is None:
            return None
        return holds(as_type(one, "TIMESTAMP"), as_type(other, "TIMESTAMP")) if mixed else holds(one, other)

    return compared


def _coalesce(operands: list[Evaluator], type: str) -> Evaluator:
    def first(row: Row) -> Any:
        values = (operand(row) for operand in operands)
        return as_type(next((value for value in values if value is not None), None), type)

    return first


def _met(holds: Callable[[Bounds, Bounds], bool], type: str, left: Evaluator, right: Evaluator) -> Evaluator:
    """An operator of ranges; the right side is a constant."""

    def met(row: Row) -> bool | None:
        one, other = left(row), right(row)
        return None if one is None or other is None else holds(bounds_of(type, one), other)

    return met


def _part(part: Callable[[Bounds], Any], type: str, of: Evaluator) -> Evaluator:
    return lambda row: None if (value := of(row)) is None else part(bounds_of(type, value))


def _truncated(of: Evaluator, zeros: dict[str, Any]) -> Evaluator:
    return lambda row: None if (value := of(row)) is None else as_type(value, "TIMESTAMP").replace(**zeros)


def _among(of: Evaluator, members: list[Evaluator]) -> Evaluator:
    def among(row: Row) -> bool | None:
        value, others = of(row), [member(row) for member in members]
        if value is None:
            return None
        found = any(other is not None and value == other for other in others)
        return True if found else None if None in others else False

    return among


def _several(operands: list[Evaluator], decisive: bool) -> Evaluator:
    """AND and OR: one `decisive` operand decides; else one that is neither leaves it open."""

    def decided(row: Row) -> bool | None:
        values = [operand(row) for operand in operands]
        return decisive if decisive in values else None if None in values else not decisive

    return decided
