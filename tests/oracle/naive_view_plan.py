"""Rows that a view's stages make of rows of tables, computed from scratch: what a plan means, without any operator."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import cmp_to_key
from typing import Any

from catalog.schema.relation import Relation
from catalog.schema.view import (
    Among,
    Arithmetic,
    By,
    Coalesce,
    ColumnOf,
    Comparison,
    Condition,
    Constant,
    Expression,
    GroupBy,
    IsNull,
    Joined,
    Map,
    Stage,
    TopK,
    Truncated,
    Union,
)
from catalog.types.column_type import ColumnType, Kind
from catalog.types.value import value_of

Row = tuple[Any, ...]
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
_FLOATS = (Kind.REAL, Kind.DOUBLE)


def rows_of(stages: tuple[Stage, ...], tables: dict[str, tuple[Relation, list[Row]]]) -> list[Row]:
    """The rows of the last stage; `tables` has all that the first ones read. Numbers are Fractions, or floats."""
    known = dict(tables)
    for stage in stages:
        made = _made(stage, [known[name] for name in stage.operator.inputs])
        known[stage.relation.name] = stage.relation, made
    return known[stages[-1].relation.name][1]


def _made(stage: Stage, inputs: list[tuple[Relation, list[Row]]]) -> list[Row]:
    (relation, rows), operator = inputs[0], stage.operator
    place = {column.name: i for i, column in enumerate(relation.columns)}
    match operator:
        case Map():
            kept = [row for row in rows if all(_holds(c, row, place) for c in operator.where)]
            return [tuple(_value(item, row, place) for item in operator.items) for row in kept]
        case GroupBy():
            return _grouped(operator, rows, place)
        case TopK():
            return _first(operator, rows, place)
        case Joined():
            return _joined(operator, rows, place, *inputs[1])
        case Union():
            return [row for _, each in inputs for row in each]


def _value(one: Expression, row: Row, place: dict[str, int]) -> Any:
    match one:
        case ColumnOf():
            return row[place[one.name]]
        case Constant():
            return plain(one.type, one.value)
        case Arithmetic():
            left, right = _value(one.left, row, place), _value(one.right, row, place)
            if left is None or right is None:
                return None
            if one.type.kind is Kind.DOUBLE:
                left, right = float(left), float(right)
            return left + right if one.op == "+" else left - right if one.op == "-" else left * right
        case Coalesce():
            found = next((v for v in (_value(each, row, place) for each in one.operands) if v is not None), None)
            return float(found) if found is not None and one.type.kind in _FLOATS else found
        case Truncated():
            at = _value(one.operand, row, place)
            units = {"minute": {}, "hour": {"minute": 0}, "day": {"minute": 0, "hour": 0}}[one.unit]
            return None if at is None else at.replace(second=0, microsecond=0, **units)


def plain(type_: ColumnType, value: int | str | None) -> Any:
    """A value by its code or text, as it is computed with here."""
    if value is None or type_.kind is Kind.VARCHAR:
        return value
    found = value_of(type_, value) if isinstance(value, int) else Decimal(value)
    return Fraction(found) if isinstance(found, int | Decimal) and not isinstance(found, bool) else found


def _holds(condition: Condition, row: Row, place: dict[str, int]) -> bool:
    match condition:
        case IsNull():
            return (_value(condition.operand, row, place) is None) is not condition.negated
        case Among():
            one = _value(condition.operand, row, place)
            values = [plain(value.type, value.value) for value in condition.values]
            return one is not None and (one in values) is not condition.negated
        case Comparison():
            left, right = _value(condition.left, row, place), _value(condition.right, row, place)
            return left is not None and right is not None and _COMPARE[condition.op](left, right)


def _grouped(operator: GroupBy, rows: list[Row], place: dict[str, int]) -> list[Row]:
    groups: dict[Row, list[Row]] = {} if operator.by else {(): []}
    for row in rows:
        groups.setdefault(tuple(row[place[name]] for name in operator.by), []).append(row)
    made = []
    for group, its in groups.items():
        values = [_aggregate(each.kind, each.column, each.by, its, place) for each in operator.aggregates]
        made.append((*group, *values))
    return made


def _aggregate(kind: str, column: str | None, by: str | None, rows: list[Row], place: dict[str, int]) -> Any:
    if column is None:
        return Fraction(len(rows))
    if kind == "LATEST":
        assert by is not None
        known = [row for row in rows if row[place[by]] is not None]
        return max(known, key=lambda row: row[place[by]])[place[column]] if known else None
    values = [row[place[column]] for row in rows if row[place[column]] is not None]
    if kind == "COUNT":
        return Fraction(len(values))
    if not values:
        return None
    if kind == "AVG":
        return float(sum(map(Fraction, values)) / len(values))
    if kind == "SUM":
        whole = sum(map(Fraction, values), Fraction())
        return float(whole) if isinstance(values[0], float) else whole
    return min(values) if kind == "MIN" else max(values)


def _first(operator: TopK, rows: list[Row], place: dict[str, int]) -> list[Row]:
    groups: dict[Row, list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[place[name]] for name in operator.by), []).append(row)
    made = []
    for its in groups.values():
        its.sort(key=cmp_to_key(lambda a, b: _compared(operator.order, a, b, place)))
        chosen = its[: operator.k]
        made += [(*row, Fraction(i + 1)) for i, row in enumerate(chosen)] if operator.ranked else chosen
    return made


def _compared(order: tuple[By, ...], one: Row, other: Row, place: dict[str, int]) -> int:
    for by in order:
        a, b = one[place[by.column]], other[place[by.column]]
        if a is None or b is None:
            if a is not b:
                return -1 if (a is None) is by.nulls_first else 1
        elif a != b:
            return -1 if (a < b) is not by.descending else 1
    return 0


def _joined(operator: Joined, rows: list[Row], place: dict[str, int], other: Relation, others: list[Row]) -> list[Row]:
    pairs = [(place[left], other.index(right)) for left, right in operator.equal]
    made = []
    for row in rows:
        met = [one for one in others if all(row[i] is not None and row[i] == one[j] for i, j in pairs)]
        assert not operator.lookup or len(met) <= 1
        made += [(*row, *one) for one in met]
        if operator.outer and not met:
            made.append((*row, *(None for _ in other.columns)))
    return made


def comparable(value: Any) -> Any:
    """A value of DuckDB, or of here, so that equal ones are equal: numbers as floats of 12 digits, moments as text."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, dt.date):
        return value.isoformat()
    return float(f"{float(value):.12g}") + 0.0
