"""Operators of ranges in the WHERE of a view, as comparisons of the two ends that are kept beside a range.

    c && '[1,5)'      lower end <= upper of S  AND  upper end >= lower of S
    c @> '[1,5)'      lower end <= lower of S  AND  upper end >= upper of S         c @> 3: S is the range of 3 alone
    c <@ '[1,5)'      lower end >= lower of S  AND  upper end <= upper of S
    isempty(c)        lower end =  that of the empty range

They say what they say in a question (`catalog/query/range_ends.py`). The opposite of two conditions is an OR, which no
view has; that of isempty() is one.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from catalog.schema.relation import LOWER_END, UPPER_END
from catalog.schema.view import ColumnOf, Comparison, Constant
from catalog.sql.range_operators import RANGE_OPERATORS, is_isempty
from catalog.types.literal import LiteralKind, LiteralMismatch
from catalog.types.range_operand import ends_of, limits
from catalog.types.range_value import Bound, read_range
from catalog.view.expressions import ExpressionReader
from catalog.view.literals import literal_of
from catalog.view.refusals import Refusals
from catalog.view.typed import Typed

PartOf = Callable[[Typed, str], ColumnOf]
"""Finds the column that is a part of a range, which is a column: `role` as in `catalog/schema/relation.py`."""


def is_of_ranges(node: exp.Expr) -> bool:
    """Whether a condition is one that only ranges have."""
    return type(node) in RANGE_OPERATORS or is_isempty(node)


class RangeConditions:
    """Reads operators of ranges of one SELECT."""

    def __init__(self, refuse: Refusals, expressions: ExpressionReader, part: PartOf) -> None:
        self._refuse = refuse
        self._expressions = expressions
        self._part = part

    def read(self, node: exp.Expr, negated: bool) -> tuple[list[Comparison], str]:
        """Return the comparisons that a condition is, and its canonical text. Raises the text's error."""
        if is_isempty(node):
            return self._empty(node, negated)
        if negated:
            hint = "It is an OR: declare a view for each side, or ask so about the view."
            raise self._refuse.unsupported("NOT before an operator of ranges", ("NOT",), hint)
        left, right, (operator, mirrored) = node.this.unnest(), node.expression.unnest(), RANGE_OPERATORS[type(node)]
        if literal_of(left) is not None:
            left, right, operator = right, left, mirrored
        of, literal = self._range(left, node, operator), literal_of(right)
        if literal is None or literal.kind is LiteralKind.NULL:
            hint = f"Write a constant: column {operator} '[1,5)'."
            raise self._refuse.unsupported(f"{operator} with anything but a constant", right, hint)
        try:
            ends = ends_of(of.type, operator, literal.kind, literal.text, literal.negative)
        except LiteralMismatch as e:
            raise self._refuse.refusal("type_mismatch", f"what stands beside it {e.what}", right, e.hint) from None
        assert ends is not None, "NULL was refused"
        made = [self._limit(of, role, *limits(operator, ends, role == LOWER_END)) for role in (LOWER_END, UPPER_END)]
        return made, f"{of.sql} {operator} {literal.sql}"

    def _empty(self, node: exp.Anonymous, negated: bool) -> tuple[list[Comparison], str]:
        of = self._range(node.expressions[0].unnest(), node, "isempty()")
        lower = read_range(of.type, "empty").lower
        return [self._end(of, LOWER_END, "<>" if negated else "=", lower)], f"{'NOT ' * negated}isempty({of.sql})"

    def _range(self, node: exp.Expr, condition: exp.Expr, operator: str) -> Typed:
        of = self._expressions.read(node)
        if not of.type.is_range or not isinstance(of.expression, ColumnOf):
            what = f"`{of.sql[:60]}` is {of.type}, and {operator} is for columns that are ranges"
            hint = "Compare it by =, <>, <, <=, >, >=, BETWEEN or IN."
            raise self._refuse.refusal("type_mismatch", what, condition, hint)
        return of

    def _limit(self, of: Typed, role: str, least: Bound | None, greatest: Bound | None) -> Comparison:
        """Return the comparison with the one limit that there is."""
        return self._end(of, role, ">=", least) if greatest is None else self._end(of, role, "<=", greatest)

    def _end(self, of: Typed, role: str, operator: str, bound: Bound | None) -> Comparison:
        column = self._part(of, role)
        return Comparison(operator, column, Constant(bound, column.type))
