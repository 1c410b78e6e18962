"""A subscription as written: which aggregates of which columns of which table, under which comparisons.

Only syntax: nothing here knows the catalog. The tree is read by allowing, node by node, what is known; whatever
else it holds is refused by `catalog.query.unsupported`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from catalog.query.refusal import explained
from catalog.query.unsupported import (
    ROW_CLAUSES,
    refuse_alias,
    refuse_argument,
    refuse_columns,
    refuse_constants,
    refuse_extras,
    refuse_parameter,
    refuse_predicate,
    refuse_select_item,
    refuse_side,
    refuse_statement,
    unsupported,
)
from catalog.sql.errors import SqlError
from catalog.sql.names import folded
from catalog.sql.statement_text import Span, StatementText
from catalog.types.literal import LiteralKind, is_number

_CLAUSES = ("expressions", "from_", "where")
_AGGREGATES: dict[type[exp.Expr], str] = {
    exp.Min: "min",
    exp.Max: "max",
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
}
MAX_OUTPUTS = 32
"""Longest SELECT list."""
_OPERATORS: dict[type[exp.Expr], str] = {exp.EQ: "=", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}
_MIRRORED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_TYPED = {exp.DType.DATE: LiteralKind.DATE, exp.DType.TIMESTAMP: LiteralKind.TIMESTAMP}


@dataclass(frozen=True, slots=True)
class Name:
    """A name of a table or column, folded to lower case unless it was quoted."""

    text: str
    span: Span | None


@dataclass(frozen=True, slots=True)
class Operand:
    """The constant of a comparison. `kind` is None for a parameter `?`; a string's `text` is without quotes."""

    kind: LiteralKind | None
    text: str
    negative: bool
    span: Span | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """`column operator operand`; BETWEEN is two of them."""

    column: Name
    operator: str
    operand: Operand


@dataclass(frozen=True, slots=True)
class Item:
    """One item of the SELECT list: `function` is one of `shape.FUNCTIONS`; `column` None is COUNT(*)."""

    function: str
    column: Name | None


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: the `items` of the rows of `table` that meet all `comparisons`.

    The comparisons stand in the order of the text.
    """

    items: tuple[Item, ...]
    table: Name
    comparisons: tuple[Comparison, ...]


def _narrowed(star: exp.Star) -> bool:
    """Whether something is said of the star, such as EXCEPT."""
    return any(value for value in star.args.values())


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
    return _Reader(text, parameters).question(statements[0].unnest())


class _Reader:
    """Reads one tree. The functions of the SELECT list and the alias become known on the way."""

    def __init__(self, text: StatementText, parameters: bool) -> None:
        self._text = text
        self._parameters = parameters
        self._functions: set[str] = set()
        self._table = self._alias = Name("", None)

    def question(self, tree: exp.Expr) -> Question:
        if not isinstance(tree, exp.Select):
            raise refuse_statement(self._text, tree)
        known = (*_CLAUSES, "distinct")
        refuse_extras(self._text, tree, (*known, *ROW_CLAUSES))
        read = self._distinct(tree) if tree.args.get("distinct") is not None else self._aggregates(tree)
        refuse_extras(self._text, tree, known)
        self._read_table(tree)
        items = tuple([Item(function, None if node is None else self._column(node)) for function, node in read])
        where = tree.args.get("where")
        comparisons = tuple(self._comparisons(where.this)) if where is not None else ()
        return Question(items, self._table, comparisons)

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

    def _read_table(self, tree: exp.Select) -> None:
        source = tree.args.get("from_")
        if source is None:
            what = "a SELECT without FROM"
            raise unsupported(self._text, what, self._text.keyword(("SELECT",)), "Say which table: FROM table.")
        table = source.this
        if not isinstance(table, exp.Table):
            what = "a subquery in FROM" if isinstance(table, exp.Subquery) else "anything but a table in FROM"
            raise unsupported(self._text, what, table if self._text.span(table) else self._text.keyword(("FROM",)))
        if table.args.get("db") is not None:
            raise unsupported(self._text, "a schema before the table's name", table, "Write the table's name alone.")
        refuse_extras(self._text, table, ("this", "alias"))
        if not isinstance(table.this, exp.Identifier):
            raise unsupported(self._text, "a function in FROM", table, "Write the table's name alone.")
        self._table = self._alias = self._name(table.this)
        alias = table.args.get("alias")
        if alias is not None:
            refuse_extras(self._text, alias, ("this",))
            self._alias = self._name(alias.this)
            refuse_alias(self._text, alias.this)

    def _comparisons(self, condition: exp.Expr) -> Iterator[Comparison]:
        pending = [condition]
        while pending:
            node = pending.pop().unnest()
            if isinstance(node, exp.And):
                pending += [node.expression, node.this]
            elif isinstance(node, exp.Between):
                yield from self._between(node)
            elif type(node) in _OPERATORS:
                yield self._comparison(node)
            else:
                raise refuse_predicate(self._text, node, self._functions)

    def _comparison(self, node: exp.Expr) -> Comparison:
        left, right, operator = node.this.unnest(), node.expression.unnest(), _OPERATORS[type(node)]
        if isinstance(left, exp.Column) and isinstance(right, exp.Column):
            raise refuse_columns(self._text, node)
        if isinstance(right, exp.Column):
            left, right, operator = right, left, _MIRRORED[operator]
        if isinstance(left, exp.Column):
            return Comparison(self._column(left), operator, self._operand(right, node))
        if self._is_constant(left) and self._is_constant(right):
            raise refuse_constants(self._text, node, left)
        raise refuse_side(self._text, right if self._is_constant(left) else left, node)

    def _between(self, node: exp.Between) -> Iterator[Comparison]:
        refuse_extras(self._text, node, ("this", "low", "high"))
        column, low, high = node.this.unnest(), node.args["low"].unnest(), node.args["high"].unnest()
        if self._is_constant(column) and (isinstance(low, exp.Column) or isinstance(high, exp.Column)):
            hint = "It is a range over each of them, and only one column may have a range."
            raise unsupported(self._text, "BETWEEN with a column as a bound", node, hint)
        if not isinstance(column, exp.Column):
            raise refuse_side(self._text, column, node)
        name = self._column(column)
        yield Comparison(name, ">=", self._operand(low, node))
        yield Comparison(name, "<=", self._operand(high, node))

    def _is_constant(self, node: exp.Expr) -> bool:
        return isinstance(node, exp.Literal | exp.Boolean | exp.Null | exp.Neg | exp.Cast) and not node.find(exp.Column)

    def _operand(self, node: exp.Expr, comparison: exp.Expr) -> Operand:
        negative, inner = False, node
        while isinstance(inner, exp.Neg):
            negative, inner = not negative, inner.this.unnest()
        signed = inner is not node
        if isinstance(inner, exp.Literal) and not inner.is_string:
            return self._number(inner, negative, comparison)
        if isinstance(inner, exp.Placeholder) and inner.this is None and self._parameters:
            return Operand(None, "?", negative, self._text.span(inner))
        span = self._text.span(node) or self._text.span(comparison)
        if signed:
            raise refuse_side(self._text, node, comparison)
        if isinstance(inner, exp.Literal):
            return Operand(LiteralKind.STRING, inner.this, False, span)
        if isinstance(inner, exp.Boolean):
            return Operand(LiteralKind.BOOLEAN, "TRUE" if inner.this else "FALSE", False, span)
        if isinstance(inner, exp.Null):
            return Operand(LiteralKind.NULL, "NULL", False, span)
        typed = self._typed(inner)
        if typed is None:
            raise refuse_side(self._text, node, comparison)
        return Operand(typed, inner.this.this, False, span)

    def _number(self, node: exp.Literal, negative: bool, comparison: exp.Expr) -> Operand:
        if not is_number(node.this):
            raise self._text.refusal("syntax", f"`{node.this}` is no number", node)
        return Operand(LiteralKind.NUMBER, node.this, negative, self._text.span(node) or self._text.span(comparison))

    def _typed(self, node: exp.Expr) -> LiteralKind | None:
        """Return the kind of DATE '...' or TIMESTAMP '...', or None if `node` is neither."""
        if type(node) is not exp.Cast or not (isinstance(node.this, exp.Literal) and node.this.is_string):
            return None
        if node.to.expressions or any(v for k, v in node.args.items() if k not in ("this", "to", "_type")):
            return None
        return _TYPED.get(node.to.this)

    def _column(self, node: exp.Column) -> Name:
        if node.args.get("db") is not None or not isinstance(node.this, exp.Identifier):
            raise unsupported(self._text, "a column's name in more than two parts", node, "Write the column alone.")
        if node.name.startswith("$"):
            raise refuse_parameter(self._text, node)
        qualifier = node.args.get("table")
        if qualifier is not None and self._name(qualifier).text != self._alias.text:
            what = f"`{qualifier.name}` is no table of this subscription"
            hint = f"Its table is called `{self._alias.text}` here."
            raise self._text.refusal("unknown_column", what, qualifier, hint)
        return self._name(node.this)

    def _name(self, node: exp.Expr) -> Name:
        span = self._text.span(node)
        if span is not None and self._text.sql[span[0]] == "'":
            hint = "A name is written plainly, or in double quotes."
            raise unsupported(self._text, "a string in the place of a name", node, hint)
        if not isinstance(node, exp.Identifier):
            place = self._text.keyword(("FROM",)) if span is None else node
            raise unsupported(
                self._text, f"`{node.sql(comments=False)}` in the place of a name", place, "Write a name."
            )
        return Name(folded(node), span)
