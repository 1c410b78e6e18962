"""Facts about a compiled subscription for a person: values of the columns instead of order codes."""

from __future__ import annotations

import msgspec

from catalog.column_type import ColumnType, JsonValue, Kind
from catalog.relation import Catalog
from catalog.shape import Region
from catalog.value import to_json, value_of


class Explanation(msgspec.Struct, frozen=True):
    """A subscription's place.

    group: value of each equality column, None if no value fulfils them.  range: the range attribute, or None;
    low, high: its closed bounds as JSON values, None where there is no bound.  empty: no row can ever meet it.
    """

    relation: str
    aggregate: str
    measure: str
    type: str
    group: dict[str, JsonValue] | None
    range: str | None
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
    low = high = None
    if shape.range is not None:
        type_ = relation.column(shape.range).type
        least, greatest = type_.reach
        low = None if not least < region.lo <= greatest else _shown(type_, region.lo)
        high = None if not least <= region.hi < greatest else _shown(type_, region.hi)
    return Explanation(
        relation=shape.relation,
        aggregate=shape.aggregate,
        measure=shape.measure,
        type=str(relation.column(shape.measure).type),
        group=group,
        range=shape.range,
        low=low,
        high=high,
        empty=region.empty,
        cost=cost,
    )


def _shown(type_: ColumnType, code: int | str) -> JsonValue:
    if isinstance(code, str) or type_.kind is Kind.VARCHAR:
        return str(code)
    return to_json(type_, value_of(type_, code))
