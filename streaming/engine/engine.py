"""The engine: one match query, kept going from claim to stop, and everything that must be told while it runs.

open      Kafka's topics, the Spark session, the checkpoint
claim     one engine, one epoch                                               (streaming/epoch/claim.py)
recover   where the telling stopped                                           (streaming/epoch/progress.py)
log       write every publication to the Delta table, beside all that         (streaming/log/keeper.py)
attend    run the query, tell, watch, restart it on a new catalog version     (query_controller.py)
close     the query, the session and its JVM
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession

from connectors.digest_key import digest_key
from connectors.kafka.failure import KafkaFailure
from connectors.kafka.properties import KafkaProperties
from connectors.log.publication_log import PublicationLog
from connectors.schemas.schema_registry import Registry, use_registry
from connectors.topics import Topics
from operators.control import Offsets
from shard.bounds import Bounds
from shard.cell_seed import seed_of_cell
from shard.pipeline import process_group
from streaming.checkpoint.checkpoint import Checkpoint, Sidecar
from streaming.checkpoint.commit_interval import commit_seconds
from streaming.checkpoint.files import Files, open_files
from streaming.checkpoint.generation import Generations
from streaming.engine.cell_births import CELL_SECONDS, CellBirths
from streaming.engine.query_controller import EngineContext, QueryController, Versions
from streaming.engine.rebuild import NothingToRebuildError, prepare, read_seed, untouched
from streaming.engine.stored_state import read_groups
from streaming.engine.view_topics import ViewTopics
from streaming.epoch.catalog_versions import CatalogTopic
from streaming.epoch.claim import ClaimWatch, EpochOpening, LivenessProbe, claim
from streaming.epoch.kafka_cluster import KafkaCluster
from streaming.epoch.progress import ProgressWriter
from streaming.epoch.silenced import silenced
from streaming.log.keeper import LogConfig, LogKeeper
from streaming.query.adapter import Process
from streaming.query.failure import foreseen
from streaming.query.match import MatchConfig
from streaming.query.query_run import QueryRun, Reading
from streaming.query.session import SessionConfig, close_session, jvm_is_alive, open_session

_RETRY_SECONDS = 1.0
_LOG = logging.getLogger("tidewire.engine")


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """What an engine is told.

    Args:
        kafka: the cluster, and the user's client properties.
        checkpoint: a path, or the URI of any store that Hadoop reaches; never below the system's temporary folder
            unless it may be lost.
        master: any Spark master; `local[*]` by default.
        spark_jars: local paths of Spark's Kafka connector and what it needs.
        spark: Spark settings; they win over ours.
        take_over: start although another engine seems to be at work; it will stop itself.
        max_offsets: records a batch; a shard orders its whole part of a batch in memory.
        bounds: the most that subscriptions may make one shard hold.
        local_dir: where Spark keeps its working files.
        log: where and how often publications are logged; None: not at all.
        registry: the schema registry of tables that say so.
        cell_seconds: the least time between two starts of the query for cells.
    """

    kafka: KafkaProperties
    checkpoint: str
    topics: Topics = field(default_factory=Topics)
    master: str = "local[*]"
    spark_jars: Sequence[Path] = ()
    spark: Mapping[str, str] = field(default_factory=dict)
    driver_memory: str = "1g"
    take_over: bool = False
    max_offsets: int = 100_000
    bounds: Bounds = field(default_factory=Bounds)
    local_dir: Path | None = None
    log: LogConfig | None = None
    registry: Registry | None = None
    cell_seconds: float = CELL_SECONDS

    @property
    def session(self) -> SessionConfig:
        """The part that concerns the Spark session."""
        return SessionConfig(
            self.master, self.spark_jars, self.checkpoint, self.local_dir, self.driver_memory, self.spark
        )


class Engine:
    """Runs the match query.

    Args:
        spark: a session to work in, which is left open; by default the engine starts one and ends its JVM.
        process: what a shard does to a batch; importable on the workers.
        progress_writer: the class that tells progress.
    """

    def __init__(
        self,
        config: EngineConfig,
        spark: SparkSession | None = None,
        process: Process = process_group,
        progress_writer: Callable[..., ProgressWriter] = ProgressWriter,
    ) -> None:
        self._config = config
        self._spark = spark
        self._process = process
        self._progress_writer = progress_writer

    def run(self, stop: threading.Event) -> None:
        """Work until `stop` is set, then return at the end of the batch, 10 s later at most, leaving no process behind.

        Raises:
            TidewireError: whatever ends an engine, as one message; `code` says which. `retry_helps` says whether
                starting it again can help.
        """
        config = self._config
        use_registry(config.registry)
        cluster = KafkaCluster(config.kafka)
        partitions = _persist(lambda: cluster.ensure_topics(config.topics), stop)
        if partitions is None:
            return
        stillness = LivenessProbe.begin(cluster, config.topics)
        with foreseen(jvm_is_alive), self._session() as spark:
            generations = Generations(open_files(spark, config.checkpoint), config.checkpoint)
            self._rebuild(spark, cluster, generations)
            where = generations.location()
            checkpoint = Checkpoint(open_files(spark, where), where)
            sidecar = self._claim(cluster, checkpoint, stillness)
            checkpoint.begin = sidecar.begin
            with self._log(spark, cluster) as keeper:
                context = self._desk(spark, cluster, checkpoint, sidecar, partitions, generations, keeper)
                context.writer.recover()
                _LOG.info("epoch %d, last batch told %d", sidecar.epoch, context.writer.last)
                QueryController(context, self._start_query(spark, context, partitions)).run(stop)

    @contextmanager
    def _session(self) -> Iterator[SparkSession]:
        if self._spark is not None:
            yield self._spark
            return
        spark = open_session(self._config.session)
        try:
            yield spark
        finally:
            close_session(spark)

    def _log(self, spark: SparkSession, cluster: KafkaCluster) -> AbstractContextManager[LogKeeper | None]:
        config = self._config
        if config.log is None:
            return nullcontext()
        return LogKeeper(spark, cluster, config.topics, config.kafka.java(), config.log)

    def _rebuild(self, spark: SparkSession, cluster: KafkaCluster, generations: Generations) -> None:
        """Rebuild the state from the log, if somebody has asked for it (rebuild.py)."""
        config, asked = self._config, generations.read()
        if asked.rebuild is None:
            return
        if config.log is None:
            raise NothingToRebuildError("the state is to be rebuilt, but no log is kept: `log_seconds` is 0.")
        where = generations.location(asked.number + 1)
        catalogs = CatalogTopic(cluster, config.topics)
        catalogs.poll()
        log = PublicationLog(config.log.table)
        prepare(asked.rebuild, log, catalogs.newest, cluster, config.topics, open_files(spark, where), where)
        generations.enter(asked.number + 1)

    def _claim(self, cluster: KafkaCluster, checkpoint: Checkpoint, stillness: LivenessProbe) -> Sidecar:
        """Claim; an old checkpoint is first told of newer engines, as that says more than "somebody is at work".

        An engine that does not know all of the catalog claims nothing: it would end one that does.
        """
        config = self._config
        CatalogTopic(cluster, config.topics).poll()
        known = checkpoint.load()
        if known is not None and known.epoch >= 0:
            ClaimWatch(cluster, config.topics, known).check()
        if not config.take_over:
            stillness.check(cluster, config.topics)
        return claim(cluster, config.topics, checkpoint)

    def _desk(
        self,
        spark: SparkSession,
        cluster: KafkaCluster,
        checkpoint: Checkpoint,
        sidecar: Sidecar,
        partitions: int,
        generations: Generations,
        keeper: LogKeeper | None,
    ) -> EngineContext:
        topics = self._config.topics
        catalogs = CatalogTopic(cluster, topics)
        keepers = [] if keeper is None else [keeper]
        read = partial(read_groups, spark, checkpoint.uri)
        return EngineContext(
            cluster=cluster,
            topics=topics,
            checkpoint=checkpoint,
            sidecar=sidecar,
            catalogs=catalogs,
            writer=self._progress_writer(cluster, checkpoint, topics, partitions, sidecar.epoch),
            watch=ClaimWatch(cluster, topics, sidecar),
            opening=EpochOpening(cluster, checkpoint, topics, partitions),
            births=CellBirths(
                cluster, topics, checkpoint, sidecar, catalogs, read, seed_of_cell, self._config.cell_seconds
            ),
            view_topics=ViewTopics(cluster, topics, checkpoint, sidecar),
            commit_seconds=commit_seconds(checkpoint.uri),
            checks=(generations.check, *(one.check for one in keepers)),
            at_work=tuple(one.begin for one in keepers),
        )

    def _start_query(
        self, spark: SparkSession, context: EngineContext, partitions: int
    ) -> Callable[[Versions, Reading], QueryRun]:
        def start(catalogs: Versions, reading: Reading) -> QueryRun:
            asked = self._config.topics.subscriptions
            begin, seeds = beginning_of(context, reading.existing, open_files(spark, context.checkpoint.uri))
            seeds |= context.births.seeds(catalog for _, catalog in catalogs)
            config = MatchConfig(
                process=self._process,
                epoch=context.sidecar.epoch,
                catalogs=catalogs,
                reads=tuple(sorted(reading.wanted)),
                topics=self._config.topics,
                partitions=partitions,
                kafka=self._config.kafka.java(),
                checkpoint=context.checkpoint.uri,
                max_offsets=self._config.max_offsets,
                bounds=self._config.bounds,
                digest_key=digest_key(context.cluster.ids([asked]).get(asked, "")),
                relaxed=reading.relaxed,
                several=reading.several,
                counts=reading.counts,
                silenced=silenced(context.cluster, self._config.topics, context.sidecar.silences),
                begin=begin,
                seeds=seeds,
                registry=self._config.registry,
            )
            return QueryRun(spark, config, reading)

        return start


def beginning_of(context: EngineContext, topics: Iterable[str], files: Files) -> tuple[Offsets, dict[str, bytes]]:
    """Return where a rebuilt checkpoint begins that has no batch yet, and the seeds of groups without a state.

    A batch that is planned and not committed runs again, and begins with the same seeds.
    """
    sidecar, committed = context.sidecar, context.checkpoint.last_committed()
    if not sidecar.seeds:
        return {}, {}
    last = context.checkpoint.end_offsets(committed) if committed >= 0 else {}
    seeds = {group: read_seed(files, group) or b"" for group in untouched(sidecar, last)}
    places = {
        topic: {
            str(p): sidecar.begin.get(topic, {}).get(str(p), first)
            for p, first in context.cluster.begins(topic).items()
        }
        for topic in sorted(topics)
    }
    return {} if context.checkpoint.last_planned() >= 0 else places, seeds


def _persist(ask: Callable[[], int], stop: threading.Event) -> int | None:
    """Ask until Kafka answers, saying once for what is waited; None if `stop` is set before."""
    said = ""
    while not stop.is_set():
        try:
            return ask()
        except KafkaFailure as failure:
            if not failure.retry_helps:
                raise
            if str(failure) != said:
                said = str(failure)
                _LOG.warning("waiting for Kafka: %s", said)
        stop.wait(_RETRY_SECONDS)
    return None
