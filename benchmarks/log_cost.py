"""The log of publications: how fast it is written and replayed, and whether a batch gets dearer with the table's age.

    python -m benchmarks --only log

`log_rows_per_s`: the log query over a topic that is full already, rows over the time of the batches after the first.
`replay_rows_per_s`: the whole log into another prefix of the same broker.

`log_20k_over_2k`: the time of a small batch on a table with 20,000 commits against one with 2,000. The commits before
are made by hand, as the engine's would be (four files in the table's log each, and a data file of 60 rows, which is one
file under many names), as 20,000 real ones take hours; every 2,000 of them are put together as the engine does it every
200. The batches that are timed are real, as are ten before them, of which one writes a checkpoint (the engine's: one in
a hundred), and the compaction in between. The median of the batches counts.
"""

from __future__ import annotations

import json
import os
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any
from zlib import crc32

from pyspark.sql import DataFrame, SparkSession

from benchmarks.bench import Bench, Publisher
from connectors.log.mark import LogMark, encode_mark
from connectors.log.publication_log import PublicationLog
from connectors.record import OutRecord
from connectors.topics import Topics
from streaming.checkpoint.checkpoint import Checkpoint
from streaming.checkpoint.files import LocalFiles
from streaming.epoch.kafka_cluster import KafkaCluster
from streaming.log.query import LogStart, LogWriter, start_log
from streaming.log.table import APP, LogTable
from streaming.query.session import SessionConfig, close_session, open_session
from tidewire.history.replay import replay
from tidewire.history.replay_target import KafkaTarget, ReplayPlan

TOPIC, TOPICS = "stock", Topics("bench.")
VALUE = json.dumps({"id": 123456, "exchange": "NYSE", "risk": 2.5, "price": "10.25"}).encode()
KEEP_HOURS = 168
TIMED = 15
LAST, COMPACTED = 10, 2_000
"""Real commits before those that are timed, and commits made by hand between two compactions."""


def measure(bench: Bench) -> dict[str, object]:
    """Return the figures."""
    with bench.broker() as broker:
        bench.say("starting Spark")
        jars = bench.jars("spark")
        spark = open_session(SessionConfig("local[*]", jars, local_dir=bench.folder / "spark"))
        try:
            publisher = Publisher(broker.bootstrap)
            return {**_rates(bench, spark, publisher), **_ages(bench, spark)}
        finally:
            close_session(spark)


def _rates(bench: Bench, spark: SparkSession, publisher: Publisher) -> dict[str, object]:
    sizes = bench.sizes
    count = sizes.batch * sizes.batches
    publisher.admin.ensure_topics(TOPICS, sizes.virtual_edges)
    publisher.admin.create_topic(TOPIC, sizes.partitions)
    publisher.send(OutRecord(TOPIC, i % sizes.partitions, b"%d" % i, VALUE) for i in range(count))
    table, cluster = LogTable(spark, str(bench.folder / "log")), KafkaCluster(publisher.kafka)
    table.ensure(KEEP_HOURS)
    folder = bench.folder / "log-run"
    start = LogStart.plan(None, cluster, [TOPIC], "home")
    writer = LogWriter(table, cluster, Checkpoint(LocalFiles(folder), folder.as_uri()), start)
    query = start_log(spark, publisher.kafka.java(), writer, [TOPIC], 0, sizes.batch)
    query.processAllAvailable()
    done = [(p.numInputRows, p.durationMs["triggerExecution"] / 1000) for p in query.recentProgress if p.numInputRows]
    query.stop()
    logged = sum(rows for rows, _ in done[1:]) / sum(seconds for _, seconds in done[1:])
    bench.say(f"logged {logged:,.0f} rows/s, batches of {sizes.batch:,} in {[round(s, 2) for _, s in done]} s")
    log = PublicationLog(table.uri)
    target = KafkaTarget(publisher.kafka, "replayed.")
    plan = ReplayPlan.of(log.uri, {}, log.newest.cut)
    target.begin(plan, _nothing(), sizes.virtual_edges)
    again = replay(log, {}, log.newest.cut, target)
    bench.say(f"replayed {again.sent:,} rows in {again.seconds:.1f} s")
    return {"log_rows_per_s": round(logged), "replay_rows_per_s": round(again.sent / again.seconds)}


def _nothing() -> Any:
    from catalog.schema.catalog import Catalog

    return Catalog()


def _ages(bench: Bench, spark: SparkSession) -> dict[str, object]:
    """Age a table, and time real batches on it at two ages."""
    young, old = (200, 2_000) if bench.sizes.batch < 50_000 else (2_000, 20_000)
    table = LogTable(spark, str(bench.folder / "aged"))
    table.ensure(KEEP_HOURS)
    spark.sql(f"ALTER TABLE delta.`{table.uri}` SET TBLPROPERTIES ('delta.checkpointInterval' = '{LAST}')")
    aged = AgedTable(spark, table)
    aged.append_real()
    times: dict[int, list[float]] = {}
    for commits in (young, old):
        aged.grow(commits - LAST, bench.say)
        for _ in range(LAST):
            aged.append_real()
        table.compact()
        times[commits] = [aged.append_real() for _ in range(TIMED)]
        bench.say(f"at {commits:,} commits a batch takes {median(times[commits]):.3f} s")
    figures = {str(commits): [round(seconds, 3) for seconds in those] for commits, those in times.items()}
    return {
        "log_20k_over_2k": round(median(times[old]) / median(times[young]), 3),
        "log_batch_s": figures,
    }


class AgedTable:
    """A table whose commits are made by hand, but for those that are timed."""

    def __init__(self, spark: SparkSession, table: LogTable) -> None:
        self._spark = spark
        self._table = table
        self._folder = Path(table.uri)
        self._commits = 0
        self._version = 0
        self._data: dict[str, Any] = {}

    def append_real(self) -> float:
        """Write a batch of 60 rows as the query does, and return the seconds that it took."""
        began = time.perf_counter()
        self._table.append(self._rows(), self._mark())
        took = time.perf_counter() - began
        self._commits += 1
        self._version = self._newest_version()
        self._data = self._data or self._last_add()
        return took

    def grow(self, commits: int, say: Callable[[str], None]) -> None:
        """Add commits by hand until there are `commits`, compacting on the way and at the end."""
        while self._commits < commits:
            for _ in range(min(COMPACTED, commits - self._commits)):
                self._commit_by_hand()
            self._table.compact()
            self._version = self._newest_version()
            say(f"{self._commits:,} commits, version {self._version:,}")

    def _rows(self) -> DataFrame:
        return self._spark.sql(
            f"SELECT '{TOPIC}' topic, 0 partition, id + {60 * self._commits} offset, cast(string(id) AS binary) key, "
            f"cast('{VALUE.decode()}' AS binary) value, current_timestamp() timestamp, 'id' topic_id FROM range(60)"
        ).coalesce(1)

    def _mark(self) -> LogMark:
        end = {TOPIC: {"0": 60 * (self._commits + 1)}}
        return LogMark(home="h", writer="w", number=self._commits, time="", ids={TOPIC: "id"}, end=end)

    def _commit_by_hand(self) -> None:
        name = f"part-{self._commits:08d}.zstd.parquet"
        os.link(self._folder / self._data["path"], self._folder / name)
        info = {"timestamp": int(time.time() * 1000), "operation": "WRITE", "userMetadata": encode_mark(self._mark())}
        info |= {"operationParameters": {"mode": "Append"}, "isBlindAppend": True, "isolationLevel": "Serializable"}
        actions = [
            {"commitInfo": info},
            {"txn": {"appId": APP, "version": self._commits, "lastUpdated": info["timestamp"]}},
            {"add": self._data | {"path": name}},
        ]
        self._version += 1
        target = self._folder / "_delta_log" / f"{self._version:020d}.json"
        text = "\n".join(json.dumps(action) for action in actions).encode()
        for name, data in ((target.name, text), (f"{target.stem}.crc", b"")):
            target.with_name(name).write_bytes(data)
            target.with_name(f".{name}.crc").write_bytes(_checksum(data))
        self._commits += 1

    def _newest_version(self) -> int:
        return max(int(path.stem) for path in self._files())

    def _files(self) -> Iterator[Path]:
        return (path for path in (self._folder / "_delta_log").glob("*.json") if path.stem.isdigit())

    def _last_add(self) -> dict[str, Any]:
        text = (self._folder / "_delta_log" / f"{self._version:020d}.json").read_text()
        return next(action["add"] for line in text.splitlines() if "add" in (action := json.loads(line)))


def _checksum(data: bytes) -> bytes:
    """Return what Hadoop keeps beside a local file: a CRC-32 for every 512 bytes."""
    chunks = [data[at : at + 512] for at in range(0, len(data), 512)]
    return b"crc\x00" + struct.pack(f">i{len(chunks)}I", 512, *map(crc32, chunks))
