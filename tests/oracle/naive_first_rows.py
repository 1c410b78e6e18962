"""Filters by brute force: every row is asked, value by value, whether it meets a WHERE."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from hypothesis import strategies as st

from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import Box, decode_terms, encode_terms
from catalog.query.output import Output
from catalog.query.shape import BEYOND_KEYS, LOWEST_KEY, Region
from catalog.query.value_set import ValueSet
from catalog.schema.relation import Relation
from catalog.types.column_type import ColumnType
from catalog.types.order_key import after, order_key
from operators.exact_units import unit_of
from state.order_code import INT64_MAX, INT64_MIN

Scalar = int | str | None
Row = Mapping[str, Scalar]


def meets(relation: Relation, region: Region, row: Row) -> bool:
    """Whether a row is in one of the region's boxes."""
    shape = region.shape
    assert isinstance(shape, FilterShape)

    def holds(box: Box) -> bool:
        return all(values.holds(ordered(relation, shape.tested[place], row)) for place, values in box.items())

    return not region.empty and any(map(holds, decode_terms(region.terms)))


def ordered(relation: Relation, column: str, row: Row) -> int | bytes | None:
    """Return what a value is compared by: its code, or its order key."""
    value = row[column]
    return order_key(relation.column(column).type, value) if isinstance(value, str) else value


def bag_of(relation: Relation, region: Region, rows: Iterable[Row]) -> Counter[tuple[Scalar, ...]]:
    """Return the rows that meet a region, projected to what it shows."""
    assert isinstance(region.shape, FilterShape)
    return Counter(shown(region.shape, row) for row in rows if meets(relation, region, row))


def shown(shape: FilterShape, row: Row) -> tuple[Scalar, ...]:
    """Return what a shape shows of a row."""
    return tuple(row[name] for name in shape.shown)


def totals_of(relation: Relation, column: str | None, summed: bool, rows: Iterable[Row]) -> tuple[int, int]:
    """Return how many rows (or values of a column, and their total in units) there are."""
    if column is None:
        return len(list(rows)), 0
    values = [row[column] for row in rows if row[column] is not None]
    return len(values), sum(unit_of(relation.column(column).type, v) for v in values) if summed else 0  # type: ignore[arg-type]


def value_sets(type_: ColumnType, values: list[Scalar]) -> st.SearchStrategy[ValueSet]:
    """Draw sets over the ends that `values` give, never an empty one."""
    if type_.coded:
        ends: list[int | bytes] = [INT64_MIN, INT64_MAX, *(value for value in values if isinstance(value, int))]
    else:
        keys = [order_key(type_, value) for value in values if isinstance(value, str)]
        ends = [LOWEST_KEY, BEYOND_KEYS, *keys, *map(after, keys)]
    end = st.sampled_from(ends)
    drawn = st.builds(ValueSet.of, st.lists(st.tuples(end, end), max_size=6), st.booleans())
    return drawn.filter(bool)


def regions(
    relation: Relation, values: Mapping[str, list[Scalar]], outputs: list[tuple[Output, ...]]
) -> st.SearchStrategy[Region]:
    """Draw filters over the columns that `values` has, which show rows or one of `outputs`."""
    names = [column.name for column in relation.columns if column.name in values]

    @st.composite
    def draw_one(draw: st.DrawFn) -> Region:
        tested = [name for name in names if draw(st.booleans())]
        box = st.fixed_dictionaries(
            {}, optional={i: value_sets(relation.column(name).type, values[name]) for i, name in enumerate(tested)}
        )
        boxes = draw(st.lists(box, max_size=3))
        what = draw(st.sampled_from([(), (), *outputs]))
        columns = tuple(draw(st.lists(st.sampled_from([column.name for column in relation.columns]), min_size=1)))
        columns = () if what else columns
        keyed = all(name in columns for name in relation.key)
        keys = tuple(columns.index(name) for name in relation.key) if keyed else ()
        shape = FilterShape(relation.name, columns, what, tuple(tested), (), keys)
        return Region(shape, b"[]", empty=not boxes, terms=encode_terms(boxes))

    return draw_one()
