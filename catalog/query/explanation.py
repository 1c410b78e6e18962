"""Facts about a compiled subscription for a person: values of the columns instead of order codes."""

from __future__ import annotations

import msgspec

from catalog.query.best_shape import BestShape
from catalog.query.channel import Order
from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import decode_terms
from catalog.query.finality import final_at
from catalog.query.join_explanation import JoinExplanation, column_said, explain_join
from catalog.query.question_certainty import certainty_of
from catalog.query.range_text import held_ends
from catalog.query.shape import BEYOND_KEYS, LOWEST_KEY, Output, Region, Shape
from catalog.query.value_set import ValueSet
from catalog.query.value_text import held, shown, text
from catalog.query.view_explanation import ViewExplanation, explain_view
from catalog.schema.catalog import Catalog
from catalog.schema.join import Join, join_of_name, place_of
from catalog.schema.relation import LOWER_END, Column, Relation
from catalog.sql.names import quoted
from catalog.types.column_type import ColumnType, JsonValue, Kind

_MOMENT = ColumnType(Kind.TIMESTAMP)


class Explanation(msgspec.Struct, frozen=True):
    """A subscription's place.

    outputs: the SELECT list, such as `MIN(price)`; types: of the columns in it, None for COUNT(*).
    group: value of each equality column, None if no value fulfils them; of a filter, of each column that parts its
    table into buckets.  range: the range attribute, or None;
    low, high: its bounds as JSON values, None where there is no bound. closed: `high` is in the range; else the
    attribute has no order codes, `high` is the first value beyond, and a NUL at its end means "just after".
      empty: no row can ever meet it.
    where: of a filter, what each column has to be; a row has to meet all of one of them. None for all others.
    order: of first rows, the columns of the order; limit: how many rows.
    join: of rows of a join, its cell and what each table is asked; `relation` is its name then.
    view: of a view, how and where it is computed.
    certainty: `temporary`, `at_least` or `at_most` (docs/certainty.md), until it is final.
    final_at: when the last window ends that it asks about; None where the answer never becomes final.
    """

    relation: str
    outputs: list[str]
    types: list[str | None]
    group: dict[str, JsonValue] | None
    range: str | None
    closed: bool
    low: JsonValue
    high: JsonValue
    empty: bool
    cost: str
    where: list[dict[str, str]] | None
    order: list[str]
    limit: int | None
    join: JoinExplanation | None
    view: ViewExplanation | None
    certainty: str
    final_at: JsonValue


def explain(catalog: Catalog, region: Region, cost: str) -> Explanation:
    """Return the facts about a region of a shape that `catalog` declares."""
    shape = region.shape
    relation = catalog.relation(shape.relation)
    assert relation is not None, "the catalog that a region was compiled against has its relation"
    join, view = join_of_name(shape.relation), catalog.views.get(shape.relation)
    codes = msgspec.json.decode(region.group)
    group: dict[str, JsonValue] | None = None
    if len(codes) == len(shape.grouped):
        pairs = zip(shape.grouped, codes, strict=True)
        group = {name: shown(relation.column(name).type, code) for name, code in pairs}
    low, high = _bounds(relation, region)
    columns = [output.column for output in shape.outputs] if isinstance(shape, Shape) else _columns(shape)
    best = shape if isinstance(shape, BestShape) else None
    final = final_at(relation.closing, region)
    return Explanation(
        relation=shape.relation,
        outputs=[written(output) for output in shape.outputs] or [_named(join, name) for name in columns if name],
        types=[None if name is None else str(relation.column(name).type) for name in columns],
        group=group,
        range=shape.range,
        closed=not isinstance(region.hi, bytes),
        low=low,
        high=high,
        empty=region.empty,
        cost=cost,
        where=_where(relation, join, shape.tested, region.terms) if isinstance(shape, FilterShape) else None,
        order=[] if best is None else [_ordered(order) for order in best.order],
        limit=None if best is None else best.limit,
        join=None if join is None else _joined(catalog, join, relation, region),
        view=None if view is None else explain_view(catalog, view),
        certainty=certainty_of(catalog, region),
        final_at=None if final is None else shown(_MOMENT, final),
    )


def _columns(shape: FilterShape | BestShape) -> list[str | None]:
    return [*shape.shown, *(output.column for output in shape.outputs)]


def _where(relation: Relation, join: Join | None, tested: tuple[str, ...], terms: bytes) -> list[dict[str, str]]:
    said = [name if join is None else column_said(join, place_of(name)) for name in tested]
    columns = [relation.column(name) for name in tested]
    return [
        {said[i]: _held(relation, columns[i], values) for i, values in sorted(box.items())}
        for box in decode_terms(terms)
    ]


def _held(relation: Relation, column: Column, values: ValueSet) -> str:
    """Return what a value set holds; of the ends of a range as bounds, which belong to it or do not."""
    if not column.is_end:
        return held(column.type, values)
    return held_ends(relation.column(column.of).type, column.role == LOWER_END, values)


def _named(join: Join | None, column: str) -> str:
    """Return a column of the SELECT list as SQL."""
    return quoted(column) if join is None else column_said(join, place_of(column))


def _joined(catalog: Catalog, join: Join, relation: Relation, region: Region) -> JoinExplanation:
    assert isinstance(region.shape, FilterShape), "a join is asked for rows"
    return explain_join(catalog, join, relation, region.shape.tested, decode_terms(region.terms))


def _ordered(order: Order) -> str:
    """Return a column of ORDER BY as SQL, NULLS said where they do not stand as in PostgreSQL."""
    nulls = "" if order.nulls_first is order.descending else f" NULLS {'FIRST' if order.nulls_first else 'LAST'}"
    return f"{quoted(order.column)}{' DESC' if order.descending else ''}{nulls}"


def written(output: Output) -> str:
    """Return an item of the SELECT list as SQL.

    >>> written(Output("count", None)), written(Output("distinct", "city")), written(Output("count_distinct", "city"))
    ('COUNT(*)', 'DISTINCT city', 'COUNT(DISTINCT city)')
    """
    name = "*" if output.column is None else quoted(output.column)
    match output.function:
        case "distinct":
            return f"DISTINCT {name}"
        case "count_distinct":
            return f"COUNT(DISTINCT {name})"
        case function:
            return f"{function.upper()}({name})"


def _bounds(relation: Relation, region: Region) -> tuple[JsonValue, JsonValue]:
    if region.shape.range is None:
        return None, None
    type_ = relation.column(region.shape.range).type
    lo, hi = region.lo, region.hi
    if isinstance(lo, bytes) or isinstance(hi, bytes):
        assert isinstance(lo, bytes) and isinstance(hi, bytes), "bounds are of one kind"
        low = None if lo == LOWEST_KEY else text(type_, lo)
        return low, None if hi == BEYOND_KEYS else text(type_, hi)
    least, greatest = type_.reach
    shown_low = None if not least < lo <= greatest else shown(type_, lo)
    return shown_low, None if not least <= hi < greatest else shown(type_, hi)
