"""The `log` query: the topics of all tables, as they are, into the Delta table of publications.

    one Kafka source (by pattern) -> a batch every so many seconds -> one commit (log_table.py)

A start begins where the table's newest mark ends, in a checkpoint folder of its own that is thrown away afterwards:
the table itself remembers how far it has come. Before each batch the topics' ids are compared: a topic that was
deleted and created again is read from its beginning, under its new id.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import msgspec
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (the name everyone knows)
from pyspark.sql.streaming import StreamingQuery

from connectors.log.mark import Gap, LogMark, Offsets
from state.errors import TidewireError
from streaming.checkpoint.checkpoint import Checkpoint
from streaming.epoch.cluster import Cluster
from streaming.epoch.progress import utc_now
from streaming.log.table import LogTable
from streaming.query.match import CONSUMER, starting_offsets, subscribe_pattern

QUERY_NAME = "log"
ROWS_A_FILE = 200_000
_CLOSE_SECONDS = 20.0
_COLUMNS = ("topic", "partition", "offset", "key", "value", "timestamp")


class TopicChangedError(TidewireError):
    """A topic was deleted, or created again, while it was read; the query begins again."""

    code = "topic_changed"
    retry_helps = True


class LogForeignError(TidewireError):
    """The log holds what these topics do not: it is another tidewire's, or Kafka has lost records."""

    code = "log_foreign"


class LogClosedError(TidewireError):
    """The query is being stopped; nothing of the batch was written."""

    code = "log_closed"
    retry_helps = True


@dataclass(frozen=True, slots=True)
class LogStart:
    """Where a run of the query begins: `mark` is the newest one, with the topics that exist and the gaps found now."""

    mark: LogMark
    begin: Offsets

    @classmethod
    def plan(cls, newest: LogMark | None, cluster: Cluster, topics: list[str], home: str) -> LogStart:
        """Compare what is logged with what the topics hold.

        Raises LogForeignError if the log was made from other topics than those of `home` (the id of the catalog's
        topic), or a topic ends before what was logged of it.
        """
        writer = secrets.token_hex(8)
        mark = newest or LogMark(home=home, writer=writer, number=-1, time="")
        if mark.home not in (home, ""):
            raise LogForeignError(
                f"the log belongs to another tidewire: expected the catalog topic with id {mark.home}, got {home}. "
                "Name another place with `log_table`, or the cluster and prefix that it was made from."
            )
        ids = cluster.ids(topics)
        begin: Offsets = {}
        gaps: list[Gap] = []
        for topic in sorted(ids):
            logged = mark.end.get(topic, {}) if mark.ids.get(topic) == ids[topic] else {}
            begin[topic] = _begin(topic, logged, cluster, gaps)
        fresh = {topic: begin[topic] for topic in begin if mark.ids.get(topic) != ids[topic]}
        made = msgspec.structs.replace(
            mark, home=home, writer=writer, ids=mark.ids | ids, end=mark.end | fresh, gaps=[*mark.gaps, *gaps]
        )
        return cls(made, begin)


def _begin(topic: str, logged: Mapping[str, int], cluster: Cluster, gaps: list[Gap]) -> dict[str, int]:
    """Return where to go on in each partition of a topic; note in `gaps` what was trimmed in between."""
    begins, ends = cluster.begins(topic), cluster.ends(topic)
    places: dict[str, int] = {}
    for partition, first in sorted(begins.items()):
        wanted = logged.get(str(partition), 0)
        if wanted > ends.get(partition, wanted):
            raise LogForeignError(
                f"the log is ahead of Kafka: it holds `{topic}` [{partition}] up to offset {wanted}, the topic ends at "
                f"{ends[partition]}. Kafka was restored from an older copy; name another place with `log_table`."
            )
        if first > wanted:
            gaps.append(Gap(topic, partition, wanted, first))
        places[str(partition)] = max(first, wanted)
    return places


@dataclass(slots=True)
class LogWriter:
    """Writes the batches of one run; called by Spark.

    `commits` counts those of this run. `problem` keeps what went wrong, as Spark hands on its text only.
    """

    table: LogTable
    cluster: Cluster
    checkpoint: Checkpoint
    start: LogStart
    now: Callable[[], str] = utc_now
    commits: int = 0
    problem: Exception | None = None
    _closed: bool = False
    _busy: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, records: DataFrame, batch: int) -> None:
        """Write one batch as one commit."""
        with self._busy:
            if self._closed:
                raise LogClosedError("the log's query is being stopped.")
            try:
                self._write(records, self.checkpoint.end_offsets(batch))
            except Exception as problem:
                self.problem = problem
                raise

    def close(self) -> None:
        """Let a batch that is being written end, for a while, and refuse others: Spark would interrupt it midway."""
        free = self._busy.acquire(timeout=_CLOSE_SECONDS)
        self._closed = True
        if free:
            self._busy.release()

    def _write(self, records: DataFrame, end: Offsets) -> None:
        mark = self.start.mark
        ids = self.cluster.ids(end)
        for topic in end:
            if ids.get(topic) is None or mark.ids.get(topic, ids[topic]) != ids[topic]:
                raise TopicChangedError(f"the topic `{topic}` was deleted, or created again, while it was read.")
        count = _distance(self.start.begin, end)
        if not count:
            return
        rows = records.select(*_COLUMNS, _numbered(ids).alias("topic_id"))
        made = msgspec.structs.replace(
            mark, number=mark.number + 1, time=self.now(), ids=mark.ids | ids, end=mark.end | end
        )
        self.table.append(rows.coalesce(1 + count // ROWS_A_FILE), made)
        self.start = replace(self.start, mark=made, begin=end)
        self.commits += 1


def _distance(begin: Offsets, end: Offsets) -> int:
    """Return how many offsets lie between; records that Kafka keeps for itself are among them."""
    return sum(
        offset - begin.get(topic, {}).get(partition, 0)
        for topic, partitions in end.items()
        for partition, offset in partitions.items()
    )


def _numbered(ids: Mapping[str, str]) -> Column:
    """Return the id of a record's topic."""
    known = [F.lit(part) for pair in sorted(ids.items()) for part in pair]
    return F.element_at(F.create_map(*known), F.col("topic"))


def start_log(
    spark: SparkSession, kafka: Mapping[str, str], writer: LogWriter, topics: list[str], seconds: float, limit: int
) -> StreamingQuery:
    """Start the query and return it. `kafka` are the Java client's properties; `limit` is in records a batch."""
    options = CONSUMER | {f"kafka.{name}": str(value) for name, value in kafka.items()}
    options |= {
        "subscribePattern": subscribe_pattern(topics),
        "startingOffsets": starting_offsets(writer.start.begin),
        "maxOffsetsPerTrigger": str(limit),
        "failOnDataLoss": "true",
        "kafka.isolation.level": "read_committed",
    }
    source = spark.readStream.format("kafka").options(**options).load()
    stream = source.writeStream.foreachBatch(writer).queryName(f"{QUERY_NAME}-{writer.start.mark.writer}")
    stream = stream.option("checkpointLocation", writer.checkpoint.uri)
    return stream.trigger(processingTime=f"{seconds} seconds").start()
