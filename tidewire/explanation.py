"""What a subscription is compiled to, for `tidewire explain`: the compiler's facts, and where its id lives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from catalog.query.compiler import Compiled
from catalog.query.explanation import Explanation
from catalog.query.explanation import explain as explain_region
from catalog.query.filter_shape import FilterShape
from catalog.query.join_explanation import JoinedTable
from catalog.query.view_explanation import ExplainedStage
from catalog.schema.catalog import Catalog
from catalog.types.column_type import JsonValue
from connectors.formats.bucket import shard_of
from connectors.kafka.partitioner import home_partition

COSTS = {
    "reformulated": "one message of a shard tells all subscriptions of this shape that a change concerns; "
    "rows never come to the edge",
    "row changes": "every row of the range that comes, goes or changes is told to the edge, which counts and adds",
    "joined changes": "every change of a row that may be in the join is told to the edge once, with the rows that it "
    "is joined with, and the edge makes the join's rows and finds whom they concern",
    "table changes": "every change of the table's rows is told to the edge once, whatever is asked, and the edge finds "
    "whom it concerns",
}


TOLD = {
    "every": "rows that come, that go, and that change in what is shown",
    "latest": "once a batch: the rows that came and those that went",
    "transitions": "rows that come and rows that go, which are known by their key",
    "enter": "rows that come",
    "final": "once: the rows that came and those that went until then",
}
"""Of a bag of rows, by the kind of policy."""


class Place(Explanation, frozen=True):
    """A compiled subscription: facts of the compiler, shape, shard, and the virtual edge of an id if one was given.

    told: of a bag, which rows its deliveries have; None for all others.
    """

    sql: str
    notify: str
    ttl: int | None
    deliver: str
    snapshot: str
    shape: str
    shard: str
    id: str | None = None
    virtual_edge: int | None = None
    told: str | None = None


def explain(compiled: Compiled, catalog: Catalog, id: str | None, virtual_edges: int) -> Place:
    """Return what `compiled`, of `catalog`, means; with an `id`, where it lives among `virtual_edges`."""
    facts: dict[str, Any] = msgspec.structs.asdict(explain_region(catalog, compiled.region, compiled.cost))
    shape = compiled.region.shape
    relation = catalog.relation(shape.relation)
    assert relation is not None, "it was compiled with this catalog"
    edge = None if id is None else home_partition(id.encode(), virtual_edges)
    return Place(
        **facts,
        sql=compiled.sql,
        notify=compiled.notify.text,
        ttl=compiled.ttl,
        deliver=compiled.deliver,
        snapshot=compiled.snapshot,
        shape=shape.key,
        shard=shard_of(relation, shape.grouped, compiled.region.group),
        id=id,
        virtual_edge=edge,
        told=TOLD[compiled.notify.kind] if isinstance(shape, FilterShape) and shape.shown else None,
    )


def lines_of(place: Place) -> list[tuple[str, Any]]:
    """Return (what, value) pairs for a person."""
    group = " and ".join(f"{name} = {_shown(value)}" for name, value in (place.group or {}).items())
    rows: list[tuple[str, Any]] = [
        ("answer", "; ".join(_output(*pair) for pair in zip(place.outputs, place.types, strict=True))),
        ("shard", place.shard),
        *([("group", group or "every row")] if group or place.where is None else []),
        ("rectangle", _rectangle(place)) if place.where is None else ("where", _where(place.where)),
        ("shape", place.shape),
        ("notify", place.notify if place.told is None else f"{place.notify}: {place.told}"),
        ("deliver", place.deliver),
        ("cost class", f"{place.cost}: {COSTS.get(place.cost, place.cost)}"),
    ]
    if place.join is not None:
        equal = " and ".join(" = ".join(each) for each in place.join.equal)
        rows[2:2] = [("joined where", equal), *((f"of `{one.table}`", _asked(one)) for one in place.join.tables)]
        rows[3 + len(place.join.tables) : 3 + len(place.join.tables)] = _steps(place.join.stages)
    if place.view is not None:
        topic = [("written to", place.view.topic)] if place.view.topic else []
        rows[1:1] = [("view", place.view.sql), *topic, ("computed in", ", ".join(place.view.groups))]
        rows[3 + len(topic) : 3 + len(topic)] = _steps(place.view.stages)
    if place.limit is not None:
        rows.insert(-5, ("first", f"{place.limit} by {', '.join(place.order)}"))
    if place.certainty != "temporary" or place.final_at is not None:
        final = f"final at {place.final_at}" if place.final_at is not None else "never final"
        rows.append(("certainty", f"{place.certainty}, {final}"))
    if place.snapshot == "none":
        rows.append(("snapshot", "none: rows that are in the answer already are not told"))
    if place.ttl is not None:
        rows.append(("ends after", f"{place.ttl:,} s"))
    if place.virtual_edge is not None:
        rows.append(("virtual edge", place.virtual_edge))
    return rows


def _steps(stages: Iterable[ExplainedStage]) -> list[tuple[str, Any]]:
    """Return by what views are computed."""
    return [(f"`{one.name}`", f"{one.made}{' (computed again here)' * one.again}") for one in stages]


def _output(output: str, type_: str | None) -> str:
    return output if type_ is None else f"{output}, {type_}"


def _asked(table: JoinedTable) -> str:
    """Return what rows of a table of a join are asked for."""
    said = [f"{name}: {values}" for name, values in (table.equal | table.ranges).items()]
    return "; ".join([*said, *([_where(table.rest)] if table.rest else [])]) or "every row"


def _where(boxes: list[dict[str, str]]) -> str:
    """Return the condition of a filter: what its columns have to be."""
    if not boxes:
        return "empty: no row can ever meet it"
    said = [", and ".join(f"{name}: {values}" for name, values in box.items()) for box in boxes]
    return "; or ".join(said) if all(said) else "every row"


def _rectangle(place: Place) -> str:
    if place.empty:
        return "empty: no row can ever be in it"
    if place.range is None:
        return "no range"
    low = "the lowest" if place.low is None else _shown(place.low)
    high = "the highest" if place.high is None else _shown(place.high)
    return f"{place.range} from {low} to {high}, {'both included' if place.closed else 'the first included'}"


def _shown(value: JsonValue) -> str:
    return msgspec.json.encode(value).decode()
