"""Tables, cells and their groups without Kafka and Spark: logs, what groups remember, and batches that are run twice.

Every batch is run again from other pieces, as after a crash: the same bytes must come.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from random import Random

import msgspec
import numpy as np

from catalog.query.shape import Region
from catalog.schema.catalog import Catalog
from connectors.placement import Placement
from connectors.record import OutRecord, RawRecords
from connectors.topics import Topics
from operators.control import Control, encode_control
from operators.packed import Header, pack_registrations
from shard.bounds import Bounds
from shard.cell import CellState
from shard.cell_seed import seed_of_cell
from shard.group import alone
from shard.group_spec import GroupSpec
from shard.pipeline import process_group
from shard.state import ShardState

TOPICS = Topics()
Place = tuple[str, int]
Logged = tuple[bytes | None, bytes | None, int]


class CellStack:
    """Logs by topic and partition, states by group; `epoch` is that of all that is registered."""

    def __init__(self, catalog: Catalog, edges: int, rng: Random, bounds: Bounds | None = None) -> None:
        self.catalog = catalog
        self.edges = edges
        self.bounds = bounds or Bounds()
        self.epoch = 7
        self.batch = -1
        self.logs: dict[Place, list[Logged]] = defaultdict(list)
        self.states: dict[str, bytes | None] = {}
        self.seeds: dict[str, bytes] = {}
        self._read: dict[Place, int] = defaultdict(int)
        self._rng = rng
        self._appended = 0

    def append(self, topic: str, key: bytes | None, value: bytes | None, partition: int = 0, stamp: int = -1) -> None:
        """Write a record, later than all before unless `stamp` says otherwise."""
        self._appended += 1
        self.logs[topic, partition].append((key, value, self._appended if stamp < 0 else stamp))

    def change(self, table: str, key: int | None, event: object, partition: int = 0) -> None:
        """Write what a database's connector says of a row."""
        stated = None if key is None else msgspec.json.encode({"id": key})
        self.append(self.catalog.relations[table].topic, stated, msgspec.json.encode(event), partition)

    def register(
        self, group: str, ve: int, versions: Sequence[int], regions: Sequence[Region], anew: bool = False, **how: object
    ) -> None:
        """Register regions with a group."""
        header = Header("register", self.epoch, group, ve=ve, catalog=self.catalog.version, anew=anew)
        for value in pack_registrations(header, versions, regions, **how):  # type: ignore[arg-type]
            self.append(TOPICS.registrations, group.encode(), value, ve)

    def tell(self, group: str, ve: int, record: Control) -> None:
        """Tell a group something else."""
        self.append(TOPICS.registrations, group.encode(), encode_control(record), ve)

    def declare(self, catalog: Catalog) -> None:
        """Let another catalog hold from the next batch on; its new cells begin with a seed."""
        for cell in catalog.cells.values():
            if self.catalog.cells.get(cell.name) != cell:
                self.seeds[cell.name] = seed_of_cell(cell, catalog, self.states)
        self.catalog = catalog

    def run(self) -> dict[str, list[OutRecord]]:
        """Run a batch over all that is unread; return what each group wrote."""
        self.batch += 1
        placement = Placement.of(self.catalog)
        pieces = self._pieces(placement)
        results = {group: self._result(placement, group, its) for group, its in sorted(pieces.items())}
        again = {group: self._result(placement, group, its) for group, its in sorted(self._pieces(placement).items())}
        assert again == results, "a batch that is run again gives the same bytes"
        self._read.update({place: len(log) for place, log in self.logs.items()})
        self.states |= {group: result.state for group, result in results.items()}
        return {group: result.out for group, result in results.items()}

    def cell(self, name: str) -> CellState:
        """Return what a cell remembers."""
        cell = self.catalog.cells[name]
        return CellState.open(cell, self.catalog.relations, self.states.get(name), self.seeds.get(name))

    def shards(self, table: str) -> list[ShardState]:
        """Return what the shards of a table remember."""
        relation = self.catalog.relations[table]
        return [alone(relation, shard, self.states.get(shard)) for shard in relation.shards]

    def _result(self, placement: Placement, group: str, records: Sequence[RawRecords]):
        members = placement.members(group)
        named = (self.epoch, group, self.catalog, TOPICS, self.edges, frozenset[str](), members)
        spec = GroupSpec(*named, seed=self.seeds.get(group), bounds=self.bounds)
        return process_group(spec, self.batch, self.states.get(group), records)

    def _pieces(self, placement: Placement) -> dict[str, list[RawRecords]]:
        """Return the unread records of each group, cut and shuffled."""
        found: dict[str, list[RawRecords]] = defaultdict(list)
        for (topic, partition), log in self.logs.items():
            start = self._read[topic, partition]
            keys = [key for key, _, _ in log[start:]]
            for group, places in self._groups(placement, topic, keys):
                cut = self._rng.randint(0, len(places))
                for part in filter(None, (places[:cut], places[cut:])):
                    found[group].append(raw(topic, partition, [(start + i, log[start + i]) for i in part]))
        for its in found.values():
            self._rng.shuffle(its)
        return found

    @staticmethod
    def _groups(placement: Placement, topic: str, keys: list[bytes | None]) -> list[tuple[str, list[int]]]:
        if topic != TOPICS.registrations:
            parts = placement.of_records(topic, keys) if keys else ()
            return [
                (group, [*range(len(keys))] if places is None else places.tolist())
                for groups, places in parts
                for group in groups
            ]
        asked: dict[str, list[int]] = defaultdict(list)
        for i, key in enumerate(keys):
            for group in placement.of_registration(key):
                asked[group].append(i)
        return [*asked.items()]


def rows_of(members: Sequence[ShardState], images: Callable[[ShardState, int], object] | None = None) -> dict:
    """Return the rows of members by primary key."""
    return {
        member.table.stored.key(row): member.table.stored.image(row) if images is None else images(member, row)
        for member in members
        for row in range(member.table.rows)
    }


def raw(topic: str, partition: int, records: list[tuple[int, Logged]]) -> RawRecords:
    return RawRecords(
        topic,
        [record[0] for _, record in records],
        [record[1] for _, record in records],
        np.full(len(records), partition, np.int32),
        np.array([offset for offset, _ in records], np.int64),
        np.array([record[2] for _, record in records], np.int64),
    )
