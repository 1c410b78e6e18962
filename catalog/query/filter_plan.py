"""Filters resolved against a catalog: a shape, and how constants become a region of it.

The whole condition is constants of the region (`filter_terms.py`); the shape says only which columns are shown or
totalled, and which are compared. Where a table has buckets, the columns that part it are compared by `=` beside all
else, so that one shard has all rows that may meet the condition.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from catalog.query.boxes_of import AnySet, BoxForm
from catalog.query.condition_set import ConditionSet
from catalog.query.condition_tree import And, Condition, Tree, conditions_of
from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import MAX_COLUMNS, box_of_intervals, encode_terms
from catalog.query.question import Question
from catalog.query.range_ends import EndSet, check_operator, with_ends
from catalog.query.range_plan import ColumnTests, measures, outputs_of
from catalog.query.refusal import explained_name
from catalog.query.resolution import Scope, check_buckets
from catalog.query.shape import NO_GROUP, Region, group_key
from catalog.query.statement_names import Name, Star
from catalog.query.unsupported import unsupported
from catalog.schema.relation import Column, Relation
from catalog.sql.errors import SqlError
from catalog.sql.statement_text import StatementText
from catalog.types.column_type import ColumnType, Kind
from catalog.types.literal import LiteralKind
from state.order_code import INT64_MAX, INT64_MIN

TABLE_CHANGES = "table changes"
MAX_SHOWN = 1_600
"""Longest SELECT list of columns."""
_NOTHING = encode_terms([])
_OF_TEXTS = {"like": "LIKE", "not like": "LIKE", "prefix": "starts_with", "not prefix": "starts_with"}


Ranges = tuple[tuple[int, tuple[AnySet, ...]], ...]
"""Columns by their places, in the order of the text, with the conditions of each: all are to be met, by codes."""


@dataclass(frozen=True, slots=True)
class FilterPlan:
    """What all filters of one template share: shape, types of what is shown, tests of the bucket columns, condition.

    ranges: the condition, where it is intervals of codes alone, and no column chooses a bucket.
    uncelled: the tables of a join that no cell serves.
    """

    shape: FilterShape
    columns: tuple[ColumnType | None, ...]
    bucket: tuple[ColumnTests, ...]
    form: BoxForm
    cost: str = TABLE_CHANGES
    uncelled: tuple[str, ...] = ()
    ranges: Ranges | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ranges", None if self.bucket else _ranges(self.form.conjunction))

    def region(self, kinds: Sequence[LiteralKind], texts: Sequence[str]) -> Region:
        """Return the region for these constants, numbered in the order of the text.

        Cost: 4 us and 1-3 us a constant, where the condition is one box. Raises ConstantRefused.
        """
        if self.ranges is not None:
            return self._of_ranges(self.ranges, kinds, texts)
        boxes = self.form.boxes(kinds, texts)
        group = self._group(kinds, texts) if self.bucket else NO_GROUP
        return Region(self.shape, group, empty=not boxes, terms=encode_terms(boxes))

    def _of_ranges(self, ranges: Ranges, kinds: Sequence[LiteralKind], texts: Sequence[str]) -> Region:
        """Return the region where every column has one interval of codes: the same, without a set for each."""
        columns, empty = list[tuple[int, int, int]](), False
        for place, sets in ranges:
            low, high = INT64_MIN, INT64_MAX
            for one in sets:
                least, greatest = one.interval(kinds, texts)
                low, high = max(low, least), min(high, greatest)
            empty |= low > high
            columns.append((place, low, high))
        return Region(self.shape, NO_GROUP, empty=empty, terms=_NOTHING if empty else box_of_intervals(sorted(columns)))

    def _group(self, kinds: Sequence[LiteralKind], texts: Sequence[str]) -> bytes:
        points = [tests.point(kinds, texts) for tests in self.bucket]
        values = tuple([point for point in points if point is not None])
        return NO_GROUP if len(values) < len(points) else group_key(values)


def make_filter_plan(scope: Scope, question: Question, text: StatementText) -> FilterPlan:
    """Resolve the names of a question for rows, or for totals over them.

    Raises SubscriptionError: `unknown_column`, `unsupported`, `unsupported_type`, `type_mismatch`.
    """
    relation = scope.relation
    shown = shown_columns(scope, question, text)
    columns = tuple([c.type for c in shown]) if shown else measures(relation, question.items, text)
    conditions = list(conditions_of(question.condition))
    found = {id(c): scope.column(c.column) for c in conditions}
    for condition in conditions:
        check_operator(condition, found[id(condition)], text)
        _check_texts(condition, found[id(condition)], text)
    tree = None if question.condition is None else with_ends(question.condition)
    leaves = {id(leaf): tested_column(scope, leaf) for leaf in conditions_of(tree)}
    compared = {column.name for column in leaves.values()}
    tested = tuple([column.name for column in relation.columns if column.name in compared])
    place = {name: i for i, name in enumerate(tested)}

    def placed(condition: Condition) -> tuple[int, AnySet]:
        column = leaves[id(condition)]
        operands = tuple([(i, question.operands[i].negative) for i in condition.operands])
        said = condition.column.said
        if column.is_end:
            of = relation.column(column.of).type
            return place[column.name], EndSet(said, of, condition.operator, column.role, operands)
        return place[column.name], ConditionSet.of(said, column.type, condition.operator, operands)

    names = tuple([column.name for column in shown])
    shape = FilterShape(
        relation.name, names, outputs_of(question.items), tested, relation.bucket_by, keys_in(relation, names)
    )
    bucket = _bucket(relation, question, text)
    return FilterPlan(shape, columns, bucket, BoxForm.of(tree, placed))


def tested_column(scope: Scope, condition: Condition) -> Column:
    """Return the column that a condition compares: for one of an end of a range, that end."""
    column = scope.column(condition.column)
    return scope.relation.derived(column.name, condition.end) if condition.end else column


def shown_columns(scope: Scope, question: Question, text: StatementText) -> tuple[Column, ...]:
    """Return the columns of a SELECT list.

    Raises SubscriptionError: `unknown_column`, `unsupported`.
    """
    shown: list[Column] = []
    for name in question.shown:
        shown += scope.columns(name) if isinstance(name, Star) else (_shown(scope, name, text),)
    if len(shown) > MAX_SHOWN:
        what = f"a SELECT list of {len(shown):,} columns, where at most {MAX_SHOWN:,} are taken,"
        raise unsupported(text, what, text.keyword(("SELECT",)))
    return tuple(shown)


def _shown(scope: Scope, name: Name, text: StatementText) -> Column:
    try:
        return scope.column(name)
    except SqlError as error:
        raise explained_name(text, error) from None


def keys_in(relation: Relation, shown: Sequence[str]) -> tuple[int, ...]:
    """Return where the columns of the primary key stand in a SELECT list; () unless all of them do."""
    if not all(name in shown for name in relation.key):
        return ()
    return tuple([shown.index(name) for name in relation.key])


def _check_texts(condition: Condition, column: Column, text: StatementText) -> None:
    function = _OF_TEXTS.get(condition.operator)
    if function is not None and column.type.kind is not Kind.VARCHAR:
        what = f"`{condition.column.said}` is {column.type}, and {function} takes texts"
        hint = "Compare it by =, <>, <, <=, >, >=, BETWEEN or IN."
        raise text.refusal("type_mismatch", what, condition.column.span, hint)


def _ranges(columns: dict[int, list[AnySet]] | None) -> Ranges | None:
    """Return the conditions of columns as ranges, None where some are none or they are too many."""
    if columns is None or len(columns) > MAX_COLUMNS or not all(one.ranged for its in columns.values() for one in its):
        return None
    return tuple([(place, tuple(its)) for place, its in columns.items()])


def _bucket(relation: Relation, question: Question, text: StatementText) -> tuple[ColumnTests, ...]:
    """Return the comparisons by `=` that say which bucket; () where there are no buckets. Refuse where some lack."""
    if not relation.bucket_by:
        return ()
    by_column: dict[str, list[tuple[str, int, bool]]] = {}
    for condition in _beside(question.condition):
        if condition.operator == "=" and condition.column.text in relation.bucket_by:
            (i,) = condition.operands
            by_column.setdefault(condition.column.text, []).append(("=", i, question.operands[i].negative))
    check_buckets(relation, question.table, set(by_column), text)
    return tuple([ColumnTests.of(relation.column(name), by_column[name]) for name in relation.bucket_by])


def _beside(tree: Tree | None) -> Iterator[Condition]:
    """Yield the conditions that every row has to meet."""
    if isinstance(tree, Condition):
        yield tree
    elif isinstance(tree, And):
        for side in tree.sides:
            yield from _beside(side)
