from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import msgspec
import numpy as np
import pytest
from pyspark.sql import SparkSession

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from catalog.schema.cell import Cell
from connectors.log.publication_log import PublicationLog
from connectors.placement import Member, Placement
from connectors.record import OutRecord
from connectors.topics import Topics
from operators.control import Offsets, RegisterAll
from operators.silenced import Silenced
from operators.stored_rows import stored_rows
from shard.cell import CellState
from shard.group import Group, alone
from shard.pipeline import process_group
from shard.state import ShardState
from shard.view_rows import view_rows
from streaming.checkpoint.checkpoint import Checkpoint, Sidecar
from streaming.checkpoint.files import LocalFiles
from streaming.checkpoint.generation import Generations
from streaming.engine.engine import beginning_of
from streaming.engine.query_controller import EngineContext
from streaming.engine.rebuild import NothingToRebuildError, prepare, read_seed, untouched
from streaming.engine.stored_state import read_groups, read_state
from streaming.log.keeper import LogConfig
from tests.connectors.small_log import Published, small_log
from tests.streaming.conftest import World
from tests.streaming.memory_cluster import MemoryCluster
from tests.streaming.waiting import eventually

TOPICS = Topics()
CATALOG = apply_ddl(Catalog(), "CREATE TABLE stock (id BIGINT PRIMARY KEY, price BIGINT)", 0)
RELATION = CATALOG.relations["stock"]


def rows_of(state: ShardState) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in stored_rows(state.relation, state.table.stored)]


def filled(folder: Path, topic_id: str) -> PublicationLog:
    log = small_log(folder)
    values = [json.dumps({"id": n % 2, "price": n}).encode() for n in range(3)]
    keys = [b"%d" % (n % 2) for n in range(3)]
    log.commit([Published("stock", 0, n, keys[n], values[n], n, topic_id) for n in range(3)])
    return PublicationLog(log.uri)


def test_seeds_and_where_to_go_on(tmp_path: Path) -> None:
    cluster = MemoryCluster(TOPICS)
    cluster.create("stock", 2)
    cluster.append([OutRecord("stock", 1, None, b"x")] * 4)
    cluster.first["stock"] = {0: 1, 1: 2}
    log, files = filled(tmp_path, cluster.ids(["stock"])["stock"]), LocalFiles(tmp_path / "new")
    prepare("stock", log, CATALOG, cluster, TOPICS, files, "new")
    sidecar = Checkpoint(files, "new").load()
    assert sidecar is not None
    assert sidecar.epoch == -1
    assert sidecar.begin == {"stock": {"0": 3, "1": 2}}
    assert rows_of(alone(RELATION, "stock/0", read_seed(files, "stock/0"))) == [(0, 2), (1, 1)]
    assert untouched(sidecar, {}) == untouched(sidecar, {"stock": {"0": 3, "1": 2}}) == ["stock/0"]
    assert untouched(sidecar, {"stock": {"0": 3, "1": 3}}) == []
    assert read_seed(files, "bond/0") is None


def test_a_log_of_another_topic_rebuilds_nothing(tmp_path: Path) -> None:
    cluster = MemoryCluster(TOPICS)
    cluster.create("stock", 1)
    with pytest.raises(NothingToRebuildError, match="nothing of the topic of table `stock`"):
        prepare("stock", filled(tmp_path, "other"), CATALOG, cluster, TOPICS, LocalFiles(tmp_path / "new"), "new")


def test_a_view_is_rebuilt_with_all_that_it_reads(tmp_path: Path) -> None:
    ddl = "CREATE TABLE bond (id BIGINT PRIMARY KEY); CREATE VIEW low AS SELECT MIN(price) AS low FROM stock; "
    catalog = apply_ddl(CATALOG, f"{ddl}CREATE VIEW both AS SELECT s.id FROM stock s JOIN bond b ON s.id = b.id", 1)
    cluster = MemoryCluster(TOPICS)
    for topic in ("stock", "bond"):
        cluster.create(topic, 1)
    log = filled(tmp_path, cluster.ids(["stock"])["stock"])
    prepare("low", log, catalog, cluster, TOPICS, LocalFiles(tmp_path / "new"), "new")
    assert read_seed(LocalFiles(tmp_path / "new"), "stock/0") is not None
    with pytest.raises(NothingToRebuildError, match="`both` as it is now, which is a view, or of one of its tables"):
        prepare("both", log, catalog, cluster, TOPICS, LocalFiles(tmp_path / "other"), "other")


def test_a_group_of_two_tables_is_seeded_as_one(tmp_path: Path) -> None:
    catalog = apply_ddl(CATALOG, "CREATE TABLE bond (id BIGINT PRIMARY KEY)", 1)
    cluster = MemoryCluster(TOPICS)
    for topic in ("stock", "bond"):
        cluster.create(topic, 1)
    log, files = filled(tmp_path, cluster.ids(["stock"])["stock"]), LocalFiles(tmp_path / "new")

    def place(known: Catalog) -> Placement:
        return Placement({"pair": [Member(f"{name}/0", relation) for name, relation in known.relations.items()]})

    sidecar = prepare("stock", log, catalog, cluster, TOPICS, files, "new", place)
    assert Checkpoint(files, "new").load() == sidecar
    assert sidecar.seeds == {"pair": {"stock/0": "stock"}}, "the log does not hold the other"
    tables = {f"{name}/0": relation for name, relation in catalog.relations.items()}
    group = Group.open("pair", tables, None, read_seed(files, "pair"))
    assert rows_of(group["stock/0"]) == [(0, 2), (1, 1)] and rows_of(group["bond/0"]) == []


def test_a_seed_counts_until_a_row_has_come_to_the_group_for_certain() -> None:
    begin = {topic: {"0": 1} for topic in ("a", "b", "c")}
    seeds: dict[str, str | dict[str, str]] = {
        "a/0": "a", "b/0": "b", "b/1": "b", "pair": {"c/0": "c", "copy of b": "b"},
    }  # fmt: skip
    sidecar = Sidecar(claim="claim", seeds=seeds, begin=begin)
    for topic, still in (("a", ["b/0", "b/1", "pair"]), ("b", list(seeds)), ("c", ["a/0", "b/0", "b/1"])):
        assert untouched(sidecar, begin | {topic: {"0": 2}}) == still


def test_a_batch_that_runs_again_begins_with_the_same_seeds(tmp_path: Path) -> None:
    files = LocalFiles(tmp_path)
    files.write("tidewire/seeds/stock/0", b"seed")
    sidecar = Sidecar(claim="claim", seeds={"stock/0": "stock"}, begin={"stock": {"0": 3}})
    cluster = MemoryCluster(TOPICS)
    cluster.create("stock", 1)
    context = SimpleNamespace(sidecar=sidecar, checkpoint=Checkpoint(files, "new"), cluster=cluster)

    def begins() -> tuple[Offsets, dict[str, bytes]]:
        return beginning_of(cast(EngineContext, context), ["stock"], files)

    assert begins() == ({"stock": {"0": 3}}, {"stock/0": b"seed"})
    files.write("offsets/0", b'v1\n{}\n{"stock":{"0":5}}')
    assert begins() == ({}, {"stock/0": b"seed"}), "planned, not committed"
    files.write("commits/0", b"v1")
    assert begins() == ({}, {})


@pytest.mark.broker
@pytest.mark.spark
@pytest.mark.timeout(900)
def test_a_state_that_is_gone_comes_back_from_the_log(world: World, spark: SparkSession, tmp_path: Path) -> None:
    """The topic itself has been trimmed meanwhile, so nothing but the log knows the rows. So does the cell's copy."""
    world.declare("stock")
    world.apply("CREATE JOIN stock")
    world.make("stock")
    topic = world.name("stock")
    ddl = f"CREATE TABLE stock (id VARCHAR PRIMARY KEY, price BIGINT) WITH ('topic'='{topic}')"
    relation = apply_ddl(Catalog(), ddl, 0).relations["stock"]
    log = LogConfig(str(tmp_path / "publications"), seconds=0.3)
    world.publish("stock", b'{"id":"a","price":1}', b'{"id":"a","price":2}')
    world.publish("stock", b'{"id":"b","price":3}', key=b'"b"')
    engine = world.engine(process=process_group, log=log)
    eventually(lambda: world.last_end().get(topic) == {"0": 3}, 300, failure=lambda: engine.error)
    eventually(lambda: list(Path(log.table).glob("*.parquet")) and PublicationLog(log.table).size.rows == 3, 300)
    first = world.sidecar()["epoch"]
    generations = Generations(LocalFiles(world.checkpoint), str(world.checkpoint))
    generations.ask("stock")
    assert "is to be rebuilt" in str(engine.failure())
    world.admin.delete_records({(topic, 0): 3})
    shutil.rmtree(world.checkpoint / "state")
    engine = world.engine(process=process_group, log=log)
    eventually(lambda: generations.read().number == 1, 300, failure=lambda: engine.error)
    world.publish("stock", b'{"id":"c","price":4}', key=b'"c"')
    where = str(world.checkpoint)
    eventually(lambda: world.last_end().get(topic) == {"0": 4}, 300, failure=lambda: engine.error)
    progress = world.progress()[-1]
    assert progress.epoch > first
    assert next(p for p in world.progress() if p.epoch == progress.epoch and p.end).start[topic] == {"0": 3}
    found = read_state(spark, where, relation)
    assert found is not None
    assert rows_of(*found.states) == [("a", 2), ("b", 3), ("c", 4)]
    cell = Cell(("stock",), 1)
    stored = read_groups(spark, generations.location(), [cell.name])[cell.name]
    assert rows_of(CellState.open(cell, {"stock": relation}, stored.data).copies["stock"]) == rows_of(*found.states)
    eventually(lambda: any(isinstance(c, RegisterAll) and c.epoch == progress.epoch for c in world.controls()), 60)
    engine.stop()
    assert engine.error is None


def test_what_views_of_streams_have_is_rebuilt_with_the_silences_that_counted(tmp_path: Path) -> None:
    ddl = (
        "CREATE STREAM s (g VARCHAR, ts TIMESTAMP) WITH ('event_time'='ts', 'lateness'='1 min', 'ahead'='36500 days');"
        "CREATE VIEW v AS SELECT g, DATE_TRUNC('hour', ts) AS hour, COUNT(*) AS n FROM s "
        "GROUP BY g, DATE_TRUNC('hour', ts)"
    )
    catalog = apply_ddl(Catalog(), ddl, 0)
    cluster = MemoryCluster(TOPICS)
    cluster.create("s", 1)
    counted = Silenced("s", 0, 0, 2, int(np.datetime64("2026-03-02T10:30:00", "us").astype(np.int64)))
    cluster.append([OutRecord(TOPICS.silences, 0, counted.key, msgspec.json.encode(counted))])
    log = small_log(tmp_path)
    times = ["10:01:00", "10:02:00", "10:28:59", "10:29:00"]
    values = [json.dumps({"g": "a", "ts": f"2026-03-02T{time}"}).encode() for time in times]
    log.commit([Published("s", 0, n, b"", value, n, cluster.ids(["s"])["s"]) for n, value in enumerate(values)])
    files = LocalFiles(tmp_path / "new")
    prepare("v", PublicationLog(log.uri), catalog, cluster, TOPICS, files, "new")
    seed = read_seed(files, "s/0")
    (state,) = view_rows(catalog.views["v"], catalog, {"s/0": seed})
    ((_, _, counting),) = rows_of(state)
    assert counting == 3, "the third row is late by the silence before it"
