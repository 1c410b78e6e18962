"""A subscription as written: which columns or aggregates of which tables, under which condition, in which order.

Only syntax: nothing here knows the catalog. The tree is read by allowing, node by node, what is known; whatever
else it holds is refused by `catalog.query.unsupported`. Its WHERE is read by `catalog.query.condition_tree`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sqlglot import exp

from catalog.query.condition_tree import PLAIN, And, ConditionReader, Or, Tree, conditions_of, conjuncts_of
from catalog.query.from_clause import FromReader, KeyEquality, Source
from catalog.query.operand import Operand, OperandReader
from catalog.query.output import SUMS
from catalog.query.refusal import explained
from catalog.query.statement_names import Name, Star, StatementNames
from catalog.query.unsupported import (
    ROW_CLAUSES,
    refuse_argument,
    refuse_beyond_range,
    refuse_extras,
    refuse_order,
    refuse_select_item,
    refuse_statement,
    unsupported,
)
from catalog.query.unsupported_joins import refuse_joined, refuse_many
from catalog.schema.join import MOST_TABLES
from catalog.sql.errors import SqlError
from catalog.sql.statement_text import StatementText

_CLAUSES = ("expressions", "from_", "joins", "where")
_NOT_OF_JOINS = {"order": "ORDER BY", "limit": "LIMIT", "offset": "OFFSET", "attributes": "ATTRIBUTES"}
_AGGREGATES: dict[type[exp.Expr], str] = {
    exp.Min: "min",
    exp.Max: "max",
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
}
MAX_OUTPUTS = 32
"""Longest SELECT list of aggregates."""


@dataclass(frozen=True, slots=True)
class Item:
    """One item of the SELECT list: `function` is one of `output.FUNCTIONS`; `column` None is COUNT(*)."""

    function: str
    column: Name | None


@dataclass(frozen=True, slots=True)
class Ordered:
    """One column of ORDER BY."""

    column: Name
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class Attribute:
    """What the subscriber says of itself: the name of an attribute, and the number of its constant."""

    name: Name
    operand: int
    node: exp.Expr = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of the rows of `table` that meet `condition`, which is None where there is no WHERE.

    Either `items`, aggregates of them, or `shown`, their columns. With `limit`, only the first in `order`. operands:
    the constants of the condition, in the order of the text.
    attributes: what the subscriber is, their constants behind those of the condition.
    Of a join `joined` has all tables, `table` being the first, and its rows are those of which `equal` holds.
    """

    items: tuple[Item, ...]
    shown: tuple[Name | Star, ...]
    table: Name
    condition: Tree | None
    operands: tuple[Operand, ...]
    order: tuple[Ordered, ...] = ()
    limit: Operand | None = None
    joined: tuple[Source, ...] = ()
    equal: tuple[KeyEquality, ...] = ()
    attributes: tuple[Attribute, ...] = ()

    @property
    def constants(self) -> tuple[Operand, ...]:
        """All constants, in the order of the text: the operands, and the limit."""
        return self.operands if self.limit is None else (*self.operands, self.limit)

    @property
    def compared(self) -> tuple[Name, ...]:
        """The column that each operand is compared with."""
        names: dict[int, Name] = {i: c.column for c in conditions_of(self.condition) for i in c.operands}
        return tuple([names[i] for i in range(len(self.operands))])

    @property
    def is_plain(self) -> bool:
        """Whether the condition is comparisons by `=` and ranges alone, all under AND."""
        return beyond_range(self.condition) is None


def beyond_range(tree: Tree | None) -> Tree | None:
    """Return the first part of a condition that is neither a comparison by `=` nor a range, nor an AND of these."""
    pending = [] if tree is None else [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, And):
            pending += reversed(node.sides)
        elif isinstance(node, Or) or node.operator not in PLAIN:
            return node
    return None


def _narrowed(star: exp.Star) -> bool:
    """Whether something is said of the star, such as EXCEPT."""
    return any(value for value in star.args.values())


def _is_column(item: exp.Expr) -> bool:
    return isinstance(item.unalias().unnest(), exp.Column | exp.Star)


def read_question(text: StatementText, parameters: bool = False) -> Question:
    """Read the one statement of `text`. With `parameters`, constants may be `?`.

    Raises SubscriptionError: `syntax`, `unsupported`, `malformed`. Cost: that of the parser.
    """
    try:
        return _read(text, parameters)
    except SqlError as error:
        raise explained(text, error) from None


def _read(text: StatementText, parameters: bool) -> Question:
    statements = text.statements
    if not statements:
        raise text.refusal("syntax", "the text holds no statement", hint="Write SELECT MIN(column) FROM table.")
    if len(statements) > 1:
        raise unsupported(text, "more than one statement", statements[1], "Register each as a subscription of its own.")
    tree = statements[0].unnest()
    if not isinstance(tree, exp.Select):
        raise refuse_statement(text, tree)
    return _Reader(text, parameters, bool(tree.args.get("joins"))).question(tree)


class _Reader:
    """Reads one tree. The functions of the SELECT list and what tables are called become known on the way."""

    def __init__(self, text: StatementText, parameters: bool, joined: bool) -> None:
        self._text = text
        self._functions: set[str] = set()
        self._names = StatementNames(text, joined)
        self._from = FromReader(text, self._names)
        self._constants = OperandReader(text, parameters)
        self._conditions = ConditionReader(text, self._names, self._constants)

    def question(self, tree: exp.Select) -> Question:
        known = (*_CLAUSES, "distinct", "attributes")
        refuse_extras(self._text, tree, (*known, *ROW_CLAUSES))
        return self._of_subscriber(self._question(tree, known), tree)

    def _question(self, tree: exp.Select, known: tuple[str, ...]) -> Question:
        if tree.args.get("distinct") is None and all(map(_is_column, self._items(tree))):
            return self._joined(tree, known) if self._names.joined else self._rows(tree, known)
        if self._names.joined:
            self._from.read(tree, False)
            raise self._no_rows(tree)
        read = self._distinct(tree) if tree.args.get("distinct") is not None else self._aggregates(tree)
        refuse_extras(self._text, tree, known)
        (source,), _ = self._from.read(tree, False)
        items = tuple([Item(function, None if node is None else self._names.column(node)) for function, node in read])
        condition = self._condition(tree)
        if not self._functions <= set(SUMS):
            self._refuse_beyond_range(condition)
        return Question(items, (), source.table, condition, tuple(self._conditions.operands))

    def _joined(self, tree: exp.Select, known: tuple[str, ...]) -> Question:
        """Read a SELECT of columns of several tables."""
        sources, on = self._from.read(tree, True)
        if len(sources) > MOST_TABLES:
            raise refuse_many(self._text, len(sources), sources[MOST_TABLES].table.span)
        for name, clause in _NOT_OF_JOINS.items():
            if tree.args.get(name) is not None:
                raise refuse_joined(self._text, clause)
        refuse_extras(self._text, tree, known)
        shown = tuple([self._shown(item.unalias().unnest()) for item in tree.expressions])
        where, equal = self._equalities(tree)
        condition = self._conditions.read_all(where, tree)
        operands = tuple(self._conditions.operands)
        return Question((), shown, sources[0].table, condition, operands, joined=sources, equal=(*on, *equal))

    def _no_rows(self, tree: exp.Select) -> SqlError:
        """Return the refusal of a SELECT list over a join that has anything but columns."""
        if tree.args.get("distinct") is not None:
            return refuse_joined(self._text, "DISTINCT")
        item = next(item.unalias().unnest() for item in tree.expressions if not _is_column(item))
        aggregate = _AGGREGATES.get(type(item))
        return (
            refuse_select_item(self._text, item) if aggregate is None else refuse_joined(self._text, aggregate.upper())
        )

    def _equalities(self, tree: exp.Select) -> tuple[list[exp.Expr], list[KeyEquality]]:
        """Part the WHERE of a join into conditions and equalities of columns, all of which are to be met."""
        where, conditions, equal = tree.args.get("where"), list[exp.Expr](), list[KeyEquality]()
        for side in [] if where is None else conjuncts_of(where.this):
            equality = self._from.equality(side)
            if equality is None:
                conditions.append(side)
            else:
                equal.append(equality)
        return conditions, equal

    def _rows(self, tree: exp.Select, known: tuple[str, ...]) -> Question:
        """Read a SELECT of columns of one table."""
        refuse_extras(self._text, tree, (*known, "order", "limit"))
        (source,), _ = self._from.read(tree, True)
        shown = tuple([self._shown(item.unalias().unnest()) for item in tree.expressions])
        condition = self._condition(tree)
        order, limit = tree.args.get("order"), tree.args.get("limit")
        if order is None and limit is None:
            return Question((), shown, source.table, condition, tuple(self._conditions.operands))
        if order is None or limit is None:
            raise refuse_order(self._text, order, limit)
        self._refuse_beyond_range(condition)
        ordered = tuple([self._ordered(each) for each in order.expressions])
        refuse_extras(self._text, limit, ("expression",))
        most = self._constants.read(limit.expression.unnest(), limit)
        return Question((), shown, source.table, condition, tuple(self._conditions.operands), ordered, most)

    def _shown(self, item: exp.Expr) -> Name | Star:
        star = item.this if isinstance(item, exp.Column) and isinstance(item.this, exp.Star) else item
        if not isinstance(star, exp.Star):
            assert isinstance(item, exp.Column)
            return self._names.column(item)
        if _narrowed(star):
            raise refuse_select_item(self._text, star)
        if isinstance(item, exp.Column):
            if item.args.get("db") is not None:
                raise unsupported(self._text, "a schema before `*`", item, "Write * alone.")
            called = self._names.table(item.args["table"])
            return Star(called if self._names.joined else "")
        return Star()

    def _ordered(self, node: exp.Expr) -> Ordered:
        refuse_extras(self._text, node, ("this", "desc", "nulls_first"))
        column = node.this.unnest()
        if not isinstance(column, exp.Column) or isinstance(column.this, exp.Star):
            hint = "Name columns of the table."
            raise unsupported(self._text, "ORDER BY of anything but columns", self._text.keyword(("BY",)), hint)
        return Ordered(self._names.column(column), bool(node.args.get("desc")), bool(node.args.get("nulls_first")))

    def _of_subscriber(self, question: Question, tree: exp.Select) -> Question:
        """Return a question with its attributes, whose constants stand behind all others."""
        given, operands = list[Attribute](), [*question.operands]
        for node in tree.args.get("attributes") or ():
            named = isinstance(node, exp.EQ) and isinstance(node.this, exp.Column)
            if not named or node.this.args.get("table") is not None:
                hint = "Write ATTRIBUTES (name = constant, ...)."
                place = node if self._text.span(node) else self._text.keyword(("ATTRIBUTES",))
                raise self._text.refusal("syntax", "this is no attribute with its value", place, hint)
            given.append(Attribute(self._names.name(node.this.this), len(operands), node))
            operands.append(self._constants.read(node.expression.unnest(), node))
        if tree.args.get("attributes") is not None and not given:
            place = self._text.keyword(("ATTRIBUTES",))
            raise self._text.refusal("syntax", "ATTRIBUTES holds nothing", place, "Leave it out, or name some.")
        return replace(question, operands=tuple(operands), attributes=tuple(given)) if given else question

    def _condition(self, tree: exp.Select) -> Tree | None:
        where = tree.args.get("where")
        return None if where is None else self._conditions.read(where.this)

    def _refuse_beyond_range(self, condition: Tree | None) -> None:
        """Refuse what is no range, for those who take no other condition: first rows, and functions of one range."""
        beyond = beyond_range(condition)
        if beyond is not None:
            raise refuse_beyond_range(self._text, beyond.node, self._functions)

    def _distinct(self, tree: exp.Select) -> list[tuple[str, exp.Column | None]]:
        """Return the column of SELECT DISTINCT."""
        if tree.args["distinct"].args.get("on") is not None:
            raise unsupported(self._text, "DISTINCT ON", self._text.keyword(("ON",)), "Write SELECT DISTINCT column.")
        items = self._items(tree)
        if len(items) > 1:
            hint = "Register one subscription for each column."
            raise unsupported(self._text, "DISTINCT of more than one column", items[1], hint)
        item = items[0].unalias().unnest()
        if type(item) in _AGGREGATES:
            hint = "An aggregate is one row anyway: leave DISTINCT out."
            raise unsupported(self._text, "DISTINCT of an aggregate", self._text.keyword(("DISTINCT",)), hint)
        if not isinstance(item, exp.Column) or isinstance(item.this, exp.Star):
            raise refuse_select_item(self._text, item)
        self._functions = {"distinct"}
        return [("distinct", item)]

    def _aggregates(self, tree: exp.Select) -> list[tuple[str, exp.Column | None]]:
        items = self._items(tree)
        if len(items) > MAX_OUTPUTS:
            raise unsupported(self._text, f"a SELECT list of more than {MAX_OUTPUTS} items", items[MAX_OUTPUTS])
        return [self._aggregate_of(item.unalias().unnest()) for item in items]

    def _items(self, tree: exp.Select) -> list[exp.Expr]:
        if not tree.expressions:
            raise self._text.refusal("syntax", "SELECT is followed by nothing", self._text.keyword(("SELECT",)))
        items: list[exp.Expr] = tree.expressions
        return items

    def _aggregate_of(self, item: exp.Expr) -> tuple[str, exp.Column | None]:
        aggregate = _AGGREGATES.get(type(item))
        if aggregate is None:
            raise refuse_select_item(self._text, item)
        refuse_extras(self._text, item, ("this", "expressions", "big_int"))
        column = item.this.unnest() if item.this is not None else None
        if aggregate == "count" and isinstance(column, exp.Distinct) and len(column.expressions) == 1:
            aggregate, column = "count_distinct", column.expressions[0].unnest()
        self._functions.add(aggregate)
        if aggregate == "count" and isinstance(column, exp.Star) and not item.expressions and not _narrowed(column):
            return aggregate, None
        if item.expressions or not isinstance(column, exp.Column) or isinstance(column.this, exp.Star):
            raise refuse_argument(self._text, item, _AGGREGATES[type(item)].upper())
        return aggregate, column
