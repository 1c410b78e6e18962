"""Facts about a compiled subscription for a person: values of the columns instead of order codes."""

from __future__ import annotations

import msgspec

from catalog.query.best_shape import BestShape
from catalog.query.channel import Order
from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import decode_terms
from catalog.query.shape import BEYOND_KEYS, LOWEST_KEY, Output, Region, Shape
from catalog.query.value_set import ValueSet
from catalog.schema.catalog import Catalog
from catalog.schema.relation import Relation
from catalog.sql.names import quoted
from catalog.types.column_type import ColumnType, JsonValue, Kind
from catalog.types.order_key import after, text_of_key
from catalog.types.value import to_json, value_of


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


def explain(catalog: Catalog, region: Region, cost: str) -> Explanation:
    """Return the facts about a region of a shape that `catalog` declares."""
    shape = region.shape
    relation = catalog.relations[shape.relation]
    codes = msgspec.json.decode(region.group)
    group: dict[str, JsonValue] | None = None
    if len(codes) == len(shape.grouped):
        pairs = zip(shape.grouped, codes, strict=True)
        group = {name: _shown(relation.column(name).type, code) for name, code in pairs}
    low, high = _bounds(relation, region)
    columns = [output.column for output in shape.outputs] if isinstance(shape, Shape) else _columns(shape)
    best = shape if isinstance(shape, BestShape) else None
    return Explanation(
        relation=shape.relation,
        outputs=[written(output) for output in shape.outputs] or [quoted(name) for name in columns if name],
        types=[None if name is None else str(relation.column(name).type) for name in columns],
        group=group,
        range=shape.range,
        closed=not isinstance(region.hi, bytes),
        low=low,
        high=high,
        empty=region.empty,
        cost=cost,
        where=_where(relation, shape.tested, region.terms) if isinstance(shape, FilterShape) else None,
        order=[] if best is None else [_ordered(order) for order in best.order],
        limit=None if best is None else best.limit,
    )


def _columns(shape: FilterShape | BestShape) -> list[str | None]:
    return [*shape.shown, *(output.column for output in shape.outputs)]


def _where(relation: Relation, tested: tuple[str, ...], terms: bytes) -> list[dict[str, str]]:
    boxes = [sorted(box.items()) for box in decode_terms(terms)]
    return [
        {tested[place]: held(relation.column(tested[place]).type, values) for place, values in box} for box in boxes
    ]


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


MOST_SHOWN = 10
"""Intervals of a value set that are written out."""


def held(type_: ColumnType, values: ValueSet) -> str:
    """Return what a value set holds, for a person.

    >>> held(ColumnType(Kind.BIGINT), ValueSet(((1, 3), (5, 5)), True))
    '1 to 3, 5 or NULL'
    """
    said = [_interval(type_, *interval) for interval in values.intervals[:MOST_SHOWN]]
    if len(values.intervals) > MOST_SHOWN:
        said.append(f"{len(values.intervals) - MOST_SHOWN:,} more")
    said += ["NULL"] * values.null
    return " or ".join([", ".join(said[:-1]), said[-1]] if len(said) > 1 else said)


def _interval(type_: ColumnType, lo: int | bytes, hi: int | bytes) -> str:
    if isinstance(lo, int) and isinstance(hi, int):
        if lo == hi:
            return _json(_shown(type_, lo))
        least, greatest = type_.reach
        low = None if lo <= least else _json(_shown(type_, lo))
        return _from_to(low, None if hi >= greatest else _json(_shown(type_, hi)), " to ", "up to ")
    assert isinstance(lo, bytes) and isinstance(hi, bytes), "bounds are of one kind"
    if hi == after(lo) if type_.kind is Kind.VARCHAR else int.from_bytes(hi) == int.from_bytes(lo) + 1:
        return _json(_text(type_, lo))
    low = None if lo == LOWEST_KEY else _json(_text(type_, lo))
    return _from_to(low, None if hi == BEYOND_KEYS else _json(_text(type_, hi)), " to before ", "before ")


def _from_to(low: str | None, high: str | None, between: str, before: str) -> str:
    if low is None:
        return "any value" if high is None else before + high
    return f"from {low}" if high is None else low + between + high


def _json(value: JsonValue) -> str:
    return msgspec.json.encode(value).decode()


def _bounds(relation: Relation, region: Region) -> tuple[JsonValue, JsonValue]:
    if region.shape.range is None:
        return None, None
    type_ = relation.column(region.shape.range).type
    lo, hi = region.lo, region.hi
    if isinstance(lo, bytes) or isinstance(hi, bytes):
        assert isinstance(lo, bytes) and isinstance(hi, bytes), "bounds are of one kind"
        low = None if lo == LOWEST_KEY else _text(type_, lo)
        return low, None if hi == BEYOND_KEYS else _text(type_, hi)
    least, greatest = type_.reach
    shown_low = None if not least < lo <= greatest else _shown(type_, lo)
    return shown_low, None if not least <= hi < greatest else _shown(type_, hi)


def _text(type_: ColumnType, key: bytes) -> str:
    return key.decode() if type_.kind is Kind.VARCHAR else text_of_key(type_, key)


def _shown(type_: ColumnType, code: int | str) -> JsonValue:
    if isinstance(code, str) or type_.kind is Kind.VARCHAR:
        return str(code)
    return to_json(type_, value_of(type_, code))
