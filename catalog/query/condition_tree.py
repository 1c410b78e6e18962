"""The WHERE of a statement as a tree: conditions of one column each, under AND and OR.

    NOT (volume > 5 AND symbol IN ('a', 'b'))        volume <= 5  OR  symbol NOT IN ('a', 'b')

NOT is pushed down to the conditions, each of which has its opposite. In SQL's logic of three values this is exact: a
condition and its opposite are unknown for the same rows (only IS NULL never is), and NOT swaps AND with OR.

Only syntax: the tree is read by allowing, node by node, what is known; `catalog/query/unsupported.py` refuses the rest.
The constants stand beside the tree, numbered in the order of the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from catalog.query.operand import Operand, OperandReader, is_constant
from catalog.query.statement_names import Name, StatementNames
from catalog.query.unsupported import (
    refuse_columns,
    refuse_constants,
    refuse_extras,
    refuse_list,
    refuse_pattern,
    refuse_predicate,
    refuse_side,
    unsupported,
)
from catalog.query.unsupported_joins import refuse_compared
from catalog.sql.mistakes import Words
from catalog.sql.range_operators import RANGE_OPERATORS, is_isempty
from catalog.sql.statement_text import StatementText
from catalog.types.literal import LiteralKind
from catalog.types.range_operand import WITHIN

MAX_DEPTH = 60
"""Deepest nesting of AND, OR and NOT in each other."""
COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="
}  # fmt: skip
_MIRRORED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_OPPOSITES = {
    "=": "<>", "<": ">=", ">": "<=", "in": "not in", "like": "not like", "prefix": "not prefix", "&&": "not &&",
    "@>": "not @>", "<@": "not <@", "empty": "not empty",
}  # fmt: skip
OPPOSITES = {**_OPPOSITES, **{other: one for one, other in _OPPOSITES.items()}, "null": "not null", "not null": "null"}
"""Each operator of a condition, and that of its opposite."""
_FOREIGN = (
    (("!",), "`!` before a condition", "NOT"),
    (("IS", "UNKNOWN"), "IS UNKNOWN", "IS NULL"),
    (("IS", "NOT", "UNKNOWN"), "IS NOT UNKNOWN", "IS NOT NULL"),
    (("STARTSWITH", "("), "the function STARTSWITH", "starts_with(column, 'abc')"),
)
"""What the parser takes and other databases do not: its words, what it is called, and what to write."""
OF_RANGES = frozenset([f"{no}{one}" for one in ("&&", "@>", "<@", "empty") for no in ("", "not ")]) | {WITHIN}
"""Operators of range columns alone. `empty` is the function isempty()."""
PLAIN = frozenset({"=", "<", "<=", ">", ">="})
"""Operators of which one leaves a point or a range."""


@dataclass(frozen=True, slots=True)
class Condition:
    """`column operator operands`, the last by their numbers; `operator` is one of `OPPOSITES`.

    LIKE has a pattern, and may have an escape character. BETWEEN is two conditions, and so are operators of ranges once
    the column is known: then `end` says of which end (`catalog/query/range_ends.py`).
    `node` is what was written, for refusals.
    """

    column: Name
    operator: str
    operands: tuple[int, ...]
    node: exp.Expr = field(compare=False, repr=False)
    end: str = ""


@dataclass(frozen=True, slots=True)
class And:
    """All of two or more."""

    sides: tuple[Tree, ...]
    node: exp.Expr = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Or:
    """Any of two or more."""

    sides: tuple[Tree, ...]
    node: exp.Expr = field(compare=False, repr=False)


Tree = Condition | And | Or


def conditions_of(tree: Tree | None) -> Iterator[Condition]:
    """Yield the conditions of a tree in the order of the text."""
    pending = [] if tree is None else [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, Condition):
            yield node
        else:
            pending += reversed(node.sides)


class ConditionReader:
    """Reads the WHERE of one statement. `operands` are the constants that were read so far."""

    def __init__(self, text: StatementText, names: StatementNames, constants: OperandReader) -> None:
        self.operands: list[Operand] = []
        self._text = text
        self._names = names
        self._constants = constants

    def read(self, node: exp.Expr) -> Tree:
        """Return the tree of a condition. Raises the text's error: `unsupported`, `unknown_column`, `syntax`."""
        self._check_foreign()
        return self._tree(node, False, 0)

    def read_all(self, nodes: Sequence[exp.Expr], written: exp.Expr) -> Tree | None:
        """Return the tree of conditions that are all to be met, None where there are none; they stand in `written`."""
        self._check_foreign()
        sides = [self._tree(node, False, 1) for node in nodes]
        return And(tuple(sides), written) if len(sides) > 1 else sides[0] if sides else None

    def _check_foreign(self) -> None:
        words = Words(self._text.sql, self._text.tokens)
        for written, what, instead in _FOREIGN:
            for at in words.find(*written):
                place = words.place(at, at + len(written) - 1)
                raise unsupported(self._text, what, place, f"Write {instead}.")

    def _tree(self, node: exp.Expr, negated: bool, depth: int) -> Tree:
        if depth > MAX_DEPTH:
            hint = "Write AND and OR beside each other, not within each other."
            raise unsupported(self._text, f"a condition nested more than {MAX_DEPTH} levels deep", node, hint)
        written = node = node.unnest()
        while isinstance(node, exp.Not):
            negated, node = not negated, node.this.unnest()
        if isinstance(node, exp.And | exp.Or):
            sides: list[Tree] = []
            for side in _sides(node):
                tree = self._tree(side, negated, depth + 1)
                sides.append(tree)
            return (And if isinstance(node, exp.And) is not negated else Or)(tuple(sides), written)
        return self._leaf(node, negated, written)

    def _leaf(self, node: exp.Expr, negated: bool, written: exp.Expr) -> Tree:
        match node:
            case exp.Between():
                return self._between(node, negated, written)
            case exp.In():
                return self._made(self._column(node.this, node), "in", self._list(node), negated, written)
            case exp.Like() | exp.Escape() | exp.StartsWith():
                return self._pattern(node, negated, written)
            case exp.Is() if isinstance(node.expression, exp.Null):
                return self._made(self._column(node.this, node), "null", (), negated, written)
            case exp.Column():
                truth = Operand(LiteralKind.BOOLEAN, "FALSE" if negated else "TRUE", False, self._text.span(node))
                return Condition(self._names.column(node), "=", (self._number(truth),), written)
        if type(node) in COMPARISONS:
            return self._comparison(node, negated, written)
        if type(node) in RANGE_OPERATORS:
            return self._of_ranges(node, negated, written)
        if is_isempty(node):
            return self._made(self._column(node.expressions[0], node), "empty", (), negated, written)
        raise refuse_predicate(self._text, node)

    def _of_ranges(self, node: exp.Expr, negated: bool, written: exp.Expr) -> Condition:
        """Read an operator of ranges, of a column and a constant on either side."""
        left, right, (operator, mirrored) = node.this.unnest(), node.expression.unnest(), RANGE_OPERATORS[type(node)]
        if isinstance(left, exp.Column) and isinstance(right, exp.Column):
            raise (refuse_compared if self._names.joined else refuse_columns)(self._text, node)
        if isinstance(right, exp.Column):
            left, right, operator = right, left, mirrored
        if not isinstance(left, exp.Column):
            raise refuse_side(self._text, right if is_constant(left) else left, node)
        return self._made(self._names.column(left), operator, (self._constant(right, node),), negated, written)

    def _comparison(self, node: exp.Expr, negated: bool, written: exp.Expr) -> Condition:
        left, right, operator = node.this.unnest(), node.expression.unnest(), COMPARISONS[type(node)]
        if isinstance(left, exp.Column) and isinstance(right, exp.Column):
            raise (refuse_compared if self._names.joined else refuse_columns)(self._text, node)
        if isinstance(right, exp.Column):
            left, right, operator = right, left, _MIRRORED[operator]
        if isinstance(left, exp.Column):
            return self._made(self._names.column(left), operator, (self._constant(right, node),), negated, written)
        if is_constant(left) and is_constant(right):
            raise refuse_constants(self._text, node, left)
        raise refuse_side(self._text, right if is_constant(left) else left, node)

    def _between(self, node: exp.Between, negated: bool, written: exp.Expr) -> Tree:
        refuse_extras(self._text, node, ("this", "low", "high"))
        column, low, high = node.this.unnest(), node.args["low"].unnest(), node.args["high"].unnest()
        if is_constant(column) and (isinstance(low, exp.Column) or isinstance(high, exp.Column)):
            hint = "Compare each column with the constant by <= and >=."
            raise unsupported(self._text, "BETWEEN with a column as a bound", node, hint)
        name = self._column(column, node)
        first = self._made(name, ">=", (self._constant(low, node),), negated, written)
        last = self._made(name, "<=", (self._constant(high, node),), negated, written)
        return (Or if negated else And)((first, last), written)

    def _list(self, node: exp.In) -> tuple[int, ...]:
        refuse_extras(self._text, node, ("this", "expressions", "query", "unnest", "field"))
        if any(node.args.get(name) is not None for name in ("query", "unnest", "field")) or not node.expressions:
            raise refuse_list(self._text, node)
        return tuple([self._constant(each.unnest(), node) for each in node.expressions])

    def _pattern(self, node: exp.Expr, negated: bool, written: exp.Expr) -> Condition:
        like = node.this if isinstance(node, exp.Escape) else node
        if isinstance(node, exp.StartsWith):
            refuse_extras(self._text, node, ("this", "expression"))
            column = self._column(node.this, node)
            return self._made(column, "prefix", (self._constant(node.expression.unnest(), node),), negated, written)
        if not isinstance(like, exp.Like):
            raise refuse_predicate(self._text, like)
        refuse_extras(self._text, like, ("this", "expression", "negate"))
        if isinstance(like.expression, exp.Any | exp.All):
            raise refuse_pattern(self._text, like)
        column = self._column(like.this, like)
        operands = [self._constant(like.expression.unnest(), like)]
        if isinstance(node, exp.Escape):
            operands.append(self._constant(node.expression.unnest(), node))
        return self._made(column, "like", tuple(operands), negated is not bool(like.args.get("negate")), written)

    def _made(
        self, column: Name, operator: str, operands: tuple[int, ...], negated: bool, written: exp.Expr
    ) -> Condition:
        return Condition(column, OPPOSITES[operator] if negated else operator, operands, written)

    def _column(self, node: exp.Expr, condition: exp.Expr) -> Name:
        column = node.unnest()
        if not isinstance(column, exp.Column):
            raise refuse_side(self._text, column, condition)
        return self._names.column(column)

    def _constant(self, node: exp.Expr, condition: exp.Expr) -> int:
        if isinstance(node, exp.Column) and isinstance(condition, exp.In):
            raise refuse_side(self._text, node, condition)
        return self._number(self._constants.read(node, condition))

    def _number(self, operand: Operand) -> int:
        self.operands.append(operand)
        return len(self.operands) - 1


def conjuncts_of(node: exp.Expr) -> list[exp.Expr]:
    """Return what stands between the ANDs of a condition, in the order of the text: itself where it is no AND."""
    whole = node.unnest()
    return _sides(whole) if isinstance(whole, exp.And) else [whole]


def _sides(node: exp.Expr) -> list[exp.Expr]:
    """Return what stands between the ANDs, or between the ORs, of a chain, in the order of the text."""
    kind, pending, sides = type(node), [node], []
    while pending:
        one = pending.pop().unnest()
        if type(one) is kind:
            pending += [one.expression, one.this]
        else:
            sides.append(one)
    return sides
