"""The rows of a view at one moment, made anew of the states of its tables' shards: for who wants to look at them.

    quote/0            ->   low/0, beside the one table that it reads, bucket by bucket
    quote/0 filing/0   ->   the cell of both as it would begin, and in it the view

Whether the engine has the view's rows just now does not matter: they are made as it makes them (`views.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from catalog.schema.catalog import Catalog
from catalog.schema.cell import Cell
from catalog.schema.placed_stage import PlacedStage, stages_beside, stages_in
from catalog.schema.relation import Relation
from catalog.schema.view import View
from shard.cell_seed import seed_of_cell
from shard.group import Group
from shard.state import ShardState
from shard.views import Views


def view_rows(view: View, catalog: Catalog, states: Mapping[str, bytes | None]) -> list[ShardState]:
    """Return the view's shards; `states` are those of its tables' shards, by their names, as in `seed_of_cell`.

    Cost: O(n log n) for the rows of what the view reads. Raises StateError as that does.
    """
    return [_made(*place) for place in _places(view, catalog, states)]


_Place = tuple[str, str, tuple[PlacedStage, ...], dict[str, Relation], bytes | None]
"""A shard of the view, the name of a group that has it, its stages, what it has of tables, and its seed."""


def _places(view: View, catalog: Catalog, states: Mapping[str, bytes | None]) -> Iterator[_Place]:
    if len(view.tables) > 1:
        cell = Cell(view.tables, catalog.version)
        copies = {cell.member(table): catalog.relations[table] for table in cell.tables}
        yield f"{view.name}/0", cell.name, stages_in(catalog, cell), copies, seed_of_cell(cell, catalog, states)
        return
    table = catalog.relations[view.tables[0]]
    for bucket, shard in enumerate(table.shards):
        stages = stages_beside(catalog, table.name, bucket)
        yield f"{view.name}/{bucket}", shard, stages, {shard: table}, states.get(shard)


def _made(
    shard: str,
    group: str,
    stages: tuple[PlacedStage, ...],
    tables: Mapping[str, Relation],
    seed: bytes | None,
) -> ShardState:
    """Let a group begin with what it has of tables, and make what the shard needs."""
    members = {**tables, **{stage.member: stage.relation for stage in stages}}
    made = Group.open(group, members, None, seed)
    for member in tables:
        made[member].begin()
    Views(stages, made).prepare([shard.encode()])
    return made[shard]
