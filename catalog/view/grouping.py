"""What a grouped SELECT is made of: the expressions of its GROUP BY, and aggregates of the rows of each group.

    SELECT dest, SUM(fare) - MIN(fare) AS rest FROM seat GROUP BY dest HAVING COUNT(*) > 2

    groups        dest
    aggregates    SUM(fare)  MIN(fare)  COUNT(*)         each once, wherever it stands; named by its canonical text

All else of a grouped SELECT is computed of the columns that these make.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from catalog.schema.view import ColumnOf, Constant
from catalog.types.column_type import ColumnType, Kind
from catalog.view.bounds import COUNTED, Bound, TooWide, type_of
from catalog.view.expressions import ExpressionReader, column_of
from catalog.view.refusals import Refusals
from catalog.view.typed import Typed

_KINDS: dict[type[exp.Expr], str] = {
    exp.Count: "COUNT", exp.Sum: "SUM", exp.Avg: "AVG", exp.Min: "MIN", exp.Max: "MAX", exp.ArgMax: "LATEST"
}  # fmt: skip
_FLOATS = (Kind.REAL, Kind.DOUBLE)
_DOUBLE = ColumnType(Kind.DOUBLE)


@dataclass(frozen=True, slots=True)
class AggregateRead:
    """One aggregate: of `argument`, None for COUNT(*); `by` orders the rows of LATEST."""

    kind: str
    argument: Typed | None
    by: Typed | None
    typed: Typed


def aggregate_kind(node: exp.Expr) -> str | None:
    """Return which aggregate a node is, None if it is none."""
    if isinstance(node, exp.Anonymous) and node.name.upper() == "LATEST":
        return "LATEST"
    return _KINDS.get(type(node))


def has_aggregate(node: exp.Expr | None) -> bool:
    """Whether an aggregate stands in an expression, outside of OVER."""
    if node is None:
        return False
    return any(aggregate_kind(each) is not None and not _is_windowed(each) for each in node.walk())


def _is_windowed(node: exp.Expr) -> bool:
    return isinstance(node.parent, exp.Window)


@dataclass(slots=True)
class Grouping:
    """Finds groups and aggregates in a grouped SELECT; `rows` reads expressions of the rows that are grouped.

    parts: of groups that are ranges, by (text of the group, role); they are grouped by, too, and nobody wrote them.
    """

    refuse: Refusals
    rows: ExpressionReader
    groups: list[Typed]
    parts: dict[tuple[str, str], Typed] = field(default_factory=dict)
    aggregates: dict[str, AggregateRead] = field(default_factory=dict)

    def find(self, node: exp.Expr) -> Typed | None:
        """Return the column that a group or an aggregate is; None where a node is to be read part by part."""
        kind = aggregate_kind(node)
        if kind is not None:
            return self._aggregate(kind, node)
        if has_aggregate(node) or isinstance(node, exp.Window):
            return None
        plain = self.rows.read(node)
        for group in self.groups:
            if group.expression == plain.expression:
                return self.column(group, node)
        if isinstance(node, exp.Column):
            raise self.refuse.ungrouped(node, plain.sql)
        return None

    def column(self, group: Typed, node: exp.Expr) -> Typed:
        """Return the column of what GROUP BY makes that has the values of a group."""
        return column_of(group.sql, group.type, group.sql, group.nullable, group.bound, node)

    def part(self, of: Typed, role: str) -> ColumnOf:
        """Return the column that is a part of a range that is grouped by."""
        part = self.parts[of.sql, role]
        return ColumnOf(part.sql, part.type)

    def _aggregate(self, kind: str, node: exp.Expr) -> Typed:
        return self.add(kind, *self._arguments(kind, node), node)

    def add(self, kind: str, argument: Typed | None, by: Typed | None, node: exp.Expr) -> Typed:
        """Return the column of an aggregate, which is made once. Raises as reading its text does."""
        inner = "*" if argument is None else argument.sql if by is None else f"{argument.sql}, {by.sql}"
        sql = f"{kind}({inner})"
        found = self.aggregates.get(sql)
        if found is None:
            type_, bound = self._type(kind, argument, node)
            nullable = kind == "LATEST" or not self.groups or (argument is not None and argument.nullable)
            typed = column_of(sql, type_, sql, nullable and kind != "COUNT", bound, node)
            found = self.aggregates[sql] = AggregateRead(kind, argument, by, typed)
        return found.typed

    def _arguments(self, kind: str, node: exp.Expr) -> tuple[Typed | None, Typed | None]:
        if kind == "LATEST":
            return self._latest(node)
        self.refuse.extras(node, ("this", "big_int"))
        inner = None if node.this is None else node.this.unnest()
        if isinstance(inner, exp.Star) and kind == "COUNT" and not any(inner.args.values()):
            return None, None
        if inner is None or isinstance(inner, exp.Star):
            what = f"{kind} of {'nothing' if inner is None else '*'}"
            raise self.refuse.unsupported(what, node, f"Write {kind}(column)." if inner else None)
        return self._argument(inner), None

    def _latest(self, node: exp.Expr) -> tuple[Typed, Typed]:
        given = node.expressions if isinstance(node, exp.Anonymous) else [node.this, node.expression]
        if node.args.get("count") is not None or len(given) != 2 or None in given:
            hint = "Write LATEST(x BY t): x of the row with the greatest t."
            raise self.refuse.unsupported(f"LATEST of {len(given)} expressions", node, hint)
        by = self._argument(given[1])
        self.refuse.range(by, "LATEST by")
        return self._argument(given[0]), by

    def _argument(self, node: exp.Expr) -> Typed:
        if has_aggregate(node):
            hint = "Declare a view with the inner one, and aggregate that view."
            raise self.refuse.unsupported("an aggregate inside an aggregate", node, hint)
        argument = self.rows.read(node)
        if isinstance(argument.expression, Constant):
            raise self.refuse.unsupported("an aggregate of a constant", node, "Count rows by COUNT(*).")
        return argument

    def _type(self, kind: str, argument: Typed | None, node: exp.Expr) -> tuple[ColumnType, Bound | None]:
        """Return the type and bound of an aggregate. Raises the text's error: `unsupported_type`, `unsupported`."""
        if kind == "COUNT":
            return type_of(COUNTED), COUNTED
        assert argument is not None, "only COUNT takes *"
        if kind in ("MIN", "MAX", "LATEST"):
            self.refuse.range(argument, f"{kind} of")
            return argument.type, argument.bound
        if argument.bound is None and argument.type.kind not in _FLOATS:
            what = f"`{argument.sql[:60]}` is {argument.type}, and {kind} of it is not supported"
            hint = "SUM and AVG take numbers; COUNT, MIN, MAX and LATEST take every type."
            raise self.refuse.refusal("unsupported_type", what, argument.node, hint)
        if kind == "AVG" or argument.bound is None:
            return _DOUBLE, None
        summed = argument.bound.summed()
        try:
            return type_of(summed), summed
        except TooWide:
            raise self.refuse.too_wide(node, f"`SUM({argument.sql[:60]})`") from None
