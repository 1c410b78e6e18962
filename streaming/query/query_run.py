"""One start of the match query: which topics it reads, how strictly, and when that must be looked at again.

`failOnDataLoss` is on, except in a run whose topics differ from those of the last planned batch: an added topic
that does not begin at offset 0, or a dropped one, would stop the query. Such a run ends with its first batch that
has exactly the topics wanted; the next one is strict again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection
from dataclasses import dataclass

from py4j.protocol import Py4JError
from pyspark import Broadcast
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.streaming import StreamingQuery

from operators.control import Offsets
from streaming.query.failure import JVM_GONE, explain_failure, jvm_ended
from streaming.query.match import MatchConfig, start_match
from streaming.query.partition_count import Counts, Several, with_several


@dataclass(frozen=True, slots=True)
class Reading:
    """Which topics a run reads: those `wanted`, and which of them exist. `relaxed`: see above.

    `again` says that the run ends once the topics are as wanted, because topics are to be read from their
    beginning (they are left out of this run) or because it is relaxed. `several` says by batch which topics have
    several partitions, `counts` how many those of streams have.
    """

    wanted: frozenset[str]
    existing: frozenset[str]
    relaxed: bool
    again: bool
    several: Several = ()
    counts: Counts = ()

    @classmethod
    def plan(
        cls,
        wanted: Collection[str],
        existing: Collection[str],
        resets: Collection[str],
        last: Offsets,
        several: Several = (),
        counts: Counts = (),
    ) -> Reading:
        """Compare what is `wanted`, less the topics to reset, with the `last` planned offsets ({}: none)."""
        names = frozenset(wanted) - frozenset(resets)
        there = names & frozenset(existing)
        relaxed = bool(last) and last.keys() != there
        return cls(names, there, relaxed, relaxed or bool(resets), several, counts)

    def outgrown(self, offsets: Offsets) -> bool:
        """Whether a batch that ends at `offsets` has read several partitions of a topic taken for one with one.

        Or more of a stream's than were counted.
        """
        known = self.several[-1][1] if self.several else frozenset()
        counts = self.counts[-1][1] if self.counts else {}
        return not with_several(offsets) & self.wanted <= known or any(
            len(offsets.get(topic, ())) > count for topic, count in counts.items()
        )

    def settled(self, offsets: Offsets) -> bool:
        """Whether a batch that ends at `offsets` has the topics wanted."""
        return self.existing <= offsets.keys() <= self.wanted


class QueryRun:
    """A query that has been started. *Cost*: a start takes 1-2 s, `check` 1 ms."""

    def __init__(self, spark: SparkSession, config: MatchConfig, reading: Reading) -> None:
        self.reading = reading
        self._spark = spark
        self._config = config
        self._seeds: list[Broadcast[bytes]] = []
        self._query = self._started()

    def check(self) -> None:
        """Raise QueryFailedError if the query has stopped by itself, SparkFailedError if Spark's JVM is no more."""
        try:
            failure = None if self._query.isActive else explain_failure(self._query)
        except JVM_GONE as gone:
            raise jvm_ended(gone) from gone
        if failure is not None:
            raise failure

    def finish(self, left: Callable[[], float]) -> None:
        """Run the batch that is planned and not committed, and no other, while seconds are `left`.

        For a query that was stopped. *Cost*: its start and the batch.
        """
        if left() <= 0:
            return
        with contextlib.suppress(PySparkException, Py4JError, EOFError, OSError):
            self._query = self._started(planned_only=True)
            while not self._query.awaitTermination(1) and left() > 0:
                pass
        self.stop()

    def stop(self) -> None:
        """Stop the query, also in the middle of a batch (which then runs again)."""
        with contextlib.suppress(PySparkException, Py4JError, EOFError, OSError):
            self._query.stop()
        while self._seeds:
            with contextlib.suppress(PySparkException, Py4JError, EOFError, OSError):
                self._seeds.pop().destroy()

    def _started(self, planned_only: bool = False) -> StreamingQuery:
        """Start the query. Its seeds are a file each in the driver, until it is stopped."""
        seeds = {group: self._spark.sparkContext.broadcast(seed) for group, seed in self._config.seeds.items()}
        self._seeds += seeds.values()
        return start_match(self._spark, self._config, seeds, planned_only)
