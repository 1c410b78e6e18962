"""Questions for rows of a join, resolved against a catalog: filters of the relation that the join is.

    SELECT q.price, f.kind FROM quote q JOIN filing f ON q.symbol = f.symbol WHERE q.price > 5

    join       filing, quote; 0.symbol = 1.symbol                              catalog/schema/join.py
    filter     shown (1.price, 0.kind), tested (1.price), box 1.price > 5      catalog/query/filter_plan.py

All spellings of a question have one shape: tables stand by name, equalities as classes of columns that are equal, and
where a table stands twice, its places are those that make the SELECT list and the compared columns least. (Places that
are alike in these too are in the order of FROM.)

Where no cell serves the tables the plan is made for the cell that could, and says so: then a question is right but for
the cell, and can wait for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec

from catalog.query.audience import refuse_audience
from catalog.query.condition_tree import Condition, Or, Tree, conditions_of
from catalog.query.filter_plan import FilterPlan, make_filter_plan
from catalog.query.from_clause import KeyEquality, Source
from catalog.query.question import Question
from catalog.query.range_plan import is_number_type
from catalog.query.resolution import column_of, refuse_bound, relation_of
from catalog.query.statement_names import Name, Star
from catalog.query.unsupported_joins import (
    refuse_joined_stream,
    refuse_many_read,
    refuse_or,
    refuse_same_table,
    refuse_types,
    refuse_unjoined,
)
from catalog.schema.catalog import Catalog
from catalog.schema.cell import Cell
from catalog.schema.join import MOST_TABLES, Join, Place, column_name, relation_of_join
from catalog.schema.relation import Column, Relation, bound_of
from catalog.sql.errors import SqlError, suggestion
from catalog.sql.mistakes import string
from catalog.sql.names import quoted
from catalog.sql.statement_text import StatementText

JOINED_CHANGES = "joined changes"
"""Cost class: told is every change of a table whose row may be in the join, with the rows that it joins."""


@dataclass(frozen=True, slots=True)
class SourceNames:
    """What names of columns stand for in a join: a table by its number in FROM, and a column of it."""

    sources: tuple[Source, ...]
    tables: tuple[Relation, ...]
    text: StatementText

    def place(self, name: Name) -> Place:
        """Return the table and the column. Raises the text's error, `unknown_column`, also where several have it."""
        if name.of:
            at = [source.called for source in self.sources].index(name.of)
            return at, column_of(self.tables[at], name, self.text).name
        having = [
            i for i, table in enumerate(self.tables) if any(c.name == name.text and not c.is_end for c in table.columns)
        ]
        if len(having) == 1:
            return having[0], name.text
        if having:
            choices = [f"{quoted(self.sources[i].called)}.{quoted(name.text)}" for i in having]
            what = f"`{name.text}` is a column of {len(having)} of the tables"
            raise self.text.refusal("unknown_column", what, name.span, f"Write {' or '.join(choices)}.")
        if bound := bound_of(name.text):
            return self._bound(name, *bound)
        known = dict.fromkeys(column.name for table in self.tables for column in table.declared)
        hint = suggestion(name.text, known, "column")
        raise self.text.refusal("unknown_column", f"no table here has a column `{name.text}`", name.span, hint)

    def _bound(self, name: Name, function: str, of: str) -> Place:
        """Raise the refusal of lower() or upper() of what is no range, where no table has a column called so."""
        at, _ = self.place(replace(name, text=of))
        raise refuse_bound(self.tables[at], function, of, name, self.text)

    def column(self, place: Place) -> Column:
        """Return a column as its table declares it."""
        return self.tables[place[0]].column(place[1])

    def all(self, star: Star) -> list[Place]:
        """Return the columns that a star stands for, in the order of FROM."""
        return [
            (i, column.name)
            for i, (source, table) in enumerate(zip(self.sources, self.tables, strict=True))
            if star.of in ("", source.called)
            for column in table.declared
        ]


@dataclass(frozen=True, slots=True)
class JoinScope:
    """The names of a statement over a join. `positions`: where the tables of FROM stand in it."""

    relation: Relation
    names: SourceNames
    positions: tuple[int, ...]

    def column(self, name: Name) -> Column:
        """Return the column of this name. Raises the text's error, `unknown_column`."""
        return self._of(self.names.place(name))

    def columns(self, star: Star) -> Sequence[Column]:
        """Return what a star stands for."""
        return [self._of(place) for place in self.names.all(star)]

    def _of(self, place: Place) -> Column:
        return self.relation.column(_moved(place, self.positions))


def make_join_plan(catalog: Catalog, question: Question, text: StatementText) -> FilterPlan:
    """Resolve the names of a question for rows of a join.

    Raises SubscriptionError: `unknown_table`, `unknown_column`, `unsupported`, `type_mismatch`.
    """
    scope, cell = join_scope(catalog, question, text)
    if question.condition is not None:
        _check_one_table(question.condition, scope.names)
    made = make_filter_plan(scope, question, text)
    shape = msgspec.structs.replace(made.shape, keys=())
    return replace(made, shape=shape, cost=JOINED_CHANGES, uncelled=() if cell.name in catalog.cells else cell.tables)


def join_scope(catalog: Catalog, question: Question, text: StatementText) -> tuple[JoinScope, Cell]:
    """Return what the columns of a question over a join are, and the cell that serves it or could.

    Raises SubscriptionError as `make_join_plan`.
    """
    tables = tuple([relation_of(catalog, source.table, text) for source in question.joined])
    for source, table in zip(question.joined, tables, strict=True):
        if table.audience:
            raise refuse_audience(text, "a join with", table, source.table.span)
    over = catalog.read_by([table.name for table in tables])
    _check_views(catalog, question.joined, over, text)
    names = SourceNames(question.joined, tables, text)
    equal = [_checked(each, names) for each in question.equal]
    _check_connected(names, equal)
    shown = [place for name in question.shown for place in _shown(name, names)]
    tested = {names.place(condition.column) for condition in conditions_of(question.condition)}

    def written(positions: tuple[int, ...]) -> tuple[list[str], list[str]]:
        return [_moved(place, positions) for place in shown], sorted([_moved(place, positions) for place in tested])

    join, positions = Join.of([table.name for table in tables], equal, written, over)
    cell = catalog.cells.get(join.cell) or Cell(join.base, catalog.version)
    relation = catalog.relation(join.name) or relation_of_join(join, cell, catalog.present)
    return JoinScope(relation, names, positions), cell


def _check_views(catalog: Catalog, sources: Sequence[Source], over: Sequence[str], text: StatementText) -> None:
    """Refuse views of streams, and views that read more tables than a cell may have."""
    for source in sources:
        view = catalog.views.get(source.table.text)
        if view is not None and any(catalog.relations[table].stream is not None for table in view.tables):
            raise refuse_joined_stream(text, view.name, source.table.span)
    if len(over) > MOST_TABLES:
        raise refuse_many_read(text, over, sources[0].table.span)


def _moved(place: Place, positions: tuple[int, ...]) -> str:
    return column_name((positions[place[0]], place[1]))


def _shown(name: Name | Star, names: SourceNames) -> list[Place]:
    return names.all(name) if isinstance(name, Star) else [names.place(name)]


def _checked(equality: KeyEquality, names: SourceNames) -> tuple[Place, Place]:
    """Return the columns of an equality. Raises where they are of one table, or of types that are never equal."""
    left, right = _side(equality.left, names), _side(equality.right, names)
    if left[0] == right[0]:
        raise refuse_same_table(names.text, equality.node)
    types = [names.column(place).type for place in (left, right)]
    if types[0].kind is not types[1].kind and not all(map(is_number_type, types)):
        said = [f"`{n.said}` is {t}" for n, t in zip((equality.left, equality.right), types, strict=True)]
        raise refuse_types(names.text, " and ".join(said), equality.node)
    return left, right


def _side(name: Name, names: SourceNames) -> Place:
    """Return the column of one side of an equality. Raises with a hint where it may be a string without quotes."""
    try:
        return names.place(name)
    except SqlError as error:
        if name.of or name.span is None or any(c.name == name.text for table in names.tables for c in table.columns):
            raise
        said = string(names.text.sql[slice(*name.span)].strip('"'))
        hint = f"{error.hint} If it is a string, write it in single quotes: {said}."
        raise names.text.refusal(error.code, error.what, name.span, hint) from None


def _check_connected(names: SourceNames, equal: Sequence[tuple[Place, Place]]) -> None:
    """Refuse a table that no equality joins to the first one, over others or not."""
    reached, before = {0}, 0
    while len(reached) > before:
        before = len(reached)
        for (one, _), (other, _) in equal:
            if {one, other} & reached:
                reached |= {one, other}
    for i, source in enumerate(names.sources):
        if i not in reached:
            raise refuse_unjoined(names.text, source.called, names.sources[0].called, source.table.span)


def _check_one_table(tree: Tree, names: SourceNames) -> None:
    """Refuse an OR of conditions of several tables."""
    if isinstance(tree, Condition):
        return
    if isinstance(tree, Or):
        of = dict.fromkeys(names.place(condition.column)[0] for condition in conditions_of(tree))
        if len(of) > 1:
            raise refuse_or(names.text, [names.sources[i].called for i in of], tree.node)
        return
    for side in tree.sides:
        _check_one_table(side, names)
