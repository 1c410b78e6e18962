"""Keeps the log going beside the match query, in the same Spark session and a thread of its own.

    plan      which topics there are, where the log ends in each                (log_query.LogStart)
    run       the query, until the tables' topics change, or it fails
    upkeep    small files are put together, those replaced long ago deleted     (log_upkeep.py)

It begins when the match query has told its first batch, or has had half a minute for it: to read a Delta table is as
much work for Spark as that batch, and people wait for that one. What fails is told (in the log file, and in the topic
`engines` for `status`) and tried again from where the table ends; people get their answers meanwhile. Only what cannot
become right by itself, a table that is not ours or says other things than Kafka, ends the engine: `check` raises it.
"""

from __future__ import annotations

import contextlib
import logging
import shutil
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import msgspec
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from connectors.log.mark import LogMark, Offsets
from connectors.record import OutRecord
from connectors.topics import Topics
from state.errors import TidewireError
from streaming.checkpoint.checkpoint import Checkpoint
from streaming.checkpoint.files import LocalFiles
from streaming.epoch.catalog_versions import CatalogTopic
from streaming.epoch.cluster import Cluster
from streaming.epoch.progress import utc_now
from streaming.log.query import LogForeignError, LogStart, LogWriter, start_log
from streaming.log.table import LogTable, LogTableError
from streaming.log.upkeep import LogUpkeep
from streaming.query.failure import explain_failure, one_line

LOG_KEY = b"@log"
_LOOK_SECONDS = 0.25
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0
_LATEST_START_SECONDS = 30.0
GRACE_SECONDS = 20.0
_LOG = logging.getLogger("tidewire.log")


@dataclass(frozen=True, slots=True)
class LogConfig:
    """What the log is told.

    `table` is a path or URI; a batch is written every `seconds` (of at most `max_offsets` records); files that were
    replaced are kept for `replay_days`; small ones are put together every `compact_minutes`.
    """

    table: str
    seconds: float = 30.0
    replay_days: int = 7
    compact_minutes: float = 60.0
    max_offsets: int = 500_000
    local_dir: Path | None = None

    @property
    def keep_hours(self) -> int:
        """How long replaced files and commits are kept at least."""
        return 24 * max(self.replay_days, 7)


class LogReport(msgspec.Struct, frozen=True, tag="log", tag_field="kind"):
    """How the log is, for `status`; a record of the topic `engines`. `problem` is empty while all is well.

    `end` is where each partition is logged up to.
    """

    table: str
    seconds: float
    replay_days: int
    time: str
    number: int = -1
    end: Offsets = {}
    problem: str = ""


class LogKeeper:
    """A context manager: the log is kept while its block runs.

    Args:
        kafka: the Java client's properties.
        grace: how long what would end the engine must last before it does, in seconds.
    """

    def __init__(
        self,
        spark: SparkSession,
        cluster: Cluster,
        topics: Topics,
        kafka: dict[str, str],
        config: LogConfig,
        grace: float = GRACE_SECONDS,
    ) -> None:
        self._spark = spark
        self._cluster = cluster
        self._topics = topics
        self._kafka = kafka
        self._config = config
        self._catalog = CatalogTopic(cluster, topics)
        self._table = LogTable(spark, config.table)
        self._stop = threading.Event()
        self._begun = threading.Event()
        self._thread = threading.Thread(target=self._run, name="tidewire-log", daemon=True)
        self._upkeep = LogUpkeep(self._table, config.keep_hours, config.compact_minutes * 60)
        self._told: str | None = None
        self._mark: LogMark | None = None
        self._fatal: Exception | None = None
        self._foreign_since: float | None = None
        self._grace = grace
        self._opened = False

    def check(self) -> None:
        """Raise LogTableError or LogForeignError where going on would make a wrong log."""
        if self._fatal is not None:
            raise self._fatal

    def begin(self) -> None:
        """Begin now; nothing if it has begun."""
        self._begun.set()

    def __enter__(self) -> LogKeeper:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stop.set()
        self._begun.set()
        self._thread.join()

    def _run(self) -> None:
        self._spark.sparkContext.setLocalProperty("spark.scheduler.pool", "log")
        self._begun.wait(min(self._config.seconds, _LATEST_START_SECONDS))
        pause = _FIRST_PAUSE
        while not self._stop.is_set() and self._fatal is None:
            try:
                self._open()
                if self._run_once():
                    pause = _FIRST_PAUSE
            except Exception as problem:
                self._bear(problem)
                self._stop.wait(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)

    def _bear(self, problem: Exception) -> None:
        """Tell what went wrong. A broker that has just started may say for a moment what is not so: that is waited for.

        Whatever it is: a thread that ended in silence would be worse.
        """
        self._tell(one_line(problem))
        foreign = isinstance(problem, LogTableError | LogForeignError)
        self._foreign_since = (self._foreign_since or time.monotonic()) if foreign else None
        if self._foreign_since and time.monotonic() - self._foreign_since >= self._grace and foreign:
            self._fatal = problem

    def _open(self) -> None:
        """Make the table if there is none, and see whether it is one of ours. Takes seconds, once."""
        if not self._opened:
            self._table.ensure(self._config.keep_hours)
            self._opened = True

    def _run_once(self) -> bool:
        """Run the query until it must be started anew; return whether it has written anything."""
        topics = self._tables()
        start = self._plan(topics)
        self._mark, self._foreign_since = start.mark, None
        if not start.begin:
            self._stop.wait(_LOOK_SECONDS)
            return False
        folder = Path(tempfile.mkdtemp(prefix="tidewire-log-", dir=self._config.local_dir))
        try:
            writer = LogWriter(self._table, self._cluster, Checkpoint(LocalFiles(folder), folder.as_uri()), start)
            self._attend(writer, topics)
            return writer.commits > 0
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _attend(self, writer: LogWriter, topics: list[str]) -> None:
        config = self._config
        query = start_log(self._spark, self._kafka, writer, topics, config.seconds, config.max_offsets)
        commits = 0
        try:
            while not self._stop.wait(_LOOK_SECONDS):
                if not query.isActive:
                    raise writer.problem or explain_failure(query, "log") or TidewireError("the query `log` has ended.")
                if writer.commits != commits:
                    self._upkeep.note(writer.commits - commits)
                    commits = writer.commits
                    self._tell("", writer.start.mark)
                if self._catalog.poll() and self._tables() != topics:
                    return
        finally:
            writer.close()
            with contextlib.suppress(PySparkException, Py4JError, OSError):
                query.stop()

    def _tables(self) -> list[str]:
        self._catalog.poll()
        return sorted({relation.topic for relation in self._catalog.newest.relations.values()})

    def _plan(self, topics: list[str]) -> LogStart:
        home = self._cluster.ids([self._topics.catalog]).get(self._topics.catalog)
        if home is None:
            raise TidewireError(f"the topic `{self._topics.catalog}` is not there; waiting for it.")
        return LogStart.plan(self._table.newest(), self._cluster, topics, home)

    def _tell(self, problem: str, mark: LogMark | None = None) -> None:
        """Write how the log is to `engines`: after each commit, and when a problem is new."""
        if problem and problem == self._told:
            return
        self._told = problem
        if problem:
            _LOG.warning("the log goes on once this is over: %s", problem)
        config = self._config
        self._mark = mark or self._mark
        number, end = (self._mark.number, self._mark.end) if self._mark else (-1, {})
        report = LogReport(config.table, config.seconds, config.replay_days, utc_now(), number, end, problem)
        with contextlib.suppress(TidewireError):
            self._cluster.append([OutRecord(self._topics.engines, 0, LOG_KEY, msgspec.json.encode(report))])
