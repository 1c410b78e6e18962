"""Conditions of range columns as conditions of their two ends (`catalog/types/range_value.py`).

    c && S        lower <= upper of S  AND  upper >= lower of S
    c @> S        lower <= lower of S  AND  upper >= upper of S           c @> v: S is the range of v alone
    c <@ S        lower >= lower of S  AND  upper <= upper of S
    v within c    as c @> v, and v is a value even where its text could be a range (`audience.py`)
    isempty(c)    lower is that of the empty range
    NOT ...       any of the opposites; no end of a NULL meets either

Ends are columns of their own, so a condition of a range is a box of two columns, for which index and shards need
nothing new. In the plane of lower and upper ends it is the rectangle of all ranges that meet it (Subject spaces,
section 5.3, with the conditions set right: two ranges overlap iff neither ends before the other begins). `=`, IN and
IS NULL are conditions of the range itself, whose equal values are equal texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from catalog.query.condition_tree import OF_RANGES, And, Condition, Or, Tree
from catalog.query.shape import BEYOND_KEYS, LOWEST_KEY
from catalog.query.value_set import NOTHING, ValueSet, everything
from catalog.schema.relation import LOWER_END, UPPER_END, Column
from catalog.sql.statement_text import StatementText
from catalog.types.column_type import ColumnType
from catalog.types.literal import ConstantRefused, LiteralKind
from catalog.types.order_key import after
from catalog.types.range_operand import ends_of, limits
from catalog.types.range_value import (
    Bound,
    ends_coded,
    ends_type,
    read_range,
)
from state.order_code import INT64_MAX, INT64_MIN

_EQUALITY = frozenset({"=", "<>", "in", "not in", "null", "not null"})
_SAID = {"empty": "isempty()", "like": "LIKE", "prefix": "starts_with"}


def with_ends(tree: Tree) -> Tree:
    """Return a tree in which each operator of ranges is conditions of their ends."""
    if isinstance(tree, Condition):
        return _of_ends(tree) if tree.operator in OF_RANGES else tree
    sides = tuple([with_ends(side) for side in tree.sides])
    return Or(sides, tree.node) if isinstance(tree, Or) else And(sides, tree.node)


def _of_ends(condition: Condition) -> Tree:
    lower, upper = replace(condition, end=LOWER_END), replace(condition, end=UPPER_END)
    negated = condition.operator.startswith("not ")
    if condition.operator.endswith("empty"):
        return lower
    return (Or if negated else And)((lower, upper), condition.node)


def check_operator(condition: Condition, column: Column, text: StatementText) -> None:
    """Refuse an operator that the type of a column has not. Raises SubscriptionError: `type_mismatch`."""
    operator, ranges = condition.operator.removeprefix("not "), column.type.is_range
    if ranges == (condition.operator in OF_RANGES) or (ranges and condition.operator in _EQUALITY):
        return
    said = f"`{condition.column.said}` is {column.type}"
    if ranges:
        what = f"{said}, and {_SAID.get(operator, operator)} is not for ranges"
        hint = "Ask by =, <>, IN, &&, @>, <@ or isempty(); lower() and upper() of it are compared as any column."
    else:
        what = f"{said}, and {_SAID.get(operator, operator)} is for ranges"
        hint = "Compare it by =, <>, <, <=, >, >=, BETWEEN or IN."
    raise text.refusal("type_mismatch", what, condition.column.span, hint)


@dataclass(frozen=True, slots=True)
class EndSet:
    """What a condition of a range column holds of one of its ends. As `ConditionSet`, to which it is alike.

    type: that of the range.  end: LOWER_END or UPPER_END.
    """

    column: str
    type: ColumnType
    operator: str
    end: str
    operands: tuple[tuple[int, bool], ...]

    @property
    def anything(self) -> ValueSet:
        """Every end, and NULL."""
        return ValueSet(everything(ends_type(self.type)).intervals, True)

    @property
    def ranged(self) -> bool:
        """Whether `interval` says all of what it holds."""
        return ends_coded(self.type) and not self.operator.startswith("not ")

    def values(self, kinds: Sequence[LiteralKind], texts: Sequence[str]) -> ValueSet:
        """Return what it holds. Cost: 5 us for a constant that is new. Raises ConstantRefused."""
        bounds = self._bounds(kinds, texts)
        if bounds is None:
            return NOTHING
        least, greatest = bounds
        if ends_coded(self.type):
            low = INT64_MIN if least is None else int(least)
            found = ValueSet(((low, INT64_MAX if greatest is None else int(greatest)),))
        else:
            first = LOWEST_KEY if least is None else str(least).encode()
            found = ValueSet(((first, BEYOND_KEYS if greatest is None else after(str(greatest).encode())),))
        return found.complement(self.anything) if self.operator.startswith("not ") else found

    def interval(self, kinds: Sequence[LiteralKind], texts: Sequence[str]) -> tuple[int, int]:
        """Return the least and the greatest code of what it holds, the one beyond the other where that is nothing."""
        bounds = self._bounds(kinds, texts)
        if bounds is None:
            return INT64_MAX, INT64_MIN
        least, greatest = bounds
        return INT64_MIN if least is None else int(least), INT64_MAX if greatest is None else int(greatest)

    def _bounds(self, kinds: Sequence[LiteralKind], texts: Sequence[str]) -> tuple[Bound | None, Bound | None] | None:
        """Return the least and the greatest end that meet it, negated or not; None where the constant is NULL."""
        operator = self.operator.removeprefix("not ")
        if operator == "empty":
            lower = read_range(self.type, "empty").lower
            return lower, lower
        ((i, negative),) = self.operands
        try:
            ends = ends_of(self.type, operator, kinds[i], texts[i], negative)
        except ConstantRefused as e:
            raise e.at(self.column, i) from None
        return None if ends is None else limits(operator, ends, self.end == LOWER_END)
