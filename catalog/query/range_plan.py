"""Aggregates over a range, resolved against a catalog: a shape, and how constants become a region of it.

Roles of the columns: a column with an `=` comparison is an equality attribute, and all its comparisons are
intersected to one point or to nothing; at most one other column has comparisons, and it is the range attribute.
A comparison with NULL is never true, so the region is empty; the constants beside it are checked all the same.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from catalog.query.best_shape import BestShape
from catalog.query.condition_tree import conditions_of
from catalog.query.output import Output
from catalog.query.question import Item, Question
from catalog.query.range_ends import check_operator
from catalog.query.resolution import check_buckets, column_of
from catalog.query.shape import BEYOND_KEYS, LOWEST_KEY, NO_GROUP, Region, Shape, group_key
from catalog.query.statement_names import Name
from catalog.query.unsupported import unsupported
from catalog.schema.relation import Column, Relation
from catalog.sql.errors import SqlError
from catalog.sql.names import quoted
from catalog.sql.statement_text import StatementText
from catalog.types.column_type import ColumnType, Kind
from catalog.types.literal import ConstantRefused, LiteralKind, Placing, placing, text_of
from catalog.types.order_key import after, key_of_unscaled, order_key, text_of_key
from state.order_code import INT64_MAX, INT64_MIN

REFORMULATED = "reformulated"
ROW_CHANGES = "row changes"
"""Cost classes (docs/questions.md): told are changes of answers, or of rows, which edges count."""
_NOTHING = (1, 0)
_NO_KEYS = (BEYOND_KEYS, LOWEST_KEY)
"""Ranges that no value is in."""
_NUMBERS = frozenset({Kind.SMALLINT, Kind.INTEGER, Kind.BIGINT, Kind.DECIMAL, Kind.REAL, Kind.DOUBLE})
_COMPARE: dict[str, Callable[[str, str], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

Test = tuple[str, int, bool]
"""Operator, number of the constant in the text, whether a minus stands before it."""


@dataclass(frozen=True, slots=True)
class ColumnTests:
    """All comparisons of one column. Its methods raise ConstantRefused with `column` and `operand` filled in.

    reach: the least and the greatest code of a value of the type.  placing: where a constant lies among these; None for
    VARCHAR, whose constants are compared as they are.
    """

    column: str
    type: ColumnType
    tests: tuple[Test, ...]
    reach: tuple[int, int]
    placing: Placing | None

    @classmethod
    def of(cls, column: Column, tests: list[Test]) -> ColumnTests:
        """Return the tests of `column`."""
        type_ = column.type
        if type_.is_text:
            return cls(column.name, type_, tuple(tests), (0, 0), None)
        return cls(column.name, type_, tuple(tests), type_.reach, placing(type_))

    def bounds(self, kinds: Sequence[LiteralKind], texts: Sequence[str]) -> tuple[bytes, bytes]:
        """Return the half-open range of order keys that passes all tests, of a column without order codes."""
        if self.placing is None:
            return self._text_bounds(kinds, texts)
        low, high = self.interval(kinds, texts)
        least, greatest = self.reach
        if low > min(high, greatest) or high < least:
            return _NO_KEYS
        lo = LOWEST_KEY if low <= least else key_of_unscaled(low)
        return lo, BEYOND_KEYS if high >= greatest else key_of_unscaled(high + 1)

    def _text_bounds(self, kinds: Sequence[LiteralKind], texts: Sequence[str]) -> tuple[bytes, bytes]:
        low, high, never = LOWEST_KEY, BEYOND_KEYS, False
        for op, i, negative in self.tests:
            try:
                text = text_of(self.type, kinds[i], texts[i], negative)
            except ConstantRefused as e:
                raise e.at(self.column, i) from None
            if text is None:
                never = True
                continue
            key = order_key(self.type, text)
            if op in (">=", ">"):
                low = max(low, key if op == ">=" else after(key))
            else:
                high = min(high, key if op == "<" else after(key))
        return _NO_KEYS if never else (low, high)

    def interval(self, kinds: Sequence[LiteralKind], texts: Sequence[str]) -> tuple[int, int]:
        """Return the closed range of order codes (unscaled values, for a wide DECIMAL) that passes all tests.

        It may be empty, and reach beyond 64 bits.
        """
        placing, type_ = self.placing, self.type
        low, high = (INT64_MIN, INT64_MAX) if type_.coded else self.reach
        never = False
        assert placing is not None
        for op, i, negative in self.tests:
            if kinds[i] is LiteralKind.NULL:
                never = True
                continue
            try:
                floor, ceiling = placing(type_, kinds[i], texts[i], negative)  # one code, where a value is equal
            except ConstantRefused as e:
                raise e.at(self.column, i) from None
            if op in (">=", "="):
                low = max(low, ceiling)
            if op in ("<=", "="):
                high = min(high, floor)
            if op == "<":
                high = min(high, ceiling - 1)
            elif op == ">":
                low = max(low, floor + 1)
        return _NOTHING if never else (low, high)

    def point(self, kinds: Sequence[LiteralKind], texts: Sequence[str]) -> int | str | None:
        """Return the one code that passes all tests, one of which is `=`; None if none does.

        Where the type has no codes it is the canonical text.
        """
        if self.placing is None:
            return self._text_point(kinds, texts)
        low, high = self.interval(kinds, texts)
        least, greatest = self.reach
        if low != high or not least <= low <= greatest:
            return None
        return low if self.type.coded else text_of_key(self.type, key_of_unscaled(low))

    def _text_point(self, kinds: Sequence[LiteralKind], texts: Sequence[str]) -> str | None:
        bounds: list[tuple[str, str | None]] = []
        for op, i, negative in self.tests:
            try:
                bounds.append((op, text_of(self.type, kinds[i], texts[i], negative)))
            except ConstantRefused as e:
                raise e.at(self.column, i) from None
        point = next(bound for op, bound in bounds if op == "=")
        passes = point is not None and all(b is not None and _COMPARE[op](point, b) for op, b in bounds)
        return point if passes else None


@dataclass(frozen=True, slots=True)
class RangePlan:
    """What all subscriptions of one template share: shape, types of the outputs' columns, tests of each column."""

    shape: Shape | BestShape
    columns: tuple[ColumnType | None, ...]
    equal: tuple[ColumnTests, ...]
    range: ColumnTests | None
    cost: str

    def region(self, kinds: Sequence[LiteralKind], texts: Sequence[str]) -> Region:
        """Return the region for these constants, numbered in the order of the text.

        Cost: 2-4 us. Raises ConstantRefused.
        """
        found = self.group(kinds, texts)
        nobody, group = found is None, found or NO_GROUP
        if self.range is None:
            return Region(self.shape, group, empty=nobody)
        if not self.range.type.coded:
            first, end = self.range.bounds(kinds, texts)
            return Region(self.shape, group, first, end, nobody or first >= end)
        low, high = self.range.interval(kinds, texts)
        if low > INT64_MAX or high < INT64_MIN:
            return Region(self.shape, group, INT64_MAX, INT64_MIN, True)
        least, greatest = self.range.reach
        return Region(self.shape, group, low, high, nobody or low > high or low > greatest or high < least)

    def group(self, kinds: Sequence[LiteralKind], texts: Sequence[str]) -> bytes | None:
        """Return the group for these constants; None where no value is equal to all. As `region`."""
        points = [tests.point(kinds, texts) for tests in self.equal]
        values = tuple([p for p in points if p is not None])
        return None if len(values) < len(points) else group_key(values)


def make_range_plan(relation: Relation, question: Question, text: StatementText) -> RangePlan:
    """Resolve the names of a question for aggregates whose condition is plain.

    Raises SubscriptionError: `unknown_column`, `unsupported`, `unsupported_type`.
    """
    columns = measures(relation, question.items, text)
    equal, ranges = roles(relation, question, text)
    _check_ranges(question, text, ranges)
    check_buckets(relation, question.table, {tests.column for tests in equal}, text)
    attribute = ranges[0] if ranges else None
    shape = Shape(
        relation=relation.name,
        outputs=outputs_of(question.items),
        equal=tuple(t.column for t in equal),
        range=None if attribute is None else attribute.column,
    )
    counts = any(channel.kind in ("rows", "values") for channel in shape.channels)
    return RangePlan(shape, columns, equal, attribute, ROW_CHANGES if counts else REFORMULATED)


def outputs_of(items: Sequence[Item]) -> tuple[Output, ...]:
    """Return what the items of a SELECT list compute."""
    return tuple([Output(item.function, None if item.column is None else item.column.text) for item in items])


def is_number_type(type_: ColumnType) -> bool:
    """Whether values of this type can be summed."""
    return type_.kind in _NUMBERS


def measures(relation: Relation, items: Sequence[Item], text: StatementText) -> tuple[ColumnType | None, ...]:
    """Return the types of the columns that items are about; None for COUNT(*).

    Raises SubscriptionError: `unknown_column`, `unsupported_type`.
    """
    return tuple([_measure(relation, item, text) for item in items])


def _measure(relation: Relation, item: Item, text: StatementText) -> ColumnType | None:
    if item.column is None:
        return None
    column = column_of(relation, item.column, text)
    if item.function in ("sum", "avg") and not is_number_type(column.type):
        what = f"`{column.name}` is {column.type}, and {item.function.upper()} of it is not supported"
        hint = "SUM and AVG take numbers; COUNT and DISTINCT take every type, MIN and MAX all but ranges."
        raise text.refusal("unsupported_type", what, item.column.span, hint)
    if item.function in ("min", "max") and column.type.is_range:
        what = f"`{column.name}` is {column.type}, and {item.function.upper()} of it is not supported"
        said = quoted(column.name)
        hint = f"Ask for {item.function.upper()}(lower({said})) or {item.function.upper()}(upper({said}))."
        raise text.refusal("unsupported_type", what, item.column.span, hint)
    return column.type


def roles(
    relation: Relation, question: Question, text: StatementText
) -> tuple[tuple[ColumnTests, ...], tuple[ColumnTests, ...]]:
    """Return the tests of the columns that a plain condition compares by `=`, and of those with ranges alone.

    Both in DDL order. Raises SubscriptionError, `unknown_column`.
    """
    by_column: dict[str, list[Test]] = {}
    compared = set()
    for condition in conditions_of(question.condition):
        column = column_of(relation, condition.column, text)
        check_operator(condition, column, text)
        (i,) = condition.operands
        by_column.setdefault(column.name, []).append((condition.operator, i, question.operands[i].negative))
        if condition.operator == "=":
            compared.add(column.name)
    tests = [ColumnTests.of(c, by_column[c.name]) for c in relation.columns if c.name in by_column]
    return tuple(t for t in tests if t.column in compared), tuple(t for t in tests if t.column not in compared)


def _check_ranges(question: Question, text: StatementText, ranges: Sequence[ColumnTests]) -> None:
    """Refuse a second range: the index finds a subscription by one. Raises SubscriptionError, `unsupported`."""
    if len(ranges) > 1:
        raise refuse_ranges(question, text, ranges, "MIN, MAX and DISTINCT take one; COUNT, SUM and AVG alone any.")


def refuse_ranges(question: Question, text: StatementText, ranges: Sequence[ColumnTests], who: str) -> SqlError:
    """Return the refusal of ranges over more than one column; `who` says whose they may be."""
    first, second = sorted(ranges, key=lambda t: t.tests[0][1])[:2]
    what = f"a range over `{second.column}` beside the one over `{first.column}`"
    hint = f"Only one column may have a range; compare the others by =. {who}"
    return unsupported(text, what, _first(question, second).span, hint)


def _first(question: Question, tests: ColumnTests) -> Name:
    """Return the column as the first comparison writes it."""
    return question.compared[tests.tests[0][1]]
