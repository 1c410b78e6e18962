"""Reads the conditions of a view: what stands between the ANDs of WHERE and HAVING.

    open AND NOT sold AND fare BETWEEN 1 AND 9        open = TRUE, sold = FALSE, fare >= 1, fare <= 9

Each compares expressions; a row passes where all are true. NOT is turned into the opposite of a condition.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from catalog.schema.view import Among, Comparison, Condition, Constant, IsNull
from catalog.types.column_type import Kind
from catalog.types.literal import LiteralKind
from catalog.view.expressions import ExpressionReader
from catalog.view.literals import literal_of
from catalog.view.range_conditions import PartOf, RangeConditions, is_of_ranges
from catalog.view.refusals import Refusals
from catalog.view.typed import Typed

_COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="
}  # fmt: skip
_OPPOSITES = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_TRUTH = {True: "TRUE", False: "FALSE"}
MOST_VALUES = 1_000
"""Of one IN."""


@dataclass(frozen=True, slots=True)
class Read:
    """A condition and its canonical text, '' where the one before it has said it."""

    condition: Condition
    sql: str


def conjuncts_of(node: exp.Expr) -> list[exp.Expr]:
    """Return what stands between the ANDs of a condition, in the order of the text."""
    pending, sides = [node], []
    while pending:
        one = pending.pop().unnest()
        if type(one) is exp.And:
            pending += [one.expression, one.this]
        else:
            sides.append(one)
    return sides


class ConditionReader:
    """Reads the conditions of one SELECT by the reader of its expressions."""

    def __init__(self, refuse: Refusals, expressions: ExpressionReader, part: PartOf) -> None:
        self._refuse = refuse
        self._expressions = expressions
        self._ranges = RangeConditions(refuse, expressions, part)

    def read(self, node: exp.Expr) -> list[Read]:
        """Return the conditions that all have to be met. Raises the text's error."""
        return [read for side in conjuncts_of(node) for read in self._one(side)]

    def _one(self, node: exp.Expr) -> list[Read]:
        negated, inner = False, node
        while isinstance(inner, exp.Not):
            negated, inner = not negated, inner.this.unnest()
        match inner:
            case exp.And() if negated:
                raise self._refuse.unsupported("NOT before conditions under AND", ("NOT",), "It is an OR of them.")
            case exp.Between():
                return self._between(inner, negated)
            case exp.In():
                return [self._among(inner, negated)]
            case exp.Is():
                return [self._null(inner, negated)]
        if is_of_ranges(inner):
            comparisons, sql = self._ranges.read(inner, negated)
            return [Read(one, "" if i else sql) for i, one in enumerate(comparisons)]
        if type(inner) in _COMPARISONS:
            op = _COMPARISONS[type(inner)]
            left, right = self._side(inner.this, inner), self._side(inner.expression, inner)
            return [self._compared(_OPPOSITES[op] if negated else op, left, right, inner)]
        return [self._truth(inner, negated)]

    def _side(self, node: exp.Expr, condition: exp.Expr) -> Typed:
        literal = literal_of(node.unnest())
        if literal is not None and literal.kind is LiteralKind.NULL:
            hint = "Nothing is equal to NULL, and nothing differs from it: write IS NULL or IS NOT NULL."
            raise self._refuse.unsupported("a comparison with NULL", node, hint)
        return self._expressions.read(node)

    def _compared(self, op: str, left: Typed, right: Typed, node: exp.Expr) -> Read:
        left, right = self._alike(left, right, node)
        if left.type.is_range and op not in ("=", "<>"):
            hint = "Write =, <>, IN, &&, @>, <@ or isempty(); lower() and upper() of it are compared as any column."
            raise self._refuse.refusal(
                "type_mismatch", f"`{left.sql[:60]}` is {left.type}, and {op} is not for ranges", node, hint
            )
        return Read(Comparison(op, left.expression, right.expression), f"{left.sql} {op} {right.sql}")

    def _alike(self, left: Typed, right: Typed, node: exp.Expr) -> tuple[Typed, Typed]:
        """Return two sides as values that can be compared. Raises the text's error."""
        if left.literal is not None and right.literal is not None:
            raise self._refuse.unsupported("a condition without a column", node, "Leave it out.")
        left, right = self._expressions.beside(left, right.type), self._expressions.beside(right, left.type)
        if not (left.type == right.type or _kind(left) == _kind(right)):
            what = f"`{left.sql[:60]}` is {left.type} and `{right.sql[:60]}` is {right.type}"
            hint = "Values of one kind are compared, and numbers of any type with numbers."
            raise self._refuse.refusal("type_mismatch", what, node, hint)
        return left, right

    def _between(self, node: exp.Between, negated: bool) -> list[Read]:
        self._refuse.extras(node, ("this", "low", "high"))
        if negated:
            raise self._refuse.unsupported("NOT BETWEEN", ("NOT",), "Declare a view for each side.")
        one = self._side(node.this, node)
        low, high = self._side(node.args["low"], node), self._side(node.args["high"], node)
        return [self._compared(">=", one, low, node), self._compared("<=", one, high, node)]

    def _among(self, node: exp.In, negated: bool) -> Read:
        if node.args.get("query") is not None or node.find(exp.Query) is not None:
            raise self._refuse.unsupported("a subquery", node, "Declare a view for it, and JOIN that view.")
        self._refuse.extras(node, ("this", "expressions"))
        if not node.expressions or len(node.expressions) > MOST_VALUES:
            what = f"IN of {len(node.expressions) or 'no'} values"
            raise self._refuse.unsupported(what, node, f"Write 1 to {MOST_VALUES} constants: IN (1, 2, 3).")
        one = self._side(node.this, node)
        values = [self._value(one, each, node) for each in node.expressions]
        constants = dict.fromkeys(value.expression for value in values if isinstance(value.expression, Constant))
        word, shown = "NOT IN" if negated else "IN", ", ".join(dict.fromkeys(value.sql for value in values))
        return Read(Among(one.expression, tuple(constants), negated), f"{one.sql} {word} ({shown})")

    def _value(self, one: Typed, node: exp.Expr, condition: exp.Expr) -> Typed:
        value = self._side(node, condition)
        if value.literal is None:
            raise self._refuse.unsupported("IN of anything but constants", node, "Compare each by =.")
        return self._alike(one, value, condition)[1]

    def _null(self, node: exp.Is, negated: bool) -> Read:
        inner = node.expression
        if isinstance(inner, exp.Not):
            negated, inner = not negated, inner.this
        if not isinstance(inner, exp.Null):
            hint = "Write = TRUE, = FALSE, IS NULL or IS NOT NULL."
            raise self._refuse.unsupported("IS with anything but NULL", node, hint)
        one = self._expressions.read(node.this)
        return Read(IsNull(one.expression, negated), f"{one.sql} IS {'NOT ' * negated}NULL")

    def _truth(self, node: exp.Expr, negated: bool) -> Read:
        one = self._expressions.read(node)
        if one.literal is not None:
            raise self._refuse.unsupported("a condition without a column", node, "Leave it out.")
        if one.type.kind is not Kind.BOOLEAN:
            hint = "Compare it: column = constant."
            what = f"`{one.sql[:60]}` is {one.type}, and no condition"
            raise self._refuse.refusal("type_mismatch", what, node, hint)
        truth = Constant(int(not negated), one.type)
        return Read(Comparison("=", one.expression, truth), f"{one.sql} = {_TRUTH[not negated]}")


def _kind(one: Typed) -> object:
    """Return what can be compared with each other: numbers of all types, and else values of one type."""
    if one.type.is_range:
        return one.type
    return "number" if one.bound is not None or one.type.kind in (Kind.REAL, Kind.DOUBLE) else one.type.kind
