"""What may become of expressions over a row, and of conditions on it, where its columns may change.

    a + b, a - b          what each does, b mirrored for -
    a * b                 what each does, mirrored where the other one is negative
    COALESCE(a, b)        what each does; where a fills, the step from b to a
    DATE_TRUNC(a)         what a does
    a > b                 becomes true where a - b rises or fills, and untrue where that falls or empties

Each step of several that happen at once is one of these, so their union holds for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from catalog.schema.view import (
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
from catalog.view.growth import EITHER, NEGATIVE, POSITIVE, ColumnGrowth, Signs
from catalog.view.moves import ANY, EMPTIES, FALLS, FILLS, FIXED, MOVES, RISES, Moves

Columns = Mapping[str, ColumnGrowth]
FLOATS = (Kind.REAL, Kind.DOUBLE)
_NUMBERS = (Kind.SMALLINT, Kind.INTEGER, Kind.BIGINT, Kind.DECIMAL, *FLOATS)
_NOWHERE = Signs(0)
_MIRRORED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def expression_growth(expression: Expression, columns: Columns) -> ColumnGrowth:
    """Return what may become of an expression. *Cost*: O(its size)."""
    match expression:
        case ColumnOf(name):
            return columns[name]
        case Constant(value):
            return ColumnGrowth(FIXED, signs_of(expression), value is None)
        case Arithmetic():
            return _arithmetic(expression, columns)
        case Coalesce(operands):
            *first, grown = [expression_growth(each, columns) for each in operands]
            for each in reversed(first):
                grown = _first_of(each, grown)
            return grown
        case Truncated(_, operand):
            return replace(expression_growth(operand, columns), signs=EITHER)


def _arithmetic(expression: Arithmetic, columns: Columns) -> ColumnGrowth:
    left, right = expression_growth(expression.left, columns), expression_growth(expression.right, columns)
    if expression.op == "*":
        moves = left.moves & ~MOVES | right.moves & ~MOVES | _scaled(left, right) | _scaled(right, left)
        signs = _NOWHERE
        for one in left.signs:
            for other in right.signs:
                signs |= POSITIVE if one == other else NEGATIVE
    else:
        if expression.op == "-":
            right = replace(right, moves=right.moves.mirrored, signs=right.signs.mirrored)
        moves, signs = left.moves | right.moves, left.signs | right.signs
    if expression.type.kind in FLOATS:
        # What is beyond all doubles is NULL, so what moves at all may come to that and back.
        return ColumnGrowth(ANY if moves else FIXED, signs)
    return ColumnGrowth(moves, signs, left.nullable or right.nullable)


def _scaled(moving: ColumnGrowth, by: ColumnGrowth) -> Moves:
    """Return how a product rises and falls where one factor does."""
    out, moves = FIXED, moving.moves & MOVES
    if POSITIVE in by.signs:
        out |= moves
    if NEGATIVE in by.signs:
        out |= moves.mirrored
    return out


def _first_of(one: ColumnGrowth, other: ColumnGrowth) -> ColumnGrowth:
    """Return what may become of COALESCE(one, other)."""
    if not one.nullable:
        return one
    moves = one.moves & MOVES | other.moves
    step = FIXED
    if POSITIVE in one.signs or NEGATIVE in other.signs:
        step |= RISES
    if NEGATIVE in one.signs or POSITIVE in other.signs:
        step |= FALLS
    if FILLS in one.moves:
        moves |= step | (FILLS if other.nullable else FIXED)
    if EMPTIES in one.moves:
        moves |= step.mirrored | (EMPTIES if other.nullable else FIXED)
    return ColumnGrowth(moves, one.signs | other.signs, other.nullable)


def condition_moves(condition: Condition, columns: Columns) -> Moves:
    """Return whether a condition may become true (RISES), and true no more (FALLS)."""
    match condition:
        case Comparison(op, left, right):
            one, other = expression_growth(left, columns).moves, expression_growth(right, columns).moves.mirrored
            return compared(op, one | other)
        case Among(operand):
            return compared("=", expression_growth(operand, columns).moves)
        case IsNull(operand, negated):
            moves = expression_growth(operand, columns).moves
            return (
                _became(EMPTIES in moves, FILLS in moves) if not negated else _became(FILLS in moves, EMPTIES in moves)
            )


def compared(op: str, moves: Moves) -> Moves:
    """Return what becomes of `x op 0`, where x makes `moves`. *Cost*: O(1).

    >>> compared(">", Moves.RISES | Moves.FILLS)
    <Moves.RISES: 1>
    """
    rises, falls = RISES in moves, FALLS in moves
    if op in ("<", "<="):
        rises, falls = falls, rises
    elif op in ("=", "<>"):
        rises = falls = rises or falls
    return _became(rises or FILLS in moves, falls or EMPTIES in moves)


def _became(true: bool, untrue: bool) -> Moves:
    return (RISES if true else FIXED) | (FALLS if untrue else FIXED)


def where_holds(columns: Columns, where: Iterable[Condition]) -> dict[str, ColumnGrowth]:
    """Return the columns of the rows that pass all conditions: what is compared with a constant has its sign."""
    out = dict(columns)
    for condition in where:
        match condition:
            case Comparison(op, ColumnOf(name), Constant() as constant):
                out[name] = replace(out[name], signs=out[name].signs & _beside(op, constant))
            case Comparison(op, Constant() as constant, ColumnOf(name)):
                out[name] = replace(out[name], signs=out[name].signs & _beside(_MIRRORED[op], constant))
            case Among(ColumnOf(name), values, False):
                among = _NOWHERE
                for value in values:
                    among |= signs_of(value)
                out[name] = replace(out[name], signs=out[name].signs & among)
    return out


def _beside(op: str, constant: Constant) -> Signs:
    """Return which numbers x there are with `x op constant`."""
    signs = signs_of(constant)
    if op == "=":
        return signs
    if op in (">", ">=") and NEGATIVE not in signs:
        return POSITIVE
    if op in ("<", "<=") and POSITIVE not in signs:
        return NEGATIVE
    return EITHER


def signs_of(constant: Constant) -> Signs:
    """Return the sign of a number, none for 0 and NULL; of what is no number either."""
    value, kind = constant.value, constant.type.kind
    if value is None:
        return _NOWHERE
    if kind not in _NUMBERS:
        return EITHER
    if isinstance(value, str):
        return _NOWHERE if not value.strip("-0.") else NEGATIVE if value.startswith("-") else POSITIVE
    return _NOWHERE if value == 0 else POSITIVE if value > 0 else NEGATIVE


def is_number(type_: ColumnType) -> bool:
    """Whether the values of a type have signs."""
    return type_.kind in _NUMBERS
