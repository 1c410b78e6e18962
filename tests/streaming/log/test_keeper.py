from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from connectors.log.mark import LogMark
from connectors.topics import Topics
from streaming.epoch.kafka_cluster import KafkaCluster
from streaming.log import keeper
from streaming.log.keeper import LogConfig, LogKeeper
from streaming.log.query import LogForeignError
from streaming.log.table import LogTable
from tests.streaming.conftest import World
from tests.streaming.waiting import eventually

pytestmark = [pytest.mark.broker, pytest.mark.spark]


class Logged:
    """A log of a world, and what it holds."""

    def __init__(self, world: World, spark: SparkSession, folder: Path) -> None:
        self.uri = str(folder / "publications")
        self._world = world
        self._spark = spark
        self.table = LogTable(spark, self.uri)

    def keeper(self, topics: Topics | None = None, seconds: float = 0.2) -> LogKeeper:
        world = self._world
        config = LogConfig(self.uri, seconds)
        cluster, kafka = KafkaCluster(world.kafka), world.kafka.java()
        return LogKeeper(self._spark, cluster, topics or world.topics, kafka, config, grace=1.0)

    def rows(self) -> list[tuple[Any, ...]]:
        """Return what the table holds; there is none before the first batch."""
        if not any(Path(self.uri, "_delta_log").glob("*.json")):
            return []
        names = ("topic", "partition", "offset", "value")
        return [tuple(row) for row in self._spark.read.format("delta").load(self.uri).select(*names).collect()]

    def wait(self, count: int) -> list[tuple[Any, ...]]:
        """Wait for so many rows, each once."""
        eventually(lambda: len(self.rows()) >= count)
        rows = self.rows()
        assert len(rows) == count
        assert max(Counter(row[:3] for row in rows).values()) == 1
        return sorted(rows)

    def mark(self) -> LogMark:
        found = self.table.newest()
        assert found is not None
        return found


@pytest.fixture
def logged(world: World, spark: SparkSession, tmp_path: Path) -> Iterator[Logged]:
    yield Logged(world, spark, tmp_path)


def test_every_publication_of_tables_that_come_and_go(world: World, logged: Logged) -> None:
    with logged.keeper():
        world.declare("stock")
        world.make("stock", 2)
        world.publish("stock", b"1", None)
        world.publish("stock", b"2", partition=1)
        stock, bond = world.name("stock"), world.name("bond")
        rows = logged.wait(3)
        assert [(*row[:3], row[3] and bytes(row[3])) for row in rows] == [
            (stock, 0, 0, b"1"), (stock, 0, 1, None), (stock, 1, 0, b"2"),
        ]  # fmt: skip
        world.declare("bond")
        world.make("bond")
        world.publish("bond", b"3")
        logged.wait(4)
        world.admin.delete_topics([stock])
        world.apply("DROP TABLE stock")
        world.make("stock")
        world.declare("stock")
        world.publish("stock", b"again")
        eventually(lambda: len(logged.rows()) == 5)
    mark = logged.mark()
    assert mark.end == {stock: {"0": 1}, bond: {"0": 1}}
    assert mark.gaps == []


def test_it_waits_for_the_first_batch_of_the_match_query(
    world: World, logged: Logged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "_LATEST_START_SECONDS", 3_600.0)
    world.declare("stock")
    world.make("stock")
    world.publish("stock", b"1")
    with logged.keeper(seconds=3_600.0) as waiting:
        assert not Path(logged.uri).exists()
        waiting.begin()
        logged.wait(1)


def test_a_second_start_goes_on_from_the_table(world: World, logged: Logged, spark: SparkSession) -> None:
    world.declare("stock")
    world.make("stock")
    world.publish("stock", b"1", b"2")
    with logged.keeper():
        logged.wait(2)
    number = logged.mark().number
    world.publish("stock", b"3")
    with logged.keeper():
        logged.wait(3)
        spark.sql(f"ALTER TABLE delta.`{logged.table.uri}` SET TBLPROPERTIES ('delta.checkpointInterval' = '1')")
        assert logged.table.compact() >= 2
        checksums = sorted(Path(logged.table.uri, "_delta_log").glob("[0-9]*.crc"))
        assert len(checksums) == 1
        world.publish("stock", b"4")
        logged.wait(4)
    assert logged.mark().number >= number + 2
    assert logged.mark().end == {world.name("stock"): {"0": 4}}


def test_two_writers_write_each_publication_once(world: World, logged: Logged) -> None:
    world.declare("stock")
    world.make("stock")
    with logged.keeper(), logged.keeper():
        for number in range(8):
            world.publish("stock", str(number).encode())
            eventually(lambda count=number + 1: len(logged.rows()) >= count)
    rows = logged.wait(8)
    assert [bytes(row[3]) for row in rows] == [str(number).encode() for number in range(8)]


def test_an_engine_does_not_begin_with_the_log_of_another_prefix(world: World, logged: Logged) -> None:
    world.declare("stock")
    world.make("stock")
    world.publish("stock", b"1")
    with logged.keeper():
        logged.wait(1)
    other = Topics(world.topics.prefix + "other.")
    world.admin.ensure_topics(other, 4)
    with logged.keeper(other) as keeper, pytest.raises(LogForeignError, match="belongs to another tidewire"):
        eventually(lambda: keeper.check())
