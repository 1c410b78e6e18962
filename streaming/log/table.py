"""The Delta table `publications`: what the log query writes, and the only place that knows how far it has come.

    topic, partition, offset, key, value, timestamp, topic_id

Every publication exactly once, whatever is killed and however many writers there are:

1. A commit holds the rows and the mark that says up to which offsets (connectors/log/mark.py): both or neither.
2. A writer goes on from the newest mark in the table, not from a checkpoint of its own. So a kill between the commit
   and whatever comes after it repeats nothing.
3. Each commit carries (`APP`, number) as Delta's transaction version, one id for all writers, and the number follows
   that of the mark it was made from. Of two commits with one number Delta takes the first: a concurrent second one
   fails, and a later one is skipped in silence (tried). So `append` looks at the mark in the table afterwards and
   raises LogMovedError if it is another's.

`topic_id` tells the records of a topic from those of another that had its name before.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (the name everyone knows)

from connectors.log.mark import LogMark, encode_mark, mark_of_commit
from state.errors import TidewireError, UserError
from streaming.checkpoint.files import is_local_path, local_folder, open_files
from streaming.log.checksums import drop_checksums

APP = "tidewire-log"
COLUMNS = (
    "topic STRING NOT NULL, partition INT NOT NULL, offset BIGINT NOT NULL, key BINARY, value BINARY, "
    "timestamp TIMESTAMP, topic_id STRING NOT NULL"
)
_PROPERTIES = {
    "delta.appendOnly": "true",
    "delta.checkpointInterval": "100",
    "delta.dataSkippingStatsColumns": "topic,partition,offset,timestamp,topic_id",
}
_NAMES = [column.split()[0] for column in COLUMNS.split(", ")]


class LogTableError(UserError):
    """The table is not one of ours, or is not this tidewire's."""

    code = "log_table"


class LogMovedError(TidewireError):
    """Another writer has committed what this one was about to; it must begin again from the table."""

    code = "log_moved"
    retry_helps = True


class LogTable:
    """The table at `uri`, a path or whatever Spark can write to. *Cost*: `append` 0.6-0.9 s, `newest` some ms."""

    def __init__(self, spark: SparkSession, uri: str) -> None:
        self._spark = spark
        self._files = open_files(spark, uri)
        self.uri = uri

    def ensure(self, keep_hours: int) -> None:
        """Create the table, or check that it is a log; files that were replaced are kept for `keep_hours`.

        Raises LogTableError.
        """
        wanted = _PROPERTIES | {
            "delta.deletedFileRetentionDuration": f"interval {keep_hours} hours",
            "delta.logRetentionDuration": f"interval {keep_hours + 24} hours",
        }
        listed = ", ".join(f"'{name}' = '{value}'" for name, value in wanted.items())
        self._spark.sql(f"CREATE TABLE IF NOT EXISTS {self._name} ({COLUMNS}) USING delta TBLPROPERTIES ({listed})")
        detail = self._spark.sql(f"DESCRIBE DETAIL {self._name}").select("properties").first()
        names = self._spark.read.format("delta").load(self.uri).columns
        if names != _NAMES:
            raise LogTableError(
                f"the Delta table `{self.uri}` is not a log of publications: expected the columns "
                f"{', '.join(_NAMES)}, got {', '.join(names)}. Name another place with `log_table`."
            )
        found = detail["properties"] if detail is not None else {}
        if any(found.get(name) != value for name, value in wanted.items()):
            self._spark.sql(f"ALTER TABLE {self._name} SET TBLPROPERTIES ({listed})")

    def newest(self) -> LogMark | None:
        """Return the newest mark, None while nothing has been written. *Cost*: one listing and one small file."""
        snapshot = self._snapshot()
        for version in range(snapshot.version(), -1, -1):
            data = self._commit(version)
            if data is None:
                break
            if (mark := mark_of_commit(data)) is not None:
                return mark
        return self._from_rows(snapshot)

    def append(self, rows: DataFrame, mark: LogMark) -> None:
        """Write `rows`, which have our columns, and `mark`, as one commit.

        Raises LogMovedError if another writer was first; then nothing was written.
        """
        options = {"txnAppId": APP, "txnVersion": str(mark.number), "userMetadata": encode_mark(mark)}
        writer = rows.write.format("delta").mode("append").option("compression", "zstd").options(**options)
        try:
            writer.save(self.uri)
        except Exception as error:
            if "CONCURRENT_TRANSACTION" in str(error):
                raise _moved(self.uri, mark.number) from error
            raise
        # Delta knows what it has just committed; asking for the newest lists the table's log once more.
        known = self._commit(self._delta_log.unsafeVolatileSnapshot().version())
        if (known is None or mark_of_commit(known) != mark) and self.newest() != mark:
            raise _moved(self.uri, mark.number)

    def compact(self) -> int:
        """Put small files together (OPTIMIZE) and return how many were; appends go on meanwhile.

        Then delete what old commits have beside them and nobody reads (log_checksums.py).
        """
        metrics = self._spark.sql(f"OPTIMIZE {self._name}").select("metrics.numFilesRemoved").first()
        if is_local_path(self.uri):
            drop_checksums(local_folder(self.uri) / "_delta_log")
        return int(metrics[0]) if metrics is not None else 0

    def vacuum(self, keep_hours: int) -> None:
        """Delete files that were replaced longer than `keep_hours` ago."""
        self._spark.sql(f"VACUUM {self._name} RETAIN {keep_hours} HOURS").collect()

    @property
    def _name(self) -> str:
        return f"delta.`{self.uri}`"

    @property
    def _jvm(self) -> Any:
        jvm = self._spark._jvm
        assert jvm is not None
        return jvm

    @property
    def _delta_log(self) -> Any:
        """Delta's own object for the table; there is no public call that starts no job."""
        return self._jvm.org.apache.spark.sql.delta.DeltaLog.forTable(self._spark._jsparkSession, self.uri)

    def _snapshot(self) -> Any:
        """Return Delta's snapshot of the newest version."""
        none = self._jvm.scala.Option.empty()
        return self._delta_log.update(False, none, none)

    def _commit(self, version: int) -> bytes | None:
        return self._files.read(f"_delta_log/{version:020d}.json")

    def _from_rows(self, snapshot: Any) -> LogMark | None:
        """Make a mark from the rows, where the commits that had one have left the table's log (idle for weeks)."""
        last = snapshot.transactions().get(APP)
        if not last.isDefined():
            return None
        newest = F.max_by("topic_id", "timestamp").over(_window())
        rows = self._spark.read.format("delta").load(self.uri).withColumn("newest", newest)
        ends = rows.where("topic_id = newest").groupBy("topic", "topic_id", "partition").agg(F.max("offset").alias("o"))
        end: dict[str, dict[str, int]] = {}
        ids: dict[str, str] = {}
        for row in ends.collect():
            end.setdefault(row["topic"], {})[str(row["partition"])] = row["o"] + 1
            ids[row["topic"]] = row["topic_id"]
        return LogMark(home="", writer="", number=int(last.get()), time="", ids=ids, end=end)


def _window() -> Any:
    from pyspark.sql import Window

    return Window.partitionBy("topic")


def _moved(uri: str, number: int) -> LogMovedError:
    return LogMovedError(f"another engine has written commit {number} of the log `{uri}` first; going on from it.")
