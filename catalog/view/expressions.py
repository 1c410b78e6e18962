"""Reads the expressions of a view: of the columns of one stage, with their types by bound.

    fare + tax           Arithmetic(+, fare, tax)             numbers of any types; exact unless one is REAL or DOUBLE
    COALESCE(n, 0)       Coalesce(n, 0)                       of one kind, or numbers
    DATE_TRUNC('hour', t) Truncated(hour, t)                  of a TIMESTAMP

The tree is read by allowing, node by node, what is known. What a name, an aggregate or a whole expression stands for
is the reader's `known`: of a grouped SELECT that is what its GROUP BY makes (`grouping.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sqlglot import exp

from catalog.schema.view import Arithmetic, Coalesce, ColumnOf, Truncated
from catalog.types.column_type import ColumnType, Kind
from catalog.types.literal import LiteralKind, LiteralMismatch
from catalog.view.bounds import Bound, TooWide, bound_of, common_type, type_of
from catalog.view.column_bounds import bound_of_constant
from catalog.view.literals import Literal, NoValue, literal_of
from catalog.view.refusals import Refusals
from catalog.view.typed import ATOM_LEVEL, PRODUCT_LEVEL, SUM_LEVEL, Typed

MAX_DEPTH = 60
"""Deepest nesting of an expression."""
_OPERATORS: dict[type[exp.Expr], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*"}
_UNITS = ("minute", "hour", "day")
_FLOATS = (Kind.REAL, Kind.DOUBLE)
_DOUBLE = ColumnType(Kind.DOUBLE)
_ZERO = Literal(LiteralKind.NUMBER, "0")


class Known(Protocol):
    """What expressions may be made of."""

    def find(self, node: exp.Expr) -> Typed | None:
        """Return what a node as a whole stands for; None where it is to be read part by part. Raises SqlError."""
        ...


class ExpressionReader:
    """Reads expressions of one SELECT."""

    def __init__(self, refuse: Refusals, known: Known) -> None:
        self._refuse = refuse
        self._known = known

    def read(self, node: exp.Expr, depth: int = 0) -> Typed:
        """Return the expression that a node is. Raises the text's error: `unsupported`, `type_mismatch` and others."""
        node = node.unnest()
        if depth > MAX_DEPTH:
            raise self._refuse.unsupported(f"an expression nested more than {MAX_DEPTH} levels deep", node)
        literal = literal_of(node)
        if literal is not None:
            return self._constant(node, literal)
        found = self._known.find(node)
        if found is not None:
            return found
        match node:
            case exp.Neg():
                return self._negative(node, depth)
            case exp.Add() | exp.Sub() | exp.Mul():
                self._refuse.extras(node, ("this", "expression"))
                left, right = self.read(node.this, depth + 1), self.read(node.expression, depth + 1)
                return self._arithmetic(_OPERATORS[type(node)], left, right, node)
            case exp.Coalesce():
                self._refuse.extras(node, ("this", "expressions", "is_nvl", "is_null"))
                operands = [self.read(each, depth + 1) for each in (node.this, *node.expressions)]
                return self._coalesce(operands, node)
            case exp.DateTrunc() | exp.TimestampTrunc():
                return self._truncated(node, depth)
        raise self._refuse.expression(node)

    def beside(self, one: Typed, type_: ColumnType) -> Typed:
        """Return `one` as it is beside a value of `type_`: where it is a constant, of that type as far as there is one.

        Raises the text's error: `type_mismatch`, `unsupported`.
        """
        return one if one.literal is None else self._constant(one.node, one.literal, type_)

    def as_type(self, one: Typed, type_: ColumnType, bound: Bound | None) -> Typed:
        """Return `one` as values of `type_`, which has them all."""
        if one.type == type_:
            return one
        turned = self.beside(one, type_)
        if turned.type == type_:
            return turned
        whole = Coalesce((turned.expression,), type_)
        return Typed(whole, one.sql, one.level, one.nullable, bound, one.node)

    def _constant(self, node: exp.Expr, literal: Literal, type_: ColumnType | None = None) -> Typed:
        if literal.kind is LiteralKind.NULL:
            hint = "In a condition write IS NULL; COALESCE leaves NULL out."
            raise self._refuse.unsupported("NULL as a constant", node, hint)
        try:
            constant = literal.constant(type_)
        except TooWide:
            raise self._refuse.too_wide(node, "this number") from None
        except NoValue as between:
            what = f"{literal.sql[:60]} is no value of {between.type}"
            raise self._refuse.refusal("type_mismatch", what, node, "Compare with a value that there can be.") from None
        except LiteralMismatch as e:
            raise self._refuse.refusal("type_mismatch", f"what stands beside it {e.what}", node, e.hint) from None
        level = PRODUCT_LEVEL if literal.negative else ATOM_LEVEL
        return Typed(constant, literal.sql, level, False, bound_of_constant(constant), node, literal)

    def _negative(self, node: exp.Neg, depth: int) -> Typed:
        one = self._number(self.read(node.this, depth + 1))
        zero = self._constant(node, _ZERO, one.type if one.type.kind in _FLOATS else None)
        made = self._arithmetic("-", zero, one, node)
        return Typed(made.expression, f"-{one.within(ATOM_LEVEL)}", PRODUCT_LEVEL, made.nullable, made.bound, node)

    def _arithmetic(self, op: str, left: Typed, right: Typed, node: exp.Expr) -> Typed:
        left, right = self._number(left), self._number(right)
        level = PRODUCT_LEVEL if op == "*" else SUM_LEVEL
        sql = f"{left.within(level)} {op} {right.within(level + 1)}"
        nullable = left.nullable or right.nullable
        if left.bound is None or right.bound is None:
            sides = [self.beside(side, _DOUBLE).expression for side in (left, right)]
            return Typed(Arithmetic(op, sides[0], sides[1], _DOUBLE), sql, level, nullable, None, node)
        bound = left.bound.multiplied(right.bound) if op == "*" else left.bound.added(right.bound)
        try:
            type_ = type_of(bound)
        except TooWide:
            raise self._refuse.too_wide(node, f"`{sql[:60]}`") from None
        return Typed(Arithmetic(op, left.expression, right.expression, type_), sql, level, nullable, bound, node)

    def _number(self, one: Typed) -> Typed:
        if one.bound is None and one.type.kind not in _FLOATS:
            hint = "+, - and * take numbers."
            what = f"`{one.sql[:60]}` is {one.type}, and no number"
            raise self._refuse.refusal("type_mismatch", what, one.node, hint)
        return one

    def _coalesce(self, operands: Sequence[Typed], node: exp.Expr) -> Typed:
        type_, bound = self.common(operands, node)
        for one in operands:
            self._refuse.range(one, "COALESCE of")
        sides = [self.beside(one, type_) for one in operands]
        sql = f"COALESCE({', '.join(one.sql for one in operands)})"
        nullable = all(one.nullable for one in operands)
        expression = Coalesce(tuple([side.expression for side in sides]), type_)
        return Typed(expression, sql, ATOM_LEVEL, nullable, bound, node)

    def common(self, operands: Sequence[Typed], node: exp.Expr) -> tuple[ColumnType, Bound | None]:
        """Return the type that has the values of all, constants as what stands beside them, and their bound.

        Raises the text's error: `type_mismatch`, `unsupported`.
        """
        fixed = [one.type for one in operands if one.literal is None]
        beside = [self.beside(one, fixed[0]) if fixed else one for one in operands]
        try:
            type_ = common_type([one.type for one in beside], [one.bound for one in beside])
        except TooWide:
            raise self._refuse.too_wide(node, "a column of these numbers") from None
        if type_ is None:
            one, other = next((beside[0], each) for each in beside if each.type != beside[0].type)
            what = f"`{one.sql[:60]}` is {one.type} and `{other.sql[:60]}` is {other.type}"
            raise self._refuse.refusal("type_mismatch", what, other.node, "Write values of one kind, or numbers.")
        bounds = [one.bound for one in beside if one.bound is not None]
        if bound_of(type_) is None:
            return type_, None
        bound = bounds[0]
        for each in bounds[1:]:
            bound = bound.united(each)
        return type_, bound

    def _truncated(self, node: exp.Expr, depth: int) -> Typed:
        self._refuse.extras(node, ("this", "unit", "input_type_preserved"))
        unit = node.args["unit"].name.lower()
        if unit not in _UNITS:
            hint = "Write 'minute', 'hour' or 'day'."
            raise self._refuse.unsupported(f"DATE_TRUNC to `{unit[:60]}`", node, hint)
        one = self.read(node.this, depth + 1)
        if one.type.kind is not Kind.TIMESTAMP:
            what = f"`{one.sql[:60]}` is {one.type}, and DATE_TRUNC takes a TIMESTAMP"
            raise self._refuse.refusal("type_mismatch", what, one.node, "Use the column as it is.")
        expression = Truncated(unit, one.expression, one.type)
        return Typed(expression, f"DATE_TRUNC('{unit}', {one.sql})", ATOM_LEVEL, one.nullable, None, node)


def column_of(name: str, type_: ColumnType, sql: str, nullable: bool, bound: Bound | None, node: exp.Expr) -> Typed:
    """Return the expression that is a column of the stage that is read."""
    return Typed(ColumnOf(name, type_), sql, ATOM_LEVEL, nullable, bound, node)
