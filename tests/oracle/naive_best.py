"""First rows by brute force: all rows of a range, sorted as ORDER BY says, cut after the limit."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cmp_to_key
from typing import Any

from catalog.query.best_shape import BestShape
from catalog.query.shape import Region, group_key
from catalog.schema.relation import Relation
from tests.oracle.naive_first_rows import Row, Scalar, ordered


def first_of(relation: Relation, region: Region, rows: Iterable[Row]) -> list[tuple[Scalar, ...]]:
    """Return the first rows of a region, each in the columns of the shape's `images`."""
    shape = region.shape
    assert isinstance(shape, BestShape)

    def order(one: Row, other: Row) -> int:
        for each in shape.order:
            a, b = ordered(relation, each.column, one), ordered(relation, each.column, other)
            if a == b:
                continue
            if a is None or b is None:
                return -1 if (a is None) == each.nulls_first else 1
            return -1 if _less(a, b) != each.descending else 1
        return 0

    found = sorted((row for row in rows if holds(relation, region, row)), key=cmp_to_key(order))
    return [tuple(row[name] for name in shape.images) for row in found[: shape.limit]]


def holds(relation: Relation, region: Region, row: Row) -> bool:
    """Whether a row is in a region's range."""
    shape = region.shape
    assert isinstance(shape, BestShape)
    values = [row[name] for name in shape.equal]
    if region.empty or None in values or group_key(tuple(values)) != region.group:  # type: ignore[arg-type]
        return False
    if shape.range is None:
        return True
    x: Any = ordered(relation, shape.range, row)
    if x is None:
        return False
    return region.lo <= x < region.hi if isinstance(x, bytes) else region.lo <= x <= region.hi  # type: ignore[operator]


def _less(a: Any, b: Any) -> bool:
    return a < b
