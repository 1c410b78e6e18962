"""The `match` query: every topic of the catalog and the registrations, through the groups, to Kafka.

    one Kafka source (by pattern) -> parcels (by group) -> GroupFunction (stateful) -> one Kafka sink

One source, because a checkpointed union refuses another one while a pattern picks up new topics. The JVM only
carries bytes and groups them, by what `connectors/placement.py` says: a relation's record by its topic and, where there
are buckets, its key; a registration by its key, which names a member. The column is called `shard`, as checkpoints have
it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (the name everyone knows)
from pyspark.sql.streaming import StreamingQuery
from pyspark.sql.streaming.state import GroupStateTimeout

from catalog.schema.catalog import Catalog
from connectors.kafka.producer import MESSAGE_MAX_BYTES
from connectors.placement import Placement
from connectors.record import HEADER
from connectors.schemas.schema_registry import Registry
from connectors.topics import Topics
from operators.control import Offsets
from operators.silenced import Silenced
from shard.bounds import Bounds
from shard.snapshot import DIGEST_KEY
from streaming.query import shuffle_batch
from streaming.query.adapter import GroupFunction, Process, Seed
from streaming.query.batch_context import Catalogs, Placements
from streaming.query.partition_count import Counts, Several
from streaming.query.sink_rows import COLUMNS, NO_PARTITION

QUERY_NAME = "match"
CONSUMER = {"kafka.fetch.max.wait.ms": "20", "kafka.max.poll.records": "10000"}
"""Spark asks for a partition's bounds after each poll, and waits for them behind the fetch that is under way: at the
end of a topic Kafka's 500 ms, partition after partition (a batch of 100,000 took 1.3 s instead of 0.3, measured)."""
_STATE = "state binary"
_HEADERS = "array<struct<key:string,value:binary>>"
"""The type that Spark's sink takes headers as."""


@dataclass(frozen=True, slots=True)
class MatchConfig:
    """What a start of the query needs.

    process: what is done with a group's records.  epoch: that of all that is written.
    catalogs: (first batch, catalog), ascending; the earlier ones are for batches that were planned before.
    reads: the topics to read from now on.  topics: tidewire's own.  partitions: how many virtual edges there are.
    kafka: the Java client's properties.  checkpoint: where it is.  max_offsets: how many records a batch has at most.
    relaxed: switches `failOnDataLoss` off for a run whose topics differ from the last committed offsets'.
    several: by batch, which topics have several partitions.  counts: likewise, how many those of streams have.
    silenced: where silences of streams have counted in earlier epochs, by stream.
    begin: where a new checkpoint begins, every partition of every topic; without it, at the beginning of all.
    seeds: the states of groups that have none yet.  registry: has the schemas of tables that say so.
    bounds: what subscriptions may make a shard hold.  digest_key: what rows are hashed under.
    place: says which groups there are.
    """

    process: Process
    epoch: int
    catalogs: Catalogs
    reads: tuple[str, ...]
    topics: Topics
    partitions: int
    kafka: Mapping[str, str]
    checkpoint: str
    max_offsets: int = 100_000
    relaxed: bool = False
    several: Several = ()
    counts: Counts = ()
    silenced: Mapping[str, tuple[Silenced, ...]] = field(default_factory=dict)
    begin: Offsets = field(default_factory=dict)
    seeds: Mapping[str, bytes] = field(default_factory=dict)
    registry: Registry | None = None
    bounds: Bounds = field(default_factory=Bounds)
    digest_key: bytes = DIGEST_KEY
    place: Callable[[Catalog], Placement] = Placement.of

    @property
    def placements(self) -> Placements:
        """Which groups there are, by batch as `catalogs`. Made once a start: tasks unpickle it."""
        return tuple((first, self.place(catalog)) for first, catalog in self.catalogs)


def topics_read(catalog: Catalog, topics: Topics) -> list[str]:
    """Return every topic that the query reads under `catalog`, sorted."""
    return sorted({relation.topic for relation in catalog.relations.values()} | {topics.registrations})


def subscribe_pattern(names: Iterable[str]) -> str:
    """Return the anchored Java regular expression that matches exactly `names`."""
    return "^(?:" + "|".join(re.escape(name) for name in sorted(names)) + ")$"


def start_match(
    spark: SparkSession, config: MatchConfig, seeds: Mapping[str, Seed], planned_only: bool = False
) -> StreamingQuery:
    """Start the query and return it; it works in the background until it is stopped or fails.

    `seeds` are those of `config`, where workers can get them as long as the query lives.
    With `planned_only`, which is for a checkpoint with a batch that is planned and not committed, it ends behind that.
    """
    out = _wrapped(_source(spark, config), config).groupBy("shard")
    written = out.applyInPandasWithState(
        _function(spark, config, seeds), COLUMNS, _STATE, "append", GroupStateTimeout.NoTimeout
    )
    partition = F.explode("partitions").alias("partition")
    header = F.array(F.struct(F.lit(HEADER).alias("key"), F.col("header").alias("value")))
    headers = F.when(F.col("header").isNotNull(), header).cast(_HEADERS).alias("headers")
    rows = written.select("topic", partition, "key", "value", headers).withColumn(
        "partition", F.nullif("partition", F.lit(NO_PARTITION))
    )
    writer = rows.writeStream.format("kafka").queryName(f"{QUERY_NAME}-{config.epoch}").outputMode("append")
    writer = writer.trigger(once=True) if planned_only else writer
    return writer.options(**_sink_options(config)).option("checkpointLocation", config.checkpoint).start()


def _source(spark: SparkSession, config: MatchConfig) -> DataFrame:
    options = CONSUMER | _kafka_options(config.kafka)
    options |= {
        "subscribePattern": subscribe_pattern(config.reads),
        "startingOffsets": starting_offsets(config.begin) if config.begin else "earliest",
        "maxOffsetsPerTrigger": str(config.max_offsets),
        "failOnDataLoss": "false" if config.relaxed else "true",
        "kafka.isolation.level": "read_committed",
    }
    return spark.readStream.format("kafka").options(**options).load()


def starting_offsets(begin: Offsets) -> str:
    """Return the places as Spark's Kafka source takes them."""
    return msgspec.json.encode(begin).decode()


def _sink_options(config: MatchConfig) -> dict[str, str]:
    safe = {
        "kafka.acks": "all",
        "kafka.enable.idempotence": "true",
        "kafka.max.request.size": str(MESSAGE_MAX_BYTES),
        "kafka.linger.ms": "0",
    }
    return _kafka_options(config.kafka) | safe


def _kafka_options(properties: Mapping[str, str]) -> dict[str, str]:
    return {f"kafka.{name}": str(value) for name, value in properties.items()}


def _function(spark: SparkSession, config: MatchConfig, seeds: Mapping[str, Seed]) -> GroupFunction:
    return GroupFunction(
        process=config.process,
        epoch=config.epoch,
        sources=_sources(config),
        catalogs=config.catalogs,
        placements=config.placements,
        topics=config.topics,
        partitions=config.partitions,
        several=config.several,
        counts=config.counts,
        silenced=config.silenced,
        seeds=seeds,
        registry=config.registry,
        bounds=config.bounds,
        digest_key=config.digest_key,
        flush_rows=int(spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch") or 10_000),
    )


def _sources(config: MatchConfig) -> tuple[str, ...]:
    """Return the topics by number: registrations, then all that any of the catalogs reads."""
    read = {relation.topic for _, catalog in config.catalogs for relation in catalog.relations.values()}
    return (config.topics.registrations, *sorted(read))


def numbered(names: Sequence[str]) -> Column:
    """Return the place of the column `topic` among `names`, NULL where it is not there.

    One CASE with a branch a name: nested in each other they would be as deep as there are names, and Catalyst recurses.
    """
    first, *others = names
    numbers = F.when(F.col("topic") == first, 0)
    for number, name in enumerate(others, 1):
        numbers = numbers.when(F.col("topic") == name, number)
    return numbers


def _wrapped(source: DataFrame, config: MatchConfig) -> DataFrame:
    """Give each record the number of its topic, and wrap what belongs to a group."""
    names = _sources(config)
    records = source.withColumn("source", numbered(names)).withColumn("micros", F.unix_micros("timestamp"))
    wrap = shuffle_batch.ShuffleBatches(names, config.placements)
    return (
        records.where(F.col("source").isNotNull())
        .select(*shuffle_batch.RECORDS)
        .mapInArrow(wrap, shuffle_batch.PARCELS)
    )
