"""When shards are told to write a view to its topic, step by step, over a cluster and files in memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from catalog.schema.cell import cell_name
from connectors.record import OutRecord
from connectors.topics import Topics
from operators.control import Write
from state import byte_runs
from streaming.checkpoint.checkpoint import Checkpoint, Sidecar, WrittenView
from streaming.checkpoint.files import LocalFiles
from streaming.engine import view_topics
from streaming.engine.view_topics import ViewTopics
from tests.streaming.memory_cluster import MemoryCluster

TOPICS = Topics("t.")
TABLES = "; ".join(
    [
        "CREATE TABLE a (id BIGINT PRIMARY KEY, x BIGINT)",
        "CREATE TABLE b (x BIGINT PRIMARY KEY)",
        "CREATE TABLE c (k VARCHAR, id BIGINT, PRIMARY KEY (k, id)) WITH ('buckets'='3', 'bucket.by'='k')",
    ]
)
CATALOG = apply_ddl(Catalog(prefix="t."), TABLES, 0)


def after(text: str, catalog: Catalog = CATALOG) -> Catalog:
    return apply_ddl(catalog, text, catalog.version + 1)


LOW = after("CREATE VIEW low WITH ('topic'='out') AS SELECT x, MIN(id) AS low FROM a GROUP BY x")


class World:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cluster = MemoryCluster(TOPICS)
        self.open(Sidecar(claim="c", epoch=4, registered=True))

    def open(self, sidecar: Sidecar | None = None) -> None:
        """Begin anew with what is in the files, or with `sidecar`."""
        checkpoint = Checkpoint(LocalFiles(self.folder), "c")
        self.sidecar = sidecar or checkpoint.load() or Sidecar(claim="none")
        self.topics = ViewTopics(self.cluster, TOPICS, checkpoint, self.sidecar)

    def start(self, catalog: Catalog) -> list[tuple[str, Write]]:
        """Start the query; return what is told to which shard."""
        before = len(self.cluster.appended)
        self.topics.look(catalog)
        self.topics.begin(catalog)
        told = self.cluster.appended[before:]
        assert all((record.topic, record.partition) == (TOPICS.registrations, 0) for record in told)
        commands = self.cluster.controls(TOPICS.registrations)
        writes = [one for one in commands[len(commands) - len(told) :] if isinstance(one, Write)]
        return [((record.key or b"").decode(), one) for record, one in zip(told, writes, strict=True)]

    def written(self, *lines: tuple[bytes, bytes | None], partition: int = 0) -> None:
        self.cluster.append([OutRecord("out", partition, key, value) for key, value in lines])


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_a_shard_is_told_once_and_its_topic_is_there(world: World) -> None:
    assert world.start(LOW) == [("low/0", Write(4, 1, True, []))]
    assert len(world.cluster.logs["out"]) == 4
    assert world.start(LOW) == []
    world.open()
    assert world.start(after("CREATE TABLE d (id BIGINT PRIMARY KEY)", LOW)) == []


def test_nothing_is_told_before_the_epoch_has_caught_up(world: World) -> None:
    world.sidecar.registered = False
    assert world.start(LOW) == [] and "out" in world.cluster.logs, "a batch that runs again may write to it"
    world.sidecar.registered = True
    assert [shard for shard, _ in world.start(LOW)] == ["low/0"]


def test_keys_that_stand_in_the_topic_go_with_it(world: World) -> None:
    world.cluster.create("out", 2)
    world.written((b'{"x":1}', b"{}"), (b'{"x":2}', b"{}"), (b'{"x":2}', None), (b"\xff", b"{}"))
    world.written((b'{"x":3}', None), (b'{"x":3}', b"{}"), partition=1)
    assert world.start(LOW) == [("low/0", Write(4, 1, True, ['{"x":1}', '{"x":3}']))]


def test_many_keys_take_several_records_of_which_one_asks_for_rows(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view_topics, "byte_runs", lambda sizes: byte_runs.byte_runs(sizes, 16))
    world.cluster.create("out")
    world.written(*[(b'{"x":%d}' % i, b"{}") for i in range(5)])
    told = [one for _, one in world.start(LOW)]
    assert [one.rows for one in told] == [True, False, False]
    assert [key for one in told for key in one.keys] == [f'{{"x":{i}}}' for i in range(5)]


def test_killed_before_it_is_remembered_it_is_told_again(world: World) -> None:
    before = world.sidecar
    world.topics.look(LOW)
    world.topics.checkpoint.store(before)
    world.topics.begin(LOW)
    world.topics.checkpoint.store(Sidecar(claim="c", epoch=4, registered=True))
    world.open()
    assert [shard for shard, _ in world.start(LOW)] == ["low/0"]


def test_another_view_of_the_name_or_another_topic_is_told_anew(world: World) -> None:
    world.start(LOW)
    anew = after(
        "DROP VIEW low; CREATE VIEW low WITH ('topic'='out') AS SELECT x, MAX(id) AS low FROM a GROUP BY x", LOW
    )
    assert world.start(anew) == [("low/0", Write(4, 2, True, []))]
    world.cluster.delete("out")
    assert world.start(anew) == [("low/0", Write(4, 2, True, []))] and "out" in world.cluster.logs
    dropped = after("DROP VIEW low", anew)
    assert world.start(dropped) == [] and world.sidecar.written == {} and "out" in world.cluster.logs
    assert world.topics.checkpoint.load() == world.sidecar


def test_keys_of_a_view_in_buckets_go_to_the_shard_of_each(world: World) -> None:
    catalog = after("CREATE VIEW v WITH ('topic'='out') AS SELECT k, COUNT(*) AS n FROM c GROUP BY k")
    world.cluster.create("out")
    world.written(*[(b'{"k":"%d"}' % i, b"{}") for i in range(9)])
    told = dict(world.start(catalog))
    assert list(told) == ["v/0", "v/1", "v/2"] and all(one.rows for one in told.values())
    assert sorted(key for one in told.values() for key in one.keys) == [f'{{"k":"{i}"}}' for i in range(9)]
    assert len({one.keys[0] for one in told.values()}) == 3


def test_a_view_whose_cell_is_not_served_waits(world: World) -> None:
    joined = after("CREATE VIEW j WITH ('topic'='out') AS SELECT a.id, b.x FROM a JOIN b ON a.x = b.x")
    refused = after("REFUSE JOIN a, b BECAUSE 'large'", joined)
    assert world.start(refused) == [] and "out" not in world.cluster.logs
    assert [shard for shard, _ in world.start(joined)] == ["j/0"] and joined.cells[cell_name(["a", "b"])]


def test_what_an_earlier_version_remembers_is_read(world: World) -> None:
    (world.folder / "tidewire").mkdir()
    (world.folder / "tidewire" / "engine.json").write_text('{"claim":"c","epoch":4,"registered":true}')
    world.open()
    assert world.sidecar.written == {}
    world.start(LOW)
    assert world.sidecar.written == {"low": WrittenView(1, world.cluster.ids(["out"])["out"])}
