"""What a question over a join asks of each of its tables, for a person.

quote#1.symbol    a column of the first of two tables called `quote`, as the join has them
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from catalog.query.filter_terms import Box
from catalog.query.value_set import ValueSet
from catalog.query.value_text import held, is_point
from catalog.query.view_explanation import ExplainedStage, explained_stages
from catalog.schema.catalog import Catalog
from catalog.schema.join import Join, Place, place_of
from catalog.schema.relation import Relation
from catalog.sql.names import quoted


class JoinedTable(msgspec.Struct, frozen=True):
    """What a table of a join is asked for: a row has to meet all of it.

    equal: columns that have to have one value.  ranges: columns that have to be in one range.  rest: what other columns
    have to be, all of one of them; [] where there is nothing else.
    """

    table: str
    equal: dict[str, str]
    ranges: dict[str, str]
    rest: list[dict[str, str]]


class JoinExplanation(msgspec.Struct, frozen=True):
    """Where a join is answered, and of what rows.

    cell: what has copies of the tables.  equal: columns that are equal in a joined row, class by class.
    tables: in the order of the join.  stages: of views among them, all steps by which they are computed in the cell.
    """

    cell: str
    equal: list[list[str]]
    tables: list[JoinedTable]
    stages: list[ExplainedStage] = []


def explain_join(
    catalog: Catalog, join: Join, relation: Relation, tested: Sequence[str], boxes: Sequence[Box]
) -> JoinExplanation:
    """Return the facts about a filter of a join, whose WHERE is `boxes` over the columns `tested`."""
    equal = [[column_said(join, place) for place in places] for places in join.classes]
    tables = []
    for position in range(len(join.tables)):
        mine = {i: name for i, name in enumerate(tested) if place_of(name)[0] == position}
        parts = [{mine[i]: values for i, values in box.items() if i in mine} for box in boxes]
        tables.append(_table(_called(join, position), relation, parts))
    views = [catalog.views[name] for name in dict.fromkeys(join.tables) if name in catalog.views]
    return JoinExplanation(join.cell, equal, tables, explained_stages(catalog, join.cell, views))


def column_said(join: Join, place: Place) -> str:
    """Return what a column of a join is called.

    >>> column_said(Join(("a", "b", "b"), ()), (0, "k")), column_said(Join(("a", "b", "b"), ()), (2, "k"))
    ('a.k', 'b#2.k')
    """
    return f"{_called(join, place[0])}.{quoted(place[1])}"


def _called(join: Join, position: int) -> str:
    table = join.tables[position]
    alone = join.tables.count(table) == 1
    return quoted(table) if alone else f"{quoted(table)}#{join.tables[: position + 1].count(table)}"


def _table(called: str, relation: Relation, parts: Sequence[dict[str, ValueSet]]) -> JoinedTable:
    """Return what a table is asked for, given its part of each box."""
    equal, ranges, rest = dict[str, str](), dict[str, str](), list[dict[str, str]]()
    for name, values in (parts[0] if parts else {}).items():
        type_, column = relation.column(name).type, place_of(name)[1]
        if len(values.intervals) == 1 and not values.null and all(part.get(name) == values for part in parts):
            (equal if is_point(type_, *values.intervals[0]) else ranges)[column] = held(type_, values)
    for part in parts:
        others = {place_of(name)[1]: held(relation.column(name).type, values) for name, values in sorted(part.items())}
        left = {column: said for column, said in others.items() if column not in equal and column not in ranges}
        if left not in rest:
            rest.append(left)
    return JoinedTable(called, equal, ranges, [] if {} in rest else rest)
