"""How cells come live, step by step, over a cluster and files in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

import pytest

from catalog.schema.catalog import Catalog
from catalog.schema.cell import Cell, cell_name
from connectors.record import OutRecord
from connectors.topics import Topics
from operators.control import Withdraw
from streaming.checkpoint.checkpoint import CellSeed, Checkpoint, Sidecar
from streaming.checkpoint.files import LocalFiles
from streaming.engine import cell_births
from streaming.engine.cell_births import CellBirths
from streaming.engine.stored_state import StoredGroup
from streaming.epoch.catalog_versions import CatalogTopic
from tests.streaming.memory_cluster import MemoryCluster
from tests.streaming.spark_logs import commit

TOPICS = Topics("t.")
PAIR = cell_name(["a", "b"])
TABLES = "; ".join(f"CREATE TABLE {name} (id BIGINT PRIMARY KEY) WITH ('topic'='{name}')" for name in "abc")


def seed_of(cell: Cell, catalog: Catalog, states: Mapping[str, bytes]) -> bytes:
    """A seed that shows what it was made of."""
    return repr((cell.tables, cell.born, catalog.version, dict(sorted(states.items())))).encode()


class World:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cluster = MemoryCluster(TOPICS)
        self.states = {"a/0": b"rows of a", "b/0": b"rows of b"}
        self.asked: list[set[str]] = []
        self.sidecar = Sidecar(claim="c", epoch=4)
        self.open()

    def open(self) -> None:
        """Begin anew with what is in the files."""
        self.checkpoint = Checkpoint(LocalFiles(self.folder), "c")
        self.sidecar = self.checkpoint.load() or self.sidecar
        self.catalogs = CatalogTopic(self.cluster, TOPICS)
        self.catalogs.poll()
        self.births = CellBirths(
            self.cluster, TOPICS, self.checkpoint, self.sidecar, self.catalogs, self._read_groups, seed_of
        )

    def _read_groups(self, groups: Collection[str], most: int) -> dict[str, StoredGroup]:
        self.asked.append(set(groups))
        held = {group: self.states[group] for group in groups if group in self.states}
        return {group: StoredGroup(len(data), data if len(data) <= most else None) for group, data in held.items()}

    def declare(self, *texts: str) -> int:
        self.cluster.append([OutRecord(TOPICS.catalog, 0, None, text.encode()) for text in texts])
        self.catalogs.poll()
        return self.catalogs.version

    def commit(self, batch: int, registrations: int) -> None:
        commit(self.folder, batch, {TOPICS.registrations: {"0": registrations, "1": 0}})

    def seeds(self, version: int) -> dict[str, bytes]:
        return self.births.seeds([self.catalogs.at(version)])


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.declare(TABLES)
    return made


def test_a_cell_begins_with_what_its_tables_hold_until_it_has_a_state_of_its_own(world: World) -> None:
    world.commit(0, 3)
    version = world.declare("CREATE JOIN a, b")
    assert world.births.prepare(world.catalogs.at(0), version) == version == 1
    seed = repr((("a", "b"), 1, 1, {"a/0": b"rows of a", "b/0": b"rows of b"})).encode()
    assert world.sidecar.cells == {PAIR: CellSeed(1)}
    assert world.seeds(version) == {PAIR: seed}
    world.births.touch()
    world.births.touch()
    [record] = world.cluster.logs[TOPICS.registrations][0]
    assert record.key == PAIR.encode()
    assert world.cluster.controls(TOPICS.registrations) == [Withdraw(4, 0, [])]
    assert world.sidecar.cells == {PAIR: CellSeed(1, 0)}
    world.commit(1, 0)
    assert world.seeds(version) == {PAIR: seed}, "a batch that ends before the record"
    world.commit(2, 1)
    assert world.seeds(version) == {}
    assert world.sidecar.cells == {}
    assert world.checkpoint.seed(PAIR, 1) == b""


def test_killed_before_the_sidecar_the_next_start_makes_the_same_seed(world: World) -> None:
    world.commit(0, 3)
    world.checkpoint.store(world.sidecar)
    version = world.declare("CREATE JOIN a, b")
    world.births.prepare(world.catalogs.at(0), version)
    first = world.checkpoint.seed(PAIR, 1)
    world.open()
    assert world.sidecar.cells == {}
    world.births.prepare(world.catalogs.at(0), version)
    assert world.checkpoint.seed(PAIR, 1) == first
    world.checkpoint.store(world.sidecar)
    world.open()
    assert world.seeds(version) == {PAIR: first}


def test_killed_before_the_sidecar_says_where_the_record_is_it_is_written_again(world: World) -> None:
    world.commit(0, 0)
    version = world.declare("CREATE JOIN a, b")
    world.births.prepare(world.catalogs.at(0), version)
    world.checkpoint.store(world.sidecar)
    world.births.touch()
    world.checkpoint.store(Sidecar(claim="c", epoch=4, cells={PAIR: CellSeed(1)}))
    world.open()
    world.births.touch()
    assert world.sidecar.cells == {PAIR: CellSeed(1, 1)}


def test_a_checkpoint_that_reads_everything_needs_no_seeds(world: World) -> None:
    version = world.declare("CREATE JOIN a, b")
    assert world.births.prepare(None, version) == version
    assert world.asked == [] and world.sidecar.cells == {} and world.seeds(version) == {}


def test_a_rebuilt_checkpoint_begins_with_seeds_for_its_cells_whatever_they_take(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cell_births, "MOST_BYTES", 5)
    version = world.declare("CREATE JOIN a, b")
    world.sidecar.seeds = {"a/0": "a", "b/0": "b"}
    assert world.births.prepare(None, version) == version
    assert world.seeds(version)[PAIR].endswith(b"{'a/0': b'rows of a', 'b/0': b'rows of b'})")


def test_a_cell_that_is_dropped_and_made_again_gets_a_new_seed(world: World) -> None:
    world.commit(0, 0)
    first = world.declare("CREATE JOIN a, b")
    world.births.prepare(world.catalogs.at(0), first)
    dropped = world.declare("DROP JOIN a, b")
    both = [world.catalogs.at(first), world.catalogs.at(dropped)]
    assert list(world.births.seeds(both)) == [PAIR], "a batch that is planned runs again under the version with it"
    assert world.seeds(dropped) == {}
    world.states["a/0"] = b"others"
    again = world.declare("CREATE JOIN b, a")
    world.births.prepare(world.catalogs.at(dropped), again)
    assert world.sidecar.cells == {PAIR: CellSeed(again)}
    assert b"others" in world.seeds(again)[PAIR]


def test_cells_that_are_too_large_are_refused_in_the_catalog(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cell_births, "MOST_BYTES", 17)
    world.commit(0, 0)
    version = world.declare("CREATE JOIN a, b", "CREATE JOIN c, a")
    assert world.births.prepare(world.catalogs.at(0), version) == version + 1
    [record] = world.cluster.logs[TOPICS.catalog][0][version + 1 :]
    why = "its tables hold more than 0 MB of state: `a` 0.0 MB, `b` 0.0 MB"
    assert (record.value or b"").decode() == f"REFUSE JOIN a, b BECAUSE '{why}'"
    assert world.catalogs.newest.unserved == {PAIR: why}
    assert list(world.sidecar.cells) == [cell_name(["a", "c"])]
    assert world.asked == [{"a/0", "b/0", "c/0"}], "once"


def test_while_a_batch_is_under_way_versions_up_to_the_first_with_a_new_cell_are_entered(world: World) -> None:
    world.sidecar.announced = 0
    before = world.catalogs.at(0)
    assert world.births.enterable(before) == 0
    world.declare("DROP TABLE c", "CREATE JOIN a, b", "CREATE TABLE c (id BIGINT PRIMARY KEY) WITH ('topic'='c')")
    assert world.births.enterable(before) == 1
    assert world.births.enterable(world.catalogs.at(2)) == 3
    world.declare("DROP JOIN a, b")
    assert world.births.enterable(before) == 4


def test_cells_alone_come_some_time_after_those_before_them(world: World) -> None:
    assert world.births.due()
    world.births.attempted()
    assert not world.births.due()
    world.births.seconds = 0.0
    assert world.births.due()
