"""What a group must know to run a batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from catalog.schema.catalog import Catalog
from catalog.schema.cell import Cell
from catalog.schema.placed_stage import PlacedStage, stages_beside, stages_in
from catalog.schema.relation import Relation
from connectors.topics import Topics
from operators.silenced import Silenced
from shard.bounds import Bounds
from shard.snapshot import DIGEST_KEY


@dataclass(frozen=True, slots=True)
class GroupSpec:
    """What a group must know: the epoch, its name, the catalog of this batch, the topics, the virtual edges.

    `several` are the topics that are known to have several partitions. `members` are the shards that it holds; where
    none is named it is the shard of its name. `seed` has what members begin with that have no state yet
    (shard/group.py). `bounds` are what subscriptions may make each member hold; `digest_key` has the 16 bytes under
    which rows are hashed. Of streams: `counts` says how many partitions topics have, as far as is known; `silenced`, by
    stream, where silences have counted before there was a state.
    """

    epoch: int
    group: str
    catalog: Catalog
    topics: Topics
    partitions: int
    several: frozenset[str] = frozenset()
    members: tuple[str, ...] = ()
    seed: bytes | None = None
    bounds: Bounds = field(default_factory=Bounds)
    digest_key: bytes = DIGEST_KEY
    counts: Mapping[str, int] = field(default_factory=dict)
    silenced: Mapping[str, tuple[Silenced, ...]] = field(default_factory=dict)

    @property
    def cell(self) -> Cell | None:
        """The cell that the group is, None where it is none that the catalog has, with all its tables."""
        cell = self.catalog.cells.get(self.group)
        return cell if cell is not None and all(table in self.catalog.relations for table in cell.tables) else None

    @property
    def tables(self) -> dict[str, Relation]:
        """The tables by member, with the relation that each holds, or holds a bucket of, as far as the catalog has it.

        In order of their names.
        """
        named = {shard: self.catalog.relation_of(shard) for shard in sorted(self.members or (self.group,))}
        tables = self.catalog.relations
        return {shard: each for shard, each in named.items() if each is not None and each.name in tables}

    @property
    def stages(self) -> tuple[PlacedStage, ...]:
        """The stages of views that are computed in the group, each behind those that it reads."""
        if not self.catalog.views:
            return ()
        if self.cell is not None:
            return stages_in(self.catalog, self.cell)
        parts = (stages_beside(self.catalog, each.name, bucket_of(shard)) for shard, each in self.tables.items())
        return tuple(stage for part in parts for stage in part)


def bucket_of(shard: str) -> int:
    """Return which bucket of its table a shard has."""
    return int(shard.rpartition("/")[2])
