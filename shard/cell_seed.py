"""What a cell begins with: copies of its tables, made of the states of the tables' own shards at one moment.

    filing/0                 ->  cell/filing+quote/0/filing      rows, deleted rows, repeats, partitions: all that says
    quote/0 quote/1 quote/2  ->  cell/filing+quote/0/quote       what comes next; nobody listens yet, nothing is counted

Rows alone would not do: a key that changes over the seam takes what it keeps from a deleted row, and a connector that
was killed publishes again what the rows have already.

Of a stream it is how far its partitions are, and the rows of all folds in its group, which could not be made again. A
fold that has not begun there begins here as it does there: before any row that comes now, and with the same window.

A table in buckets becomes one copy. Rows are in one bucket each. Of a partition and a connector the greatest place that
any bucket reached counts: what stands before it is a repeat, whichever bucket it is of.
Cost: O(bytes of the states); tables in buckets 1 us a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from catalog.schema.catalog import Catalog
from catalog.schema.cell import Cell
from catalog.schema.placed_stage import folds_in, stages_beside
from catalog.schema.relation import Relation
from shard.cell import CellState
from shard.group import Group, alone
from shard.replayed_changes import Repeats
from shard.state import ShardState
from state.byte_table import Strings
from state.row_store import Net


def seed_of_cell(cell: Cell, catalog: Catalog, states: Mapping[str, bytes | None]) -> bytes:
    """Return the state of `cell` at a moment, of which `states` has those of its tables' shards, by their names.

    A shard that has none yet is empty, as is one of a table that was dropped since. Raises StateError if a state is
    another shard's, or of another declaration of its table; KeyError if the catalog lacks a table of the cell.
    """
    copies = {}
    for table in cell.tables:
        relation = catalog.relations[table]
        members = [alone(relation, shard, states.get(shard)) for shard in relation.shards]
        copies[table] = _copy(relation, cell.member(table), members)
    folds = _folds(cell, catalog, states)
    return CellState(cell, copies, Group(cell.name, [*copies.values(), *folds])).dump()


def _folds(cell: Cell, catalog: Catalog, states: Mapping[str, bytes | None]) -> Iterator[ShardState]:
    """Yield the folds of the streams of a cell that have begun, as members of it."""
    for name, stream in folds_in(catalog, cell).items():
        (stage,) = (stage for stage in stages_beside(catalog, stream) if stage.relation.name == name)
        group = catalog.relations[stream].shard
        member = Group.open(group, {stage.member: stage.relation}, states.get(group))[stage.member]
        if member.filled:
            copy = ShardState(stage.relation, cell.member(name))
            copy.table, copy.plan, copy.filled = member.table, member.plan, True
            copy.first_window, copy.last_gone = member.first_window, member.last_gone
            copy.table.forget(copy.table.channels)
            yield copy


def _copy(relation: Relation, name: str, members: Sequence[ShardState]) -> ShardState:
    """Return one member that remembers what all of `members` do."""
    copy = ShardState(relation, name)
    if len(members) == 1:
        copy.table = members[0].table
        copy.table.forget(copy.table.channels)
    else:
        for member in members:
            stored = member.table.stored
            rows = stored.delta(Net(Strings.of([]), np.arange(len(stored))))
            copy.table.apply(rows.changes())
    copy.highest_partition = max(member.highest_partition for member in members)
    for moment, image in (row for member in members for row in member.graves.stored()):
        copy.graves.bury(moment, image)
    copy.repeats = Repeats.merged([member.repeats for member in members])
    copy.horizon = members[0].horizon
    return copy
