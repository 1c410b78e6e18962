"""How the rows of a stage may change, where those of its inputs may (`growth.py`).

Map        rows as the input's, and where a condition becomes true or untrue
GroupBy    a group comes with its first row and goes with its last; where what is grouped by changes, rows come
           and go in groups; without columns there is always one row
TopK       a row that comes pushes another out
Joined     pairs come and go with both sides; an outer row without partner goes where one comes
Union      as all inputs
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import reduce
from operator import or_

from catalog.schema.relation import Relation
from catalog.schema.view import Aggregate, Fold, GroupBy, Joined, Map, Stage, TopK, Union
from catalog.view.aggregate_growth import aggregate_moves
from catalog.view.expression_growth import FLOATS, compared, condition_moves, expression_growth, where_holds
from catalog.view.growth import POSITIVE, ColumnGrowth, Growth
from catalog.view.moves import ANY, EMPTIES, FALLS, FILLS, FIXED, MOVES, RISES, Moves


def stage_growth(stage: Stage, growth_of: Callable[[str], Growth]) -> Growth:
    """Return how a stage grows; `growth_of` knows its inputs. *Cost*: O(columns, conditions)."""
    inputs = [growth_of(name) for name in stage.operator.inputs]
    match stage.operator:
        case Map() as of:
            rows, columns = _mapped(of, inputs[0])
        case GroupBy() | Fold() as of:
            rows, columns = _grouped(of, inputs[0])
        case TopK() as of:
            rows, columns = _first_rows(of, inputs[0])
        case Joined() as of:
            rows, columns = _joined(of, *inputs)
        case Union():
            rows = _all(each.rows for each in inputs)
            columns = [_one_of(each) for each in zip(*(each.columns.values() for each in inputs), strict=True)]
    return Growth(rows, _named(stage.relation, columns))


def _named(relation: Relation, columns: Sequence[ColumnGrowth]) -> dict[str, ColumnGrowth]:
    """Return columns by name; what was declared as never NULL is not."""
    return {
        each.name: replace(column, nullable=each.nullable)
        for each, column in zip(relation.columns, columns, strict=True)
    }


def _all(moves: Iterable[Moves]) -> Moves:
    return reduce(or_, moves, FIXED)


def _one_of(columns: Sequence[ColumnGrowth]) -> ColumnGrowth:
    signs = reduce(or_, (each.signs for each in columns))
    return ColumnGrowth(_all(each.moves for each in columns), signs, any(each.nullable for each in columns))


def _mapped(of: Map, growth: Growth) -> tuple[Moves, list[ColumnGrowth]]:
    rows = growth.rows | _all(condition_moves(each, growth.columns) for each in of.where)
    held = where_holds(growth.columns, of.where)
    return rows, [expression_growth(item, held) for item in of.items]


def _grouped(of: GroupBy | Fold, growth: Growth) -> tuple[Moves, list[ColumnGrowth]]:
    moved = _all(growth.columns[name].moves for name in of.by)
    rows = growth.rows | (MOVES if moved else FIXED)
    groups = [replace(growth.columns[name], moves=FIXED) for name in of.by]
    made = [_aggregated(each, rows, growth) for each in of.aggregates]
    return rows if of.by else FIXED, groups + made


def _aggregated(of: Aggregate, rows: Moves, growth: Growth) -> ColumnGrowth:
    column = None if of.column is None else growth.columns[of.column]
    moves = aggregate_moves(of.kind, rows, column, of.type.kind in FLOATS)
    if of.by is not None and growth.columns[of.by].moves:
        moves = ANY
    signs = POSITIVE if of.kind.upper() == "COUNT" or column is None else column.signs
    return ColumnGrowth(moves, signs)


def _first_rows(of: TopK, growth: Growth) -> tuple[Moves, list[ColumnGrowth]]:
    moved = bool(_all(growth.columns[name].moves for name in (*of.by, *(each.column for each in of.order))))
    rows = MOVES if growth.rows or moved else FIXED
    places = [ColumnGrowth(MOVES if moved else growth.rows, POSITIVE)] if of.ranked else []
    return rows, [*growth.columns.values(), *places]


def _joined(of: Joined, left: Growth, right: Growth) -> tuple[Moves, list[ColumnGrowth]]:
    pairs = [(left.columns[one].moves, right.columns[other].moves) for one, other in of.equal]
    equal = _all(compared("=", one | other) for one, other in pairs)
    found = right.rows | equal
    beside = list(right.columns.values())
    if of.lookup and any((one | other) & MOVES for one, other in pairs):
        beside = [replace(each, moves=ANY) for each in beside]  # another partner under the same key
    if not of.outer:
        return left.rows | found, [*left.columns.values(), *beside]
    if not of.lookup:
        rows = left.rows | (MOVES if found else FIXED)
        return rows, [*left.columns.values(), *(replace(each, nullable=True) for each in beside)]
    gained = (FILLS if RISES in found else FIXED) | (EMPTIES if FALLS in found else FIXED)
    return left.rows, [
        *left.columns.values(),
        *(replace(each, moves=each.moves | gained, nullable=True) for each in beside),
    ]
