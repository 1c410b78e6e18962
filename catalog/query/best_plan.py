"""First rows of a range in an order, resolved against a catalog: a shape, and how constants become a region of it.

The condition is that of an aggregate over a range. LIMIT is a constant of the statement but a part of the shape, so
each limit of a template makes a shape of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from catalog.query.best_shape import BestShape
from catalog.query.channel import MOSTS, Order
from catalog.query.filter_plan import keys_in, shown_columns
from catalog.query.question import Question
from catalog.query.range_plan import REFORMULATED, RangePlan, refuse_ranges, roles
from catalog.query.resolution import TableScope, check_buckets, column_of
from catalog.query.shape import Region
from catalog.query.unsupported import unsupported
from catalog.schema.relation import Relation
from catalog.sql.names import quoted
from catalog.sql.statement_text import StatementText
from catalog.types.column_type import ColumnType
from catalog.types.literal import ConstantRefused, LiteralKind

_LIMITS = f"LIMIT takes a whole number from 0 to {MOSTS[-1]}"
_DIGITS = 6
"""Of the longest LIMIT that is read as a number."""


class LimitRefused(ConstantRefused):
    """A LIMIT is no number of rows that may be asked for."""


@dataclass(frozen=True, slots=True)
class BestPlan:
    """What all questions of one template share, but for the limit, which is the last of their constants.

    places: how the constants before it become a region.
    """

    shape: BestShape
    columns: tuple[ColumnType | None, ...]
    places: RangePlan
    cost: str = REFORMULATED
    _of_limits: dict[int, RangePlan] = field(default_factory=dict, compare=False, repr=False)

    def region(self, kinds: Sequence[LiteralKind], texts: Sequence[str]) -> Region:
        """Return the region for these constants, numbered in the order of the text.

        Cost: that of a region of an aggregate. Raises ConstantRefused.
        """
        limit = _limit(kinds[-1], texts[-1])
        plan = self._of_limits.get(limit)
        if plan is None:
            plan = self._of_limits[limit] = replace(self.places, shape=replace_limit(self.shape, limit))
        region = plan.region(kinds, texts)
        return region if limit else replace(region, empty=True)


def replace_limit(shape: BestShape, limit: int) -> BestShape:
    """Return the shape of the same questions for another number of rows."""
    return BestShape(shape.relation, shape.shown, shape.equal, shape.range, shape.order, limit, shape.keys)


def make_best_plan(relation: Relation, question: Question, text: StatementText) -> BestPlan:
    """Resolve the names of a question for first rows.

    Raises SubscriptionError: `unknown_column`, `unsupported`.
    """
    assert question.limit is not None
    if question.limit.negative:
        raise unsupported(text, "a LIMIT with a minus", question.limit.span, f"{_LIMITS}.")
    shown = shown_columns(TableScope(relation, text), question, text)
    equal, ranges = roles(relation, question, text)
    if len(ranges) > 1:
        raise refuse_ranges(question, text, ranges, "Without ORDER BY and LIMIT any condition is taken.")
    check_buckets(relation, question.table, {tests.column for tests in equal}, text)
    attribute = ranges[0] if ranges else None
    names = tuple([column.name for column in shown])
    shape = BestShape(
        relation=relation.name,
        shown=names,
        equal=tuple([tests.column for tests in equal]),
        range=None if attribute is None else attribute.column,
        order=_order(relation, question, text),
        limit=0,
        keys=keys_in(relation, names),
    )
    columns = tuple([column.type for column in shown])
    return BestPlan(shape, columns, RangePlan(shape, columns, equal, attribute, REFORMULATED))


def _order(relation: Relation, question: Question, text: StatementText) -> tuple[Order, ...]:
    """Return the order, of which the primary key is the end. A column that is said again orders nothing more."""
    found: dict[str, Order] = {}
    for each in question.order:
        column = column_of(relation, each.column, text)
        if column.type.is_range:
            what = f"`{column.name}` is {column.type}, and ORDER BY of it is not supported"
            said = quoted(column.name)
            hint = f"Order by lower({said}), or by upper({said}) too."
            raise text.refusal("unsupported_type", what, each.column.span, hint)
        nulls_first = each.nulls_first if column.nullable else each.descending
        found.setdefault(column.name, Order(column.name, each.descending, nulls_first))
    if not relation.key:
        hint = f"Show in `{relation.name}` all columns that tell its rows apart, or ask without ORDER BY and LIMIT."
        what = f"ORDER BY ... LIMIT over `{relation.name}`, which does not show the key of its rows,"
        raise unsupported(text, what, question.order[-1].column.span, hint)
    end = list(found)[-len(relation.key) :]
    if set(end) != set(relation.key):
        keys = ", ".join(map(quoted, relation.key))
        hint = f"Add the primary key at its end, so that no two rows are equal in the order: ORDER BY ..., {keys}."
        place = question.order[-1].column.span
        raise unsupported(text, "ORDER BY ... LIMIT that does not end in the primary key", place, hint)
    return tuple(found.values())


def _limit(kind: LiteralKind, text: str) -> int:
    number = kind is LiteralKind.NUMBER and text.isascii() and text.isdigit() and len(text) <= _DIGITS
    if not number or int(text) > MOSTS[-1]:
        hint = "What comes and goes among more rows is cheaper to tell without ORDER BY and LIMIT."
        raise LimitRefused(f"{_LIMITS}, got {text[:40]}", hint)
    return int(text)
