"""Fixtures for tests of the engine: one Spark session a run, and an engine in a thread."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from confluent_kafka.admin import AdminClient, NewPartitions
from pyspark.sql import SparkSession

from connectors.kafka.admin import Admin
from connectors.kafka.producer import Producer
from connectors.kafka.properties import KafkaProperties
from connectors.kafka.reader import Reader
from connectors.record import OutRecord
from connectors.topics import Topics
from operators.control import Control, Offsets, Progress, decode_control
from streaming.engine.engine import Engine, EngineConfig
from streaming.query.session import SessionConfig, close_session, jvm_is_alive, open_session
from tests.streaming.stand_ins import tally
from tests.streaming.waiting import eventually


@pytest.fixture(scope="session")
def spark_jars(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    from tidewire.stack.jars import jar_directories, read_jar_sets, require_jars

    chosen = os.environ.get("TIDEWIRE_JARS_DIR")
    home = tmp_path_factory.mktemp("jars")
    return require_jars(read_jar_sets()["spark"], jar_directories(home, Path(chosen) if chosen else None))


class SharedSession:
    """The Spark session of a run: made on first use, and anew where somebody has ended it.

    `tidewire rows` does so in the process of a test: it reads a state with the session that is there, and ends it.
    """

    def __init__(self, config: SessionConfig) -> None:
        self._config = config
        self._session: SparkSession | None = None

    def get(self) -> SparkSession:
        if self._session is None or not jvm_is_alive(0):
            self._session = open_session(self._config)
        return self._session

    def close(self) -> None:
        if self._session is not None and jvm_is_alive(0):
            close_session(self._session)


@pytest.fixture(scope="session")
def shared_session(spark_jars: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedSession]:
    from tidewire.stack.class_archive import spark_archive, with_java_options
    from tidewire.stack.java import find_java

    options = with_java_options({}, spark_archive(find_java(), spark_jars).flags)
    folder = tmp_path_factory.mktemp("spark")
    shared = SharedSession(SessionConfig("local[2]", spark_jars, local_dir=folder, spark=options))
    yield shared
    shared.close()


@pytest.fixture
def spark(shared_session: SharedSession) -> SparkSession:
    """A session on two cores (about 6 s to start)."""
    return shared_session.get()


class RunningEngine:
    """An engine in a thread."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.error: BaseException | None = None
        self._thread.start()

    def _run(self) -> None:
        try:
            self._engine.run(self._stop)
        except BaseException as error:
            self.error = error

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(120)
        assert not self._thread.is_alive()

    def failure(self, seconds: float = 120) -> BaseException:
        """Wait until the engine ends by itself and return why."""
        self._thread.join(seconds)
        assert not self._thread.is_alive(), "the engine goes on"
        assert self.error is not None, "the engine ended without an error"
        return self.error

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()


class World:
    """Topics of one test, and what is asked of them."""

    def __init__(self, kafka: KafkaProperties, topics: Topics, folder: Path, spark: SparkSession) -> None:
        self.kafka = kafka
        self.topics = topics
        self.admin = Admin(kafka)
        self.checkpoint = folder / "checkpoint"
        self._spark = spark
        self._engines: list[RunningEngine] = []
        self._producer = Producer(kafka)
        self._reader = Reader(kafka)

    def engine(self, **options: Any) -> RunningEngine:
        settings = {
            name: options.pop(name)
            for name in ("take_over", "max_offsets", "checkpoint", "log", "registry")
            if name in options
        }
        settings = {"checkpoint": str(self.checkpoint), "cell_seconds": 0.0} | settings
        config = EngineConfig(self.kafka, topics=self.topics, **settings)
        running = RunningEngine(Engine(config, self._spark, **{"process": tally} | options))
        self._engines.append(running)
        return running

    def stop_all(self) -> None:
        for engine in self._engines:
            engine.stop()

    def name(self, table: str) -> str:
        return self.topics.prefix + table

    def make(self, table: str, partitions: int = 1) -> str:
        self.admin.create_topic(self.name(table), partitions)
        return self.name(table)

    def declare(self, table: str) -> None:
        self.apply(f"CREATE TABLE {table} (id VARCHAR PRIMARY KEY, price BIGINT) WITH ('topic'='{self.name(table)}')")

    def apply(self, text: str) -> None:
        self.send(OutRecord(self.topics.catalog, 0, None, text.encode()))

    def publish(self, table: str, *values: bytes | None, key: bytes = b'"a"', partition: int | None = 0) -> None:
        self.send(*[OutRecord(self.name(table), partition, key, value) for value in values])

    def send(self, *records: OutRecord) -> None:
        for record in records:
            self._producer.send(record)
        self._producer.flush()

    def read(self, topic: str, partition: int = 0) -> list[tuple[bytes | None, bytes]]:
        return [(r.key, r.value or b"") for r in self._reader.read_to_end(topic, [partition])]

    def controls(self, topic: str | None = None, partition: int = 0) -> list[Control]:
        """All control records of a notifications partition (or of `topic`), in order."""
        found = []
        for key, value in self.read(topic or self.topics.notifications, partition):
            if key is None or key.startswith(b"@"):
                found.append(decode_control(value))
        return found

    def progress(self) -> list[Progress]:
        return [c for c in self.controls(self.topics.batches) if isinstance(c, Progress)]

    def last_batch(self) -> int:
        """The newest batch told, -2 before anything was."""
        return self.progress()[-1].batch if self.progress() else -2

    def last_end(self) -> Offsets:
        """Where the newest batch told ends, nothing before there was one."""
        return self.progress()[-1].end if self.progress() else {}

    def sizes(self) -> list[int]:
        """How many bytes the records of the shards have."""
        return [len(v) for k, v in self.read(self.topics.notifications) if k is not None and k[:1] != b"@"]

    def add_partitions(self, table: str, total: int) -> None:
        client = AdminClient({"bootstrap.servers": self.kafka.bootstrap})
        for future in client.create_partitions([NewPartitions(self.name(table), total)]).values():
            future.result(20)
        eventually(lambda: self.admin.partitions(self.name(table)) == total)
        self._producer = Producer(self.kafka)

    def reports(self) -> list[dict[str, Any]]:
        """What the shards wrote down, repeats included."""
        return [json.loads(v) for k, v in self.read(self.topics.notifications) if k is not None and k[:1] != b"@"]

    def rows(self) -> list[list[Any]]:
        """All rows that shards were given, each batch once."""
        batches = {(r["epoch"], r["batch"], r["shard"]): r for r in self.reports()}
        return [row for report in batches.values() for row in report["rows"]]

    def sidecar(self) -> dict[str, Any]:
        data = (self.checkpoint / "tidewire" / "engine.json").read_bytes()
        return msgspec.json.decode(data)


@pytest.fixture
def world(
    kafka: KafkaProperties, topics: Topics, tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> Iterator[World]:
    """Engines of this test do not wait to see whether another one is alive, as no session is being started."""
    monkeypatch.setattr("streaming.epoch.claim.STILL_SECONDS", 0.0)
    made = World(kafka, topics, tmp_path, spark)
    yield made
    made.stop_all()
