"""The FROM of a statement: one table, or several that are joined by columns that are equal.

    FROM quote AS q JOIN filing f ON q.symbol = f.symbol AND q.day = f.day

    sources    quote, called q;  filing, called f
    equal      q.symbol = f.symbol,  q.day = f.day

Only syntax. What other databases join by is refused by `catalog.query.unsupported_joins`, which says what to write.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlglot import exp

from catalog.query.condition_tree import conjuncts_of
from catalog.query.statement_names import Name, StatementNames
from catalog.query.unsupported import refuse_alias, refuse_extras, unsupported
from catalog.query.unsupported_joins import refuse_called_twice, refuse_join, refuse_on
from catalog.sql.statement_text import StatementText


@dataclass(frozen=True, slots=True)
class Source:
    """A table of a join, and what it is called: its alias, or its own name."""

    table: Name
    called: str


@dataclass(frozen=True, slots=True)
class KeyEquality:
    """Two columns of which the rows of a join have the same value; `node` is what was written, for refusals."""

    left: Name
    right: Name
    node: exp.Expr = field(compare=False, repr=False)


class FromReader:
    """Reads the FROM of one statement; `names` get to know what the tables are called."""

    def __init__(self, text: StatementText, names: StatementNames) -> None:
        self._text = text
        self._names = names

    def read(self, tree: exp.Select, rows: bool) -> tuple[tuple[Source, ...], tuple[KeyEquality, ...]]:
        """Return the tables, and the equalities of ON. `rows`: the statement selects columns.

        Raises the text's error: `unsupported`, `syntax`, `unknown_column`.
        """
        joins: list[exp.Join] = tree.args.get("joins") or []
        source = tree.args.get("from_")
        if source is None:
            what = "a SELECT without FROM"
            raise unsupported(self._text, what, self._text.keyword(("SELECT",)), "Say which table: FROM table.")
        sources = [self._table(source.this, rows)]
        equal: list[KeyEquality] = []
        for join in joins:
            refused = refuse_join(self._text, join, sources[-1].called)
            if refused is not None:
                raise refused
            sources.append(self._table(join.this, rows))
            equal += self._on(join.args["on"])
        return tuple(sources), tuple(equal)

    def equality(self, node: exp.Expr) -> KeyEquality | None:
        """Return the equality of two columns that a condition is, None if it is none."""
        if not isinstance(node, exp.EQ):
            return None
        left, right = node.this.unnest(), node.expression.unnest()
        if not (isinstance(left, exp.Column) and isinstance(right, exp.Column)):
            return None
        return KeyEquality(self._names.column(left), self._names.column(right), node)

    def _on(self, condition: exp.Expr) -> Iterator[KeyEquality]:
        for side in conjuncts_of(condition):
            equality = self.equality(side)
            if equality is None:
                raise refuse_on(self._text, side)
            yield equality

    def _table(self, table: exp.Expr, rows: bool) -> Source:
        if not isinstance(table, exp.Table):
            what = "a subquery in FROM" if isinstance(table, exp.Subquery) else "anything but a table in FROM"
            raise unsupported(self._text, what, table if self._text.span(table) else self._text.keyword(("FROM",)))
        if table.args.get("db") is not None:
            raise unsupported(self._text, "a schema before the table's name", table, "Write the table's name alone.")
        refuse_extras(self._text, table, ("this", "alias"))
        if not isinstance(table.this, exp.Identifier):
            raise unsupported(self._text, "a function in FROM", table, "Write the table's name alone.")
        name = self._names.name(table.this)
        called, alias = name.text, table.args.get("alias")
        if alias is not None:
            refuse_extras(self._text, alias, ("this",))
            called = self._names.name(alias.this).text
        if called in self._names.called:
            raise refuse_called_twice(self._text, called, table)
        self._names.called.append(called)
        if alias is not None:
            refuse_alias(self._text, alias.this, rows)
        return Source(name, called)
