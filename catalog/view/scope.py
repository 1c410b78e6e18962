"""What names stand for in one SELECT of a view: what the tables of its FROM are called, and their columns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sqlglot import exp

from catalog.schema.relation import Column, Relation, bound_of
from catalog.sql.errors import suggestion
from catalog.sql.names import folded, quoted_for_all
from catalog.view.refusals import Refusals


@dataclass(frozen=True, slots=True)
class Place:
    """A column: what it is called in the stage that is read, what it is, and its canonical name."""

    stage: str
    column: Column
    sql: str


@dataclass(frozen=True, slots=True)
class Source:
    """A table or view of FROM, and what it is called. `stages`: what the stage that is read calls its columns."""

    called: str
    relation: Relation
    stages: tuple[str, ...]
    outer: bool = False

    def place(self, number: int, alone: bool) -> Place:
        """Return one of its columns; `alone`: it is the only source."""
        column = self.relation.columns[number]
        sql = quoted_for_all(column.of if column.of else column.name)
        sql = sql if alone else f"{quoted_for_all(self.called)}.{sql}"
        sql = f"{column.role}({sql})" if column.of else sql
        return Place(self.stages[number], replace(column, nullable=column.nullable or self.outer), sql)


@dataclass(slots=True)
class Scope:
    """The sources of one SELECT as far as they are read. `several`: there are more than one in all."""

    refuse: Refusals
    several: bool
    sources: list[Source] = field(default_factory=list)

    def column(self, node: exp.Column) -> Place:
        """Return what a name stands for. Raises the text's error, `unknown_column`, also where several have it."""
        if node.args.get("db") is not None or not isinstance(node.this, exp.Identifier):
            raise self.refuse.unsupported("a column's name in more than two parts", node, "Write the column alone.")
        name, qualifier = folded(node.this), node.args.get("table")
        sources = self.sources if qualifier is None else [self.source(qualifier)]
        found = [place for source in sources for place in self._of(source) if place.column.name == name]
        found = [place for place in found if not place.column.is_end]
        if len(found) == 1:
            return found[0]
        if found:
            hint = f"Write {' or '.join(place.sql for place in found)}."
            what = f"`{name}` is a column of {len(found)} of the tables"
            raise self.refuse.refusal("unknown_column", what, node, hint)
        if (bound := bound_of(name)) and bound[1] in [c.name for s in sources for c in s.relation.declared]:
            what = f"{bound[0].upper()}() of `{bound[1]}`, which is no range,"
            raise self.refuse.unsupported(what, node, "Leave it out.")
        known = dict.fromkeys(column.name for source in sources for column in source.relation.declared)
        who = f"`{sources[0].relation.name}` has no" if len(sources) == 1 else "no table here has a"
        raise self.refuse.refusal(
            "unknown_column", f"{who} column `{name}`", node.this, suggestion(name, known, "column")
        )

    def source(self, qualifier: exp.Expr) -> Source:
        """Return what is called as stands before a dot. Raises the text's error, `unknown_column`."""
        name = folded(qualifier) if isinstance(qualifier, exp.Identifier) else ""
        for source in self.sources:
            if source.called == name:
                return source
        hint = f"Its tables are called {', '.join(f'`{source.called}`' for source in self.sources)} up to here."
        what = f"`{qualifier.name}` is no table of this SELECT"
        raise self.refuse.refusal("unknown_column", what, qualifier, hint)

    def all(self, qualifier: exp.Expr | None = None) -> list[Place]:
        """Return the columns that `*` stands for, or `called.*`."""
        sources = self.sources if qualifier is None else [self.source(qualifier)]
        return [place for source in sources for place in self._of(source) if not place.column.of]

    def of(self, number: int) -> list[Place]:
        """Return the columns of one source."""
        return self._of(self.sources[number])

    def _of(self, source: Source) -> list[Place]:
        return [source.place(i, not self.several) for i in range(len(source.relation.columns))]
