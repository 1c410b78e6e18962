"""Facts about a compiled subscription for a person: values of the columns instead of order codes."""

from __future__ import annotations

import msgspec

from catalog.query.shape import BEYOND_KEYS, LOWEST_KEY, Output, Region
from catalog.schema.relation import Catalog, Relation
from catalog.sql.names import quoted
from catalog.types.column_type import ColumnType, JsonValue, Kind
from catalog.types.order_key import text_of_key
from catalog.types.value import to_json, value_of


class Explanation(msgspec.Struct, frozen=True):
    """A subscription's place.

    outputs: the SELECT list, such as `MIN(price)`; types: of the columns in it, None for COUNT(*).
    group: value of each equality column, None if no value fulfils them.  range: the range attribute, or None;
    low, high: its bounds as JSON values, None where there is no bound. closed: `high` is in the range; else the
    attribute has no order codes, `high` is the first value beyond, and a NUL at its end means "just after".
      empty: no row can ever meet it.
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


def explain(catalog: Catalog, region: Region, cost: str) -> Explanation:
    """Return the facts about a region of a shape that `catalog` declares."""
    shape = region.shape
    relation = catalog.relations[shape.relation]
    codes = msgspec.json.decode(region.group)
    group: dict[str, JsonValue] | None = None
    if len(codes) == len(shape.equal):
        pairs = zip(shape.equal, codes, strict=True)
        group = {name: _shown(relation.column(name).type, code) for name, code in pairs}
    low, high = _bounds(relation, region)
    return Explanation(
        relation=shape.relation,
        outputs=[written(output) for output in shape.outputs],
        types=[None if output.column is None else str(relation.column(output.column).type) for output in shape.outputs],
        group=group,
        range=shape.range,
        closed=not isinstance(region.hi, bytes),
        low=low,
        high=high,
        empty=region.empty,
        cost=cost,
    )


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
