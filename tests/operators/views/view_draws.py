"""Small worlds for operators of views, drawn: a table of every type, full of ties and NULLs, and batches of causes."""

from __future__ import annotations

from random import Random

from catalog.schema.relation import Column, Relation
from catalog.schema.view import (
    Aggregate,
    Among,
    Arithmetic,
    Coalesce,
    ColumnOf,
    Comparison,
    Condition,
    Constant,
    Expression,
    IsNull,
    Truncated,
)
from catalog.types.column_type import ColumnType, Kind
from state.order_code import code_of_double
from tests.operators.views.view_world import Cause, Change
from tests.oracle.naive_views import EXACT, FLOATS, Row, Stored

BIGINT, INTEGER, SMALLINT = ColumnType(Kind.BIGINT), ColumnType(Kind.INTEGER), ColumnType(Kind.SMALLINT)
DOUBLE, REAL, VARCHAR = ColumnType(Kind.DOUBLE), ColumnType(Kind.REAL), ColumnType(Kind.VARCHAR)
BOOLEAN, DATE, TIMESTAMP = ColumnType(Kind.BOOLEAN), ColumnType(Kind.DATE), ColumnType(Kind.TIMESTAMP)
SHORT, WIDE, LONG = ColumnType(Kind.DECIMAL, 6, 2), ColumnType(Kind.DECIMAL, 20, 2), ColumnType(Kind.DECIMAL, 38, 0)
DAY_US = 86_400_000_000
VALUES: dict[ColumnType, list[Stored]] = {
    BIGINT: [0, 1, 2, -1, 2**63 - 1, -(2**63), 2**53 + 1],
    INTEGER: [0, 1, 2, -1, 2**31 - 1],
    SMALLINT: [0, 1, 2, -1],
    DOUBLE: [code_of_double(v) for v in (0.0, 0.1, 1.0, 2.0, -1.0, 1e308, 5e-324, 2.0**53, 0.25)],
    REAL: [code_of_double(v) for v in (0.0, 1.0, 0.10000000149011612, 2.0, -1.0, 2.0**127)],
    VARCHAR: ["", "a", "b", "B", "é", "a\0"],
    BOOLEAN: [0, 1],
    DATE: [0, 1, -1],
    TIMESTAMP: [0, 1, -1, DAY_US, 3_599_999_999, -DAY_US - 1],
    SHORT: [0, 25, 100, 200, -100],
    WIDE: ["0.00", "0.25", "1.00", "2.00", "-1.00", "123456789012345678.90"],
    LONG: ["0", "1", "2", "-1", "99999999999999999999"],
}
_COLUMNS = {
    "g": VARCHAR, "h": SMALLINT, "x": BIGINT, "y": INTEGER, "d": DOUBLE, "r": REAL, "w": WIDE, "c": SHORT,
    "n": LONG, "ts": TIMESTAMP, "day": DATE, "b": BOOLEAN,
}  # fmt: skip


def table(name: str) -> Relation:
    """Return a table with a column of every type."""
    columns = (Column("id", BIGINT, False), *(Column(column, type_) for column, type_ in _COLUMNS.items()))
    return Relation(name, columns, ("id",), name)


def draw_value(rng: Random, type_: ColumnType, narrow: bool) -> Stored:
    """Return a value; in a narrow world mostly one of three."""
    values = VALUES[type_]
    if rng.random() < 0.2:
        return None
    return rng.choice(values[: rng.choice((2, 3, 3, len(values)))] if narrow else values)


def draw_row(rng: Random, relation: Relation, key: int) -> Row:
    """Return a row of a table of `table`."""
    return (key, *(draw_value(rng, column.type, True) for column in relation.columns[1:]))


def draw_cause(rng: Random, tables: dict[str, Relation], keys: int) -> Cause:
    """Return what one record does: an upsert or a delete, now and then several of them, or a truncate."""
    names = list(tables)
    name = rng.choice(names)
    roll = rng.random()
    if roll < 0.04:
        return [(name, b"%d" % key, None) for key in range(keys)]
    many = 1 if roll < 0.7 else rng.randint(2, 4)
    changes: list[Change] = []
    for _ in range(many):
        name = name if rng.random() < 0.8 else rng.choice(names)
        key = rng.randrange(keys)
        row = None if rng.random() < 0.3 else draw_row(rng, tables[name], key)
        changes.append((name, b"%d" % key, row))
    return changes


def draw_batches(rng: Random, tables: dict[str, Relation], keys: int = 5) -> list[list[Cause]]:
    """Return some batches of causes."""
    return [[draw_cause(rng, tables, keys) for _ in range(rng.randint(0, 6))] for _ in range(rng.randint(1, 4))]


def columns_of(relation: Relation, kinds: tuple[Kind, ...] | None = None) -> list[Column]:
    """Return the columns of some kinds."""
    return [column for column in relation.columns if kinds is None or column.type.kind in kinds]


def draw_aggregate(rng: Random, relation: Relation) -> Aggregate:
    """Return an aggregate over columns of a relation, typed as the planner would."""
    kind = rng.choice(("COUNT", "COUNT", "SUM", "AVG", "MIN", "MAX", "LATEST"))
    if kind == "COUNT":
        column = rng.choice([None, *columns_of(relation)])
        return Aggregate("COUNT", column and column.name, BIGINT)
    if kind in ("SUM", "AVG"):
        numbers = columns_of(relation, (*EXACT, *FLOATS))
        if not numbers:
            return Aggregate("COUNT", None, BIGINT)
        column = rng.choice(numbers)
        return Aggregate(kind, column.name, DOUBLE if kind == "AVG" else sum_type(column.type))
    column = rng.choice(columns_of(relation))
    by = rng.choice(columns_of(relation)).name if kind == "LATEST" else None
    return Aggregate(kind, column.name, column.type, by)


def sum_type(type_: ColumnType) -> ColumnType:
    """Return a type that holds sums of a column."""
    if type_.kind in FLOATS:
        return DOUBLE
    if type_.kind in (Kind.SMALLINT, Kind.INTEGER):
        return BIGINT
    if type_.kind is Kind.BIGINT:
        return LONG
    return ColumnType(Kind.DECIMAL, min(type_.precision + 10, 38), type_.scale)


def draw_expression(rng: Random, relation: Relation, depth: int = 2) -> Expression:
    """Return an expression over columns of a relation, of a type that holds its values."""
    roll = rng.random()
    if depth == 0 or roll < 0.4:
        column = rng.choice(columns_of(relation))
        return ColumnOf(column.name, column.type)
    if roll < 0.5:
        type_ = rng.choice(list(VALUES))
        return Constant(draw_value(rng, type_, False), type_)
    if roll < 0.6:
        moments = columns_of(relation, (Kind.TIMESTAMP,))
        if moments:
            operand = ColumnOf(moments[0].name, TIMESTAMP)
            return Truncated(rng.choice(("minute", "hour", "day")), operand, TIMESTAMP)
    if roll < 0.75:
        operands = [draw_expression(rng, relation, depth - 1) for _ in range(rng.randint(1, 3))]
        return _coalesced(operands)
    left, right = draw_number(rng, relation, depth - 1), draw_number(rng, relation, depth - 1)
    if left is None or right is None:
        return draw_expression(rng, relation, 0)
    return _arithmetic(rng.choice("+-*"), left, right) or left


def draw_number(rng: Random, relation: Relation, depth: int) -> Expression | None:
    """Return an expression that is a number, if one is found soon."""
    for _ in range(6):
        found = draw_expression(rng, relation, depth)
        if found.type.kind in (*EXACT, *FLOATS):
            return found
    return None


def _digits(type_: ColumnType) -> int:
    """Return how many digits stand before the point."""
    whole = {Kind.SMALLINT: 5, Kind.INTEGER: 10, Kind.BIGINT: 19}
    return whole.get(type_.kind, type_.precision - type_.scale)


def _arithmetic(op: str, left: Expression, right: Expression) -> Expression | None:
    one, other = left.type, right.type
    if one.kind in FLOATS or other.kind in FLOATS:
        return Arithmetic(op, left, right, DOUBLE)
    scale = one.scale + other.scale if op == "*" else max(one.scale, other.scale)
    whole = _digits(one) + _digits(other) if op == "*" else max(_digits(one), _digits(other)) + 1
    if whole + scale > 38:
        return None
    type_ = BIGINT if not scale and whole <= 18 else ColumnType(Kind.DECIMAL, whole + scale, scale)
    return Arithmetic(op, left, right, type_)


def _coalesced(operands: list[Expression]) -> Expression:
    head = operands[0]
    if head.type.kind not in (*EXACT, *FLOATS):
        return Coalesce(tuple(each for each in operands if each.type == head.type), head.type)
    numbers = [each for each in operands if each.type.kind in (*EXACT, *FLOATS)]
    if any(each.type.kind in FLOATS for each in numbers):
        return Coalesce(tuple(numbers), DOUBLE)
    scale, whole = max(each.type.scale for each in numbers), max(_digits(each.type) for each in numbers)
    if whole + scale > 38:
        return head
    return Coalesce(tuple(numbers), ColumnType(Kind.DECIMAL, whole + scale, scale))


def draw_condition(rng: Random, relation: Relation) -> Condition:
    """Return a condition over columns of a relation."""
    left = draw_expression(rng, relation)
    roll = rng.random()
    if roll < 0.2:
        return IsNull(left, rng.random() < 0.5)
    alike = [type_ for type_ in VALUES if comparable(type_, left.type)]
    if roll < 0.4:
        types = [rng.choice(alike) for _ in range(rng.randint(1, 3))]
        constants = [Constant(rng.choice(VALUES[type_]), type_) for type_ in types]
        return Among(left, tuple(constants), rng.random() < 0.5)
    op = rng.choice(("=", "<>", "<", "<=", ">", ">="))
    others = [draw_expression(rng, relation) for _ in range(4)]
    found = [each for each in others if comparable(each.type, left.type)]
    type_ = rng.choice(alike)
    return Comparison(op, left, found[0] if found else Constant(rng.choice(VALUES[type_]), type_))


def comparable(one: ColumnType, other: ColumnType) -> bool:
    """Whether values of two types can be compared."""
    numbers = (*EXACT, *FLOATS)
    return one.kind is other.kind or (one.kind in numbers and other.kind in numbers)
