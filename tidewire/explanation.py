"""What a subscription is compiled to, said in the column's own values: for `tidewire explain`."""

from __future__ import annotations

from typing import Any

import msgspec

from catalog.column_type import JsonValue
from catalog.compiler import Compiled
from catalog.relation import Catalog
from catalog.value import ValueRefused, to_json, value_of
from connectors.partitioner import home_partition
from state.order_code import INT64_MAX, INT64_MIN

COSTS = {
    "reformulated": "a shard sends one message for all subscriptions of this shape that a change concerns; "
    "rows never come to the edge",
}


class Explanation(msgspec.Struct):
    """A compiled subscription. `range` is closed, in the range attribute's values; None is "no bound".

    `empty` says that no row can ever be in it. `virtual_edge` is the partition of its id, where one was given.
    """

    sql: str
    table: str
    shard: str
    shape: str
    aggregate: str
    measure: str
    answer_type: str
    equal: dict[str, JsonValue]
    range_attribute: str | None
    range: tuple[JsonValue, JsonValue]
    empty: bool
    cost: str
    cost_means: str
    id: str | None = None
    virtual_edge: int | None = None


def explain(compiled: Compiled, catalog: Catalog, id: str | None, virtual_edges: int) -> Explanation:
    """Return what `compiled`, of `catalog`, means; with an `id`, where it lives among `virtual_edges`."""
    region, shape = compiled.region, compiled.region.shape
    relation = catalog.relations[shape.relation]
    group = msgspec.json.decode(region.group)
    return Explanation(
        sql=compiled.sql,
        table=relation.name,
        shard=relation.shard,
        shape=shape.key,
        aggregate=shape.aggregate.upper(),
        measure=shape.measure,
        answer_type=str(compiled.type),
        equal={name: _value(catalog, shape.relation, name, code) for name, code in zip(shape.equal, group, strict=True)}
        if not region.empty
        else {},
        range_attribute=shape.range,
        range=(
            _bound(catalog, shape.relation, shape.range, region.lo),
            _bound(catalog, shape.relation, shape.range, region.hi),
        ),
        empty=region.empty,
        cost=compiled.cost,
        cost_means=COSTS.get(compiled.cost, compiled.cost),
        id=id,
        virtual_edge=None if id is None else home_partition(id.encode(), virtual_edges),
    )


def lines_of(explanation: Explanation) -> list[tuple[str, Any]]:
    """Return (what, value) pairs for a person."""
    e = explanation
    equal = " and ".join(f"{name} = {_shown(value)}" for name, value in e.equal.items()) or "every row"
    low, high = e.range
    if e.empty:
        rectangle = "empty: no row can ever be in it"
    elif e.range_attribute is None:
        rectangle = "no range"
    else:
        rectangle = (
            f"{e.range_attribute} from {_open(low, 'the lowest')} to {_open(high, 'the highest')}, ends included"
        )
    rows = [
        ("answer", f"{e.aggregate}({e.measure}), {e.answer_type}"),
        ("shard", e.shard),
        ("group", equal),
        ("rectangle", rectangle),
        ("shape", e.shape),
        ("cost class", f"{e.cost}: {e.cost_means}"),
    ]
    if e.virtual_edge is not None:
        rows.append(("virtual edge", e.virtual_edge))
    return rows


def _bound(catalog: Catalog, relation: str, column: str | None, code: int) -> JsonValue:
    if column is None or code in (INT64_MIN, INT64_MAX):
        return None
    return _value(catalog, relation, column, code)


def _value(catalog: Catalog, relation: str, column: str, code: int | str) -> JsonValue:
    """Return the value of a code; a code that no value has (a bound beyond the type's range) as itself."""
    if isinstance(code, str):
        return code
    type_ = catalog.relations[relation].column(column).type
    try:
        return to_json(type_, value_of(type_, code))
    except ValueRefused:
        return code


def _shown(value: JsonValue) -> str:
    return msgspec.json.encode(value).decode()


def _open(value: JsonValue, without: str) -> str:
    return without if value is None else _shown(value)
