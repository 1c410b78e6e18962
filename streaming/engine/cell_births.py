"""Cells come live: each begins with copies of what the shards of its tables hold at the end of a batch.

A version of the catalog that creates a cell is entered only where every batch that is planned is committed, since the
copies are of the last committed one, and the cell reads its tables' topics from the next one on:

    1. the states of the tables' shards are read
    2. a cell whose tables hold too much is refused in the catalog itself, as the version after it
    3. the seed of each cell is written to a file, named by the cell and the version that creates it
    4. the sidecar says which version holds from which batch, and which cells have a seed: one write
    5. a record that does nothing is written to each cell, and the sidecar says where; from the batch on that has read
       it the cell has a state of its own, whatever its tables do, and the seed is not needed any more

Killed anywhere, the next start does the same: until 4 the version is not entered, and the states are the same ones; a
second record under 5 does as little as the first. A seed counts until the cell has a state of the same birth
(`shard/group.py`), so a cell that was dropped and is created again begins with a new one.

A start of the query stops all shards for some seconds. So what changes nothing but cells waits until `seconds` after
the last start for cells, and then comes all together.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from catalog.schema.catalog import Catalog
from catalog.schema.cell import Cell
from catalog.sql.names import quoted
from connectors.record import OutRecord
from connectors.topics import Topics
from operators.control import Withdraw, encode_control
from streaming.checkpoint.checkpoint import CellSeed, Checkpoint, Sidecar
from streaming.engine.stored_state import StoredGroup
from streaming.epoch.catalog_versions import CatalogTopic, created_cells
from streaming.epoch.cluster import Cluster

CELL_SECONDS = 30.0
MOST_BYTES = 16_000_000
"""The most that the states of a cell's tables may have together when it is created. Later it may grow."""
_LOG = logging.getLogger("tidewire.engine")

ReadGroups = Callable[[Collection[str], int], Mapping[str, StoredGroup]]
"""Returns the states of groups by name, of those that have one; no bytes of what is larger than the number given."""
MakeSeed = Callable[[Cell, Catalog, Mapping[str, bytes]], bytes]
"""Returns the state with which a cell begins, from those of its tables' shards."""


@dataclass
class CellBirths:
    """Brings cells to life. `seconds`: see the module's header.

    *Cost*: reading states takes 1-3 s, whatever is read; all else is small."""

    cluster: Cluster
    topics: Topics
    checkpoint: Checkpoint
    sidecar: Sidecar
    catalogs: CatalogTopic
    read_groups: ReadGroups
    make_seed: MakeSeed
    seconds: float = CELL_SECONDS
    _attempted: float = field(default=float("-inf"), init=False)

    def due(self) -> bool:
        """Whether the query may be started anew for cells alone."""
        return time.monotonic() >= self._attempted + self.seconds

    def attempted(self) -> None:
        """Note that the query is started anew for cells now, be it that it comes to nothing."""
        self._attempted = time.monotonic()

    def enterable(self, before: Catalog) -> int:
        """Return the newest version that can be entered while a batch is under way: those until one creates a cell."""
        newest, announced = self.catalogs.version, self.sidecar.announced
        able = (v for v in range(newest, announced, -1) if not created_cells(before, self.catalogs.at(v)))
        return next(able, announced)

    def prepare(self, before: Catalog | None, version: int) -> int:
        """1 to 3. Return the version to enter: `version`, or that in which the engine has refused some of its cells.

        A new checkpoint that reads all topics from their beginning (`before` is None) needs no seeds. One that was
        rebuilt does, and has to take what there was.
        """
        states: dict[str, StoredGroup] = {}
        read: set[str] = set()
        most = sys.maxsize if before is None else MOST_BYTES
        while cells := self._to_seed(before, version):
            catalog = self.catalogs.at(version)
            unread = {shard for cell in cells for shard in _shards(cell, catalog)} - read
            began = time.monotonic()
            states |= self.read_groups(unread, most) if unread else {}
            _LOG.info("read the states of %d shards for cells in %.1f s", len(unread), time.monotonic() - began)
            read |= unread
            refusals = list(_refusals(cells, catalog, states, most))
            if not refusals:
                self._seed(cells, catalog, states)
                break
            self._refuse(refusals)
            version = self.catalogs.version
        return version

    def touch(self) -> None:
        """5. Write to each seeded cell, unless that was done."""
        cells = {name: seed for name, seed in self.sidecar.cells.items() if seed.touch is None}
        if not cells:
            return
        nothing = encode_control(Withdraw(self.sidecar.epoch, 0, []))
        records = [OutRecord(self.topics.registrations, 0, name.encode(), nothing) for name in cells]
        for seed, offset in zip(cells.values(), self.cluster.append(records), strict=True):
            seed.touch = offset
        self.checkpoint.store(self.sidecar)

    def seeds(self, catalogs: Iterable[Catalog]) -> dict[str, bytes]:
        """Return the seeds of cells that may have no state of their own; `catalogs` are all that batches may run under.

        Those that are not needed any more are forgotten.
        """
        living = {(cell.name, cell.born) for catalog in catalogs for cell in catalog.cells.values()}
        reached, cells = self._reached(), self.sidecar.cells
        for name, seed in list(cells.items()):
            touched = seed.touch is not None and reached > seed.touch
            if touched or (name, seed.born) not in living:
                del cells[name]
                self.checkpoint.store(self.sidecar)
                self.checkpoint.store_seed(name, seed.born, b"")
        return {name: self.checkpoint.seed(name, seed.born) for name, seed in cells.items()}

    def _to_seed(self, before: Catalog | None, version: int) -> list[Cell]:
        from_nothing = self.checkpoint.last_committed() < 0 and not self.sidecar.seeds
        return [] if from_nothing else created_cells(before, self.catalogs.at(version))

    def _seed(self, cells: Sequence[Cell], catalog: Catalog, states: Mapping[str, StoredGroup]) -> None:
        for cell in cells:
            found = {shard: states[shard].data for shard in _shards(cell, catalog) if shard in states}
            seed = self.make_seed(cell, catalog, {shard: data for shard, data in found.items() if data is not None})
            self.checkpoint.store_seed(cell.name, cell.born, seed)
            self.sidecar.cells[cell.name] = CellSeed(cell.born)
            _LOG.info("cell of %s: begins with %.1f MB", ", ".join(cell.tables), len(seed) / 1e6)

    def _refuse(self, statements: Sequence[str]) -> None:
        """2. Write the statements and read them back."""
        for statement in statements:
            _LOG.warning("%s", statement)
        self.cluster.append([OutRecord(self.topics.catalog, 0, None, text.encode()) for text in statements])
        self.catalogs.poll()

    def _reached(self) -> int:
        """Return how far committed batches have read partition 0 of `registrations`."""
        committed = self.checkpoint.last_committed()
        ends = self.checkpoint.end_offsets(committed) if committed >= 0 else {}
        return ends.get(self.topics.registrations, {}).get("0", 0)


def _shards(cell: Cell, catalog: Catalog) -> list[str]:
    return [shard for table in cell.tables for shard in catalog.relations[table].shards]


def _refusals(cells: Iterable[Cell], catalog: Catalog, states: Mapping[str, StoredGroup], most: int) -> Iterator[str]:
    """Yield the statement that refuses a cell, for each whose tables hold more than `most` bytes."""
    for cell in cells:
        sizes = {
            table: sum(states[shard].size for shard in catalog.relations[table].shards if shard in states)
            for table in cell.tables
        }
        if sum(sizes.values()) > most:
            held = ", ".join(f"`{table}` {size / 1e6:.1f} MB" for table, size in sizes.items())
            why = f"its tables hold more than {most / 1e6:.0f} MB of state: {held}".replace("'", "''")
            yield f"REFUSE JOIN {', '.join(map(quoted, cell.tables))} BECAUSE '{why}'"
