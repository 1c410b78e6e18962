"""Views from plain rows: every stage is made anew, by what SQL says, in fractions, dicts and sorted lists.

A relation is a dict from the row's key (bytes) to its stored values: order codes, texts, None. Values are computed as
fractions (exact numbers), floats (REAL, DOUBLE), texts as bytes, and plain numbers (all else).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cmp_to_key
from typing import Any

from catalog.schema.relation import Relation
from catalog.schema.view import (
    Aggregate,
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

Stored = int | str | None
Row = tuple[Stored, ...]
Rows = Mapping[bytes, Row]
EXACT = (Kind.SMALLINT, Kind.INTEGER, Kind.BIGINT, Kind.DECIMAL)
FLOATS = (Kind.REAL, Kind.DOUBLE)
_MOST = 2**63 - 1
_TRUE: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def value_of(type_: ColumnType, stored: Stored) -> Any:
    """Return what is stored as what it means."""
    if stored is None:
        return None
    if type_.kind is Kind.VARCHAR:
        return str(stored).encode()
    if type_.kind in EXACT:
        return Fraction(stored) if isinstance(stored, str) else Fraction(stored, 10**type_.scale)
    if type_.kind in FLOATS:
        assert isinstance(stored, int)
        return struct.unpack("<d", struct.pack("<q", stored if stored >= 0 else stored ^ _MOST))[0]
    return stored


def stored_of(type_: ColumnType, value: Any) -> Stored:
    """Return a value as it is stored as one of a type, which must hold it; what is not finite is NULL."""
    if value is None:
        return None
    if type_.kind is Kind.VARCHAR:
        return bytes(value).decode()
    if type_.kind in EXACT:
        return _exact(type_, Fraction(value))
    if type_.kind in FLOATS:
        return _float(type_, value)
    return int(value)


def _exact(type_: ColumnType, value: Fraction) -> Stored:
    units = value * 10**type_.scale
    assert units.denominator == 1, (type_, value)
    if type_.coded:
        low, high = type_.reach
        assert low <= units.numerator <= high, (type_, value)
        return units.numerator
    digits = str(abs(units.numerator)).rjust(type_.scale + 1, "0")
    assert len(digits) <= type_.precision, (type_, value)
    point = f"{digits[: -type_.scale]}.{digits[-type_.scale :]}" if type_.scale else digits
    return "-" * (units < 0) + point


def _float(type_: ColumnType, value: Any) -> int | None:
    try:
        number = float(value)
        if type_.kind is Kind.REAL:
            number = struct.unpack("<f", struct.pack("<f", number))[0]
    except OverflowError:
        return None
    if not math.isfinite(number):
        return None
    bits = int(struct.unpack("<q", struct.pack("<d", number + 0.0))[0])
    return bits if bits >= 0 else bits ^ _MOST


def recomputed(stage: Stage, relations: Sequence[Relation], inputs: Sequence[Rows]) -> dict[bytes, Row]:
    """Return the rows of a stage, given those of its inputs."""
    match stage.operator:
        case Map() as of:
            return _map(of, stage.relation, relations[0], inputs[0])
        case GroupBy() as of:
            return _group_by(of, relations[0], inputs[0])
        case TopK() as of:
            return _top(of, relations[0], inputs[0])
        case Joined() as of:
            return _join(of, relations, inputs)
        case Union():
            return {
                struct.pack(">H", place) + key: row for place, rows in enumerate(inputs) for key, row in rows.items()
            }


def _map(of: Map, made: Relation, relation: Relation, rows: Rows) -> dict[bytes, Row]:
    out = {}
    for key, row in rows.items():
        values = {c.name: value_of(c.type, v) for c, v in zip(relation.columns, row, strict=True)}
        if all(_true(condition, values) for condition in of.where):
            items = [stored_of(c.type, _value(item, values)) for c, item in zip(made.columns, of.items, strict=True)]
            out[key] = tuple(items)
    return out


def _value(expression: Expression, row: Mapping[str, Any]) -> Any:
    match expression:
        case ColumnOf(name):
            return row[name]
        case Constant(value, type_):
            return value_of(type_, value)
        case Arithmetic(op, left, right, type_):
            one, other = _value(left, row), _value(right, row)
            if one is None or other is None:
                return None
            if type_.kind in FLOATS:
                one, other = float(one), float(other)
            result = one + other if op == "+" else one - other if op == "-" else one * other
            return value_of(type_, stored_of(type_, result))
        case Coalesce(operands, type_):
            found = [value for value in (_value(each, row) for each in operands) if value is not None]
            return value_of(type_, stored_of(type_, found[0])) if found else None
        case Truncated(unit, operand, _):
            moment, size = _value(operand, row), {"minute": 60, "hour": 3_600, "day": 86_400}[unit] * 1_000_000
            return None if moment is None else moment - moment % size


def _true(condition: Condition, row: Mapping[str, Any]) -> bool:
    match condition:
        case Comparison(op, left, right):
            one, other = _value(left, row), _value(right, row)
            return one is not None and other is not None and _TRUE[op](_plain(one), _plain(other))
        case Among(operand, values, negated):
            value = _value(operand, row)
            held = [_plain(_value(each, row)) for each in values]
            return value is not None and (_plain(value) in held) != negated
        case IsNull(operand, negated):
            return (_value(operand, row) is None) != negated


def _plain(value: Any) -> Any:
    """Return a float as the fraction that it is."""
    return Fraction(value) if isinstance(value, float) else value


def group_bytes(types: Sequence[ColumnType], row: Row) -> bytes:
    """Return the key of a group."""
    out = b""
    for type_, stored in zip(types, row, strict=True):
        if stored is None:
            out += b"\0"
        elif type_.coded:
            out += b"\1" + struct.pack(">q", stored)
        else:
            text = str(stored).encode()
            out += b"\1" + struct.pack(">I", len(text)) + text
    return out


def _group_by(of: GroupBy, relation: Relation, rows: Rows) -> dict[bytes, Row]:
    by = [relation.index(name) for name in of.by]
    types = [relation.columns[i].type for i in by]
    groups: dict[Row, list[Row]] = {} if by else {(): []}
    for row in rows.values():
        groups.setdefault(tuple(row[i] for i in by), []).append(row)
    return {
        group_bytes(types, group): (*group, *(_aggregate(each, relation, held) for each in of.aggregates))
        for group, held in groups.items()
    }


def _aggregate(of: Aggregate, relation: Relation, rows: Sequence[Row]) -> Stored:
    if of.column is None:
        return len(rows)
    at = relation.index(of.column)
    type_ = relation.columns[at].type
    kind = of.kind.upper()
    if kind == "LATEST":
        assert of.by is not None
        return _latest(relation, rows, at, relation.index(of.by))
    values = [value_of(type_, row[at]) for row in rows if row[at] is not None]
    if kind == "COUNT":
        return len(values)
    if not values:
        return None
    if kind in ("MIN", "MAX"):
        return stored_of(type_, min(values) if kind == "MIN" else max(values))
    total = sum((Fraction(value) for value in values), Fraction(0))
    return stored_of(of.type, total if kind == "SUM" else total / len(values))


def _latest(relation: Relation, rows: Sequence[Row], at: int, by: int) -> Stored:
    """Return the value of the last row by (by, key), or by (by, value) where there is no key."""
    places = [by, *([relation.index(name) for name in relation.key] or [at])]
    order = [By(relation.columns[place].name, False, True) for place in places]
    found = sorted_rows(relation, order, [row for row in rows if row[by] is not None])
    return found[-1][at] if found else None


def sorted_rows(relation: Relation, order: Sequence[By], rows: Sequence[Row]) -> list[Row]:
    """Return rows in an order."""

    def compare(one: Row, other: Row) -> int:
        for each in order:
            at = relation.index(each.column)
            a, b = (value_of(relation.columns[at].type, row[at]) for row in (one, other))
            if a == b:
                continue
            if a is None or b is None:
                return -1 if (a is None) == each.nulls_first else 1
            return -1 if (a < b) != each.descending else 1
        return 0

    return sorted(rows, key=cmp_to_key(compare))


def _top(of: TopK, relation: Relation, rows: Rows) -> dict[bytes, Row]:
    by = [relation.index(name) for name in of.by]
    key_of = {row: key for key, row in rows.items()}
    assert len(key_of) == len(rows), "rows are equal in the order"
    groups: dict[Row, list[Row]] = {}
    for row in rows.values():
        groups.setdefault(tuple(row[i] for i in by), []).append(row)
    out: dict[bytes, Row] = {}
    for held in groups.values():
        for place, row in enumerate(sorted_rows(relation, of.order, held)[: of.k]):
            out[key_of[row]] = (*row, place + 1) if of.ranked else row
    return out


def _join(of: Joined, relations: Sequence[Relation], inputs: Sequence[Rows]) -> dict[bytes, Row]:
    left, right = relations
    out: dict[bytes, Row] = {}

    def key_values(relation: Relation, names: Sequence[str], row: Row) -> tuple[Any, ...]:
        places = [relation.index(name) for name in names]
        return tuple(_plain(value_of(relation.columns[i].type, row[i])) for i in places)

    for key, row in inputs[0].items():
        wanted = key_values(left, [one for one, _ in of.equal], row)
        partners = [
            (other_key, other)
            for other_key, other in inputs[1].items()
            if None not in wanted and key_values(right, [one for _, one in of.equal], other) == wanted
        ]
        assert len(partners) <= 1 or not of.lookup
        head = struct.pack(">I", len(key)) + key
        for other_key, other in partners:
            out[key if of.lookup else head + b"\1" + other_key] = row + other
        if of.outer and not partners:
            out[key if of.lookup else head + b"\0"] = row + (None,) * len(right.columns)
    return out
