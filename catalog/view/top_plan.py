"""QUALIFY of a view: the first rows of each group in an order in which no two rows are equal.

    QUALIFY ROW_NUMBER() OVER (PARTITION BY dest ORDER BY fare, flight) <= 3

`<`, `= 1` and the name of the item that is the same ROW_NUMBER() are taken too. The columns of PARTITION BY and ORDER
BY together have the key of the rows: else it would not be said which of two equal rows is the last that is in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from catalog.schema.relation import Relation
from catalog.schema.view import By, ColumnOf
from catalog.sql.names import folded
from catalog.types.column_type import ColumnType, Kind
from catalog.view.bounds import COUNTED
from catalog.view.expressions import ExpressionReader, column_of
from catalog.view.literals import literal_of
from catalog.view.refusals import Refusals
from catalog.view.typed import Typed

MOST_FIRST = 1_000
"""The greatest k."""
RANK = "ROW_NUMBER()"
"""What the column of places is called, until an item names it."""
_FORM = "Write QUALIFY ROW_NUMBER() OVER (PARTITION BY columns ORDER BY columns) <= k."


@dataclass(frozen=True, slots=True)
class Window:
    """ROW_NUMBER() OVER (...): its canonical text, and what it names. `order`: column, DESC, NULLS FIRST."""

    sql: str
    by: tuple[Typed, ...]
    order: tuple[tuple[Typed, bool, bool], ...]
    node: exp.Window


@dataclass(frozen=True, slots=True)
class Top:
    """The first `k` rows of a window."""

    window: Window
    k: int
    refuse: Refusals

    @property
    def sql(self) -> str:
        """The window's text."""
        return self.window.sql

    @property
    def by(self) -> tuple[Typed, ...]:
        """What PARTITION BY says."""
        return self.window.by

    @property
    def order(self) -> tuple[tuple[Typed, bool, bool], ...]:
        """What ORDER BY says."""
        return self.window.order

    def rank(self, node: exp.Expr) -> Typed:
        """Return the place of a row as an item."""
        return column_of(RANK, ColumnType(Kind.BIGINT), self.sql, False, COUNTED, node)

    def columns(self, name_of: Callable[[Typed], str]) -> tuple[list[str], list[By]]:
        """Return the columns of the groups and of the order, each once."""
        by = list(dict.fromkeys(map(name_of, self.by)))
        order: dict[str, By] = {}
        for one, descending, nulls_first in self.order:
            name = name_of(one)
            if name not in by or not order:
                order.setdefault(name, By(name, descending, nulls_first))
        return by, list(order.values())

    def check_ties(self, source: Relation, called: Mapping[str, str]) -> None:
        """Refuse an order in which rows of `source` may be equal; `called` has its columns as they are written.

        Raises the text's error, `unsupported`.
        """
        expressions = [one.expression for one in (*self.by, *(one for one, _, _ in self.order))]
        named = {one.name for one in expressions if isinstance(one, ColumnOf)}
        if source.key and set(source.key) <= named:
            return
        missing = ", ".join(called.get(name, name) for name in source.key if name not in named)
        hint = f"End it with the key of the rows: ORDER BY ..., {missing}."
        if not source.key:
            hint = "What is read does not show the key of its rows: show it there, and end the ORDER BY with it."
        what = "an ORDER BY in which two rows may be equal"
        raise self.refuse.unsupported(what, self.window.node.args.get("order") or self.window.node, hint)


class TopReader:
    """Reads QUALIFY and the windows of one SELECT."""

    def __init__(self, refuse: Refusals, reader: ExpressionReader) -> None:
        self._refuse = refuse
        self._reader = reader

    def read(self, tree: exp.Select) -> Top | None:
        """Return what QUALIFY says, None where there is none. Raises the text's error: `unsupported` and others."""
        qualify = tree.args.get("qualify")
        if qualify is None:
            return None
        condition = qualify.this.unnest()
        if isinstance(condition, exp.And):
            hint = "Conditions on rows stand after WHERE, those on aggregates after HAVING."
            raise self._refuse.unsupported("QUALIFY of more than one condition", ("QUALIFY",), hint)
        mirrored = isinstance(condition, exp.GTE | exp.GT) or literal_of(getattr(condition, "this", condition))
        kinds = {exp.LTE: 0, exp.GTE: 0, exp.LT: 1, exp.GT: 1, exp.EQ: 0}
        if type(condition) not in kinds:
            raise self._refuse.unsupported("this condition in QUALIFY", condition, _FORM)
        left, right = condition.this.unnest(), condition.expression.unnest()
        ranked, limit = (right, left) if mirrored else (left, right)
        k = self._k(limit, kinds[type(condition)], condition)
        return Top(self.window(self._named(ranked, tree)), k, self._refuse)

    def window(self, node: exp.Expr) -> Window:
        """Read ROW_NUMBER() OVER (...). Raises the text's error."""
        if not isinstance(node, exp.Window) or not isinstance(node.this, exp.RowNumber):
            what = "OVER of anything but ROW_NUMBER()" if isinstance(node, exp.Window) else "this condition in QUALIFY"
            raise self._refuse.unsupported(what, node, _FORM)
        self._refuse.extras(node, ("this", "partition_by", "order", "over"))
        self._refuse.extras(node.this, ())
        order = node.args.get("order")
        if order is None:
            raise self._refuse.unsupported("ROW_NUMBER() without ORDER BY", node, _FORM)
        self._refuse.extras(order, ("expressions",))
        by = tuple([self._column(each) for each in node.args.get("partition_by") or []])
        ordered = tuple([self._ordered(each) for each in order.expressions])
        parts = [f"PARTITION BY {', '.join(one.sql for one in by)}"] if by else []
        parts.append(f"ORDER BY {', '.join(map(_ordered_sql, ordered))}")
        return Window(f"ROW_NUMBER() OVER ({' '.join(parts)})", by, ordered, node)

    def _named(self, node: exp.Expr, tree: exp.Select) -> exp.Expr:
        """Return the window that the name of an item stands for."""
        if isinstance(node, exp.Column) and node.args.get("table") is None and isinstance(node.this, exp.Identifier):
            for item in tree.expressions:
                if isinstance(item, exp.Alias) and folded(item.args["alias"]) == folded(node.this):
                    window: exp.Expr = item.this.unnest()
                    return window
        return node

    def _column(self, node: exp.Expr) -> Typed:
        one = self._reader.read(node)
        if one.literal is not None:
            raise self._refuse.unsupported("a constant in OVER", node, "Name a column.")
        self._refuse.range(one, "OVER by")
        return one

    def _ordered(self, node: exp.Expr) -> tuple[Typed, bool, bool]:
        self._refuse.extras(node, ("this", "desc", "nulls_first"))
        return self._column(node.this), bool(node.args.get("desc")), bool(node.args.get("nulls_first"))

    def _k(self, node: exp.Expr, less: int, condition: exp.Expr) -> int:
        literal = literal_of(node)
        text = "" if literal is None or literal.negative else literal.text
        k = int(text) - less if text.isascii() and text.isdigit() and len(text) <= 6 else 0
        if not 1 <= k <= MOST_FIRST or (isinstance(condition, exp.EQ) and k != 1):
            hint = f"Write <= and a whole number from 1 to {MOST_FIRST}, or = 1."
            raise self._refuse.unsupported("this condition in QUALIFY", node, hint)
        return k


def _ordered_sql(ordered: tuple[Typed, bool, bool]) -> str:
    one, descending, nulls_first = ordered
    return f"{one.sql}{' DESC' * descending} NULLS {'FIRST' if nulls_first else 'LAST'}"
