"""A question resolved against a catalog: a shape, and how constants become a region of it.

Roles of the columns: a column with an `=` comparison is an equality attribute, and all its comparisons are
intersected to one point or to nothing; at most one other column has comparisons, and it is the range attribute.
A comparison with NULL is never true, so the region is empty.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from catalog.column_type import MAX_CODED_PRECISION, ColumnType, Kind
from catalog.errors import suggestion
from catalog.literal import LiteralKind, LiteralMismatch, Placing, placing, text_of
from catalog.question import Name, Question
from catalog.relation import Catalog, Column, Relation
from catalog.shape import Region, Shape, group_key
from catalog.statement_text import StatementText
from catalog.unsupported import unsupported
from state.order_code import INT64_MAX, INT64_MIN

NO_GROUP = b"[]"
"""Group of a region whose equalities no value fulfils."""

_NOTHING = (1, 0)
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
    """All comparisons of one column. Its methods raise LiteralMismatch with `column` and `operand` filled in."""

    column: str
    type: ColumnType
    tests: tuple[Test, ...]
    reach: tuple[int, int]
    placing: Placing | None

    @classmethod
    def of(cls, column: Column, tests: list[Test]) -> ColumnTests:
        """Return the tests of `column`."""
        if not column.type.coded:
            return cls(column.name, column.type, tuple(tests), (INT64_MIN, INT64_MAX), None)
        return cls(column.name, column.type, tuple(tests), column.type.reach, placing(column.type))

    def interval(self, kinds: Sequence[LiteralKind], texts: Sequence[str]) -> tuple[int, int]:
        """Return the closed range of order codes that passes all tests; it may be empty, and reach beyond 64 bits."""
        low, high = INT64_MIN, INT64_MAX
        placing, type_ = self.placing, self.type
        assert placing is not None
        for op, i, negative in self.tests:
            if kinds[i] is LiteralKind.NULL:
                return _NOTHING
            try:
                floor, ceiling = placing(type_, kinds[i], texts[i], negative)
            except LiteralMismatch as e:
                raise e.at(self.column, i) from None
            if op in (">=", "="):
                low = max(low, ceiling)
            if op in ("<=", "="):
                high = min(high, floor)
            if op == "<":
                high = min(high, ceiling - 1)
            elif op == ">":
                low = max(low, floor + 1)
        return low, high

    def point(self, kinds: Sequence[LiteralKind], texts: Sequence[str]) -> int | str | None:
        """Return the one code (the text, for VARCHAR) that passes all tests, one of which is `=`; None if none does."""
        if self.placing is None:
            return self._text_point(kinds, texts)
        low, high = self.interval(kinds, texts)
        least, greatest = self.reach
        return low if low == high and least <= low <= greatest else None

    def _text_point(self, kinds: Sequence[LiteralKind], texts: Sequence[str]) -> str | None:
        bounds: list[tuple[str, str | None]] = []
        for op, i, negative in self.tests:
            try:
                bounds.append((op, text_of(self.type, kinds[i], texts[i], negative)))
            except LiteralMismatch as e:
                raise e.at(self.column, i) from None
        point = next(bound for op, bound in bounds if op == "=")
        passes = point is not None and all(b is not None and _COMPARE[op](point, b) for op, b in bounds)
        return point if passes else None


@dataclass(frozen=True, slots=True)
class Plan:
    """What all subscriptions of one template share: shape, type of the answer, tests of each column."""

    shape: Shape
    type: ColumnType
    equal: tuple[ColumnTests, ...]
    range: ColumnTests | None

    def region(self, kinds: Sequence[LiteralKind], texts: Sequence[str]) -> Region:
        """Return the region for these constants, numbered in the order of the text.

        Cost: 2-4 us. Raises LiteralMismatch.
        """
        points = [tests.point(kinds, texts) for tests in self.equal]
        values = tuple([p for p in points if p is not None])
        nobody = len(values) < len(points)
        group = NO_GROUP if nobody else group_key(values)
        if self.range is None:
            return Region(self.shape, group, empty=nobody)
        low, high = self.range.interval(kinds, texts)
        if low > INT64_MAX or high < INT64_MIN:
            return Region(self.shape, group, INT64_MAX, INT64_MIN, True)
        least, greatest = self.range.reach
        return Region(self.shape, group, low, high, nobody or low > high or low > greatest or high < least)


def make_plan(catalog: Catalog, question: Question, text: StatementText) -> Plan:
    """Resolve the names of `question`.

    Raises SubscriptionError: `unknown_table`, `unknown_column`, `unsupported`, `unsupported_type`.
    """
    relation = _relation(catalog, question.table, text)
    measure = _column(relation, question.measure, text)
    if not measure.type.coded:
        what = f"`{measure.name}` is {measure.type}, and {question.aggregate.upper()} of it is not supported"
        raise _unsupported_type(text, what, question.measure)
    tests = _tests(relation, question, text)
    compared = {c.operator + c.column.text for c in question.comparisons}
    equal = tuple(t for t in tests if "=" + t.column in compared)
    ranges = [t for t in tests if "=" + t.column not in compared]
    _check_types(question, text, equal, ranges)
    attribute = ranges[0] if ranges else None
    shape = Shape(
        relation=relation.name,
        aggregate=question.aggregate,
        measure=measure.name,
        equal=tuple(t.column for t in equal),
        range=None if attribute is None else attribute.column,
    )
    return Plan(shape, measure.type, equal, attribute)


def _relation(catalog: Catalog, name: Name, text: StatementText) -> Relation:
    relation = catalog.relations.get(name.text)
    if relation is None:
        hint = suggestion(name.text, catalog.relations, "table")
        raise text.refusal("unknown_table", f"there is no table `{name.text}`", name.span, hint)
    return relation


def _column(relation: Relation, name: Name, text: StatementText) -> Column:
    try:
        return relation.column(name.text)
    except KeyError:
        hint = suggestion(name.text, [c.name for c in relation.columns], "column")
        what = f"table `{relation.name}` has no column `{name.text}`"
        raise text.refusal("unknown_column", what, name.span, hint) from None


def _tests(relation: Relation, question: Question, text: StatementText) -> list[ColumnTests]:
    """Return the tests of each column that has some, in DDL order."""
    by_column: dict[str, list[Test]] = {}
    for i, comparison in enumerate(question.comparisons):
        column = _column(relation, comparison.column, text)
        by_column.setdefault(column.name, []).append((comparison.operator, i, comparison.operand.negative))
    return [ColumnTests.of(c, by_column[c.name]) for c in relation.columns if c.name in by_column]


def _check_types(
    question: Question, text: StatementText, equal: tuple[ColumnTests, ...], ranges: list[ColumnTests]
) -> None:
    for tests in equal:
        if not tests.type.coded and tests.type.kind is not Kind.VARCHAR:
            what = f"`{tests.column}` is {tests.type}, and comparing it is not supported"
            raise _unsupported_type(text, what, _first(question, tests))
    for tests in ranges:
        if not tests.type.coded:
            what = f"`{tests.column}` is {tests.type}, and a range over it is not supported"
            raise _unsupported_type(text, what, _first(question, tests))
    if len(ranges) > 1:
        first, second = sorted(ranges, key=lambda t: t.tests[0][1])[:2]
        what = f"a range over `{second.column}` beside the one over `{first.column}`"
        hint = "Only one column may have a range; compare the others by =."
        raise unsupported(text, what, _first(question, second).span, hint)


def _first(question: Question, tests: ColumnTests) -> Name:
    return question.comparisons[tests.tests[0][1]].column


def _unsupported_type(text: StatementText, what: str, name: Name) -> Exception:
    hint = (
        f"MIN, MAX and ranges take every type but VARCHAR and DECIMAL of more than {MAX_CODED_PRECISION} digits; "
        "a VARCHAR can be compared by =."
    )
    return text.refusal("unsupported_type", what, name.span, hint)
