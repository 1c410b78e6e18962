"""What rows and answers did from step to step, by looking: the twin of what `catalog/view/` says that they may do."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from catalog.query.best_shape import BestShape
from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import Box, decode_terms
from catalog.query.output import Output
from catalog.query.shape import Region, Shape
from catalog.schema.relation import Relation
from catalog.schema.view import By
from catalog.types.column_type import ColumnType, Kind
from catalog.types.order_key import order_key
from catalog.view.moves import EMPTIES, FALLS, FILLS, FIXED, RISES, Moves
from tests.oracle.naive_views import Row, Rows, sorted_rows, stored_of, value_of

DOUBLE = ColumnType(Kind.DOUBLE)


def seen_rows(before: Rows, after: Rows) -> Moves:
    """Return whether rows came and went."""
    return (RISES if after.keys() - before.keys() else FIXED) | (FALLS if before.keys() - after.keys() else FIXED)


def seen_values(before: Sequence[Any], after: Sequence[Any]) -> Moves:
    """Return what values did, of which None is NULL."""
    out = FIXED
    for one, other in zip(before, after, strict=True):
        if one is None or other is None:
            out |= FIXED if one is other else EMPTIES if other is None else FILLS
        elif one != other:
            out |= RISES if one < other else FALLS
    return out


def values_of(relation: Relation, row: Row) -> list[Any]:
    """Return what is stored in a row as what it means."""
    return [value_of(column.type, stored) for column, stored in zip(relation.columns, row, strict=True)]


def answer(region: Region, relation: Relation, rows: Rows) -> Any:
    """Return a question's answer: values for outputs, a frozenset for sets and bags, a tuple for lists."""
    shape = region.shape
    held = [(key, row) for key, row in rows.items() if _fits(region, relation, row)]
    if isinstance(shape, BestShape):
        order = [By(each.column, each.descending, each.nulls_first) for each in shape.order]
        first = sorted_rows(relation, order, [row for _, row in held])[: shape.limit]
        return tuple([_shown(relation, row, shape.shown) for row in first])
    if isinstance(shape, FilterShape) and shape.shown:
        return frozenset((key, _shown(relation, row, shape.shown)) for key, row in held)
    return [_output(each, relation, [row for _, row in held]) for each in shape.outputs]


def _shown(relation: Relation, row: Row, names: Sequence[str]) -> Row:
    return tuple([row[relation.index(name)] for name in names])


def _fits(region: Region, relation: Relation, row: Row) -> bool:
    shape = region.shape
    if isinstance(shape, FilterShape):
        return any(_in_box(box, shape.tested, relation, row) for box in decode_terms(region.terms))
    assert isinstance(shape, Shape | BestShape) and not shape.equal
    if shape.range is None:
        return True
    stored = row[relation.index(shape.range)]
    return isinstance(stored, int) and region.lo <= stored <= region.hi  # type: ignore[operator]


def _in_box(box: Box, tested: Sequence[str], relation: Relation, row: Row) -> bool:
    for place, values in box.items():
        column = relation.column(tested[place])
        stored = row[relation.index(column.name)]
        key = stored if stored is None or column.type.coded else order_key(column.type, str(stored))
        if not values.holds(key):  # type: ignore[arg-type]
            return False
    return True


def _output(output: Output, relation: Relation, rows: Sequence[Row]) -> Any:
    if output.column is None:
        return len(rows)
    at = relation.index(output.column)
    type_ = relation.columns[at].type
    every = [value_of(type_, row[at]) for row in rows]
    values = [value for value in every if value is not None]
    match output.function:
        case "distinct":
            return frozenset(every)
        case "count_distinct":
            return len(set(values))
        case "count":
            return len(values)
        case _ if not values:
            return None
        case "min" | "max":
            return min(values) if output.function == "min" else max(values)
    total = sum((Fraction(value) for value in values), Fraction(0))
    if output.function == "avg":
        return total / len(values)
    return value_of(DOUBLE, stored_of(DOUBLE, total)) if type_.kind in (Kind.REAL, Kind.DOUBLE) else total


def grew(before: Any, after: Any) -> bool:
    """Whether an answer only rose, or a set only grew; NULL is below all. A list has to stay as it is."""
    if isinstance(before, list):
        return all(grew(one, other) for one, other in zip(before, after, strict=True))
    if isinstance(before, frozenset):
        return before <= after
    if isinstance(before, tuple):
        return bool(before == after)
    return before is None or (after is not None and bool(before <= after))


def shrank(before: Any, after: Any) -> bool:
    """Whether an answer only fell, or a set only lost members; NULL is above all."""
    if isinstance(before, list):
        return all(shrank(one, other) for one, other in zip(before, after, strict=True))
    if isinstance(before, frozenset):
        return before >= after
    if isinstance(before, tuple):
        return bool(before == after)
    return before is None or (after is not None and bool(before >= after))
