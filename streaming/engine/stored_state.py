"""The states of an engine's shards as its checkpoint holds them, read through Spark's state data source.

The engine may run meanwhile: what is read is the last batch that was committed.
"""

from __future__ import annotations

from dataclasses import dataclass

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from catalog.schema.relation import Relation
from shard.group import alone
from shard.state import ShardState
from state.errors import StateError
from streaming.checkpoint.checkpoint import Checkpoint
from streaming.checkpoint.files import open_files
from streaming.checkpoint.generation import Generations
from streaming.engine.rebuild import read_seed


@dataclass(frozen=True, slots=True)
class StoredState:
    """The states of a relation's shards at the end of `batch`."""

    batch: int
    states: list[ShardState]


def read_state(spark: SparkSession, checkpoint: str, relation: Relation) -> StoredState | None:
    """Return the relation's states, None while the checkpoint holds no batch. *Cost*: 1-3 s.

    Raises StateError if it cannot be read.
    """
    checkpoint = Generations(open_files(spark, checkpoint), checkpoint).location()
    files = open_files(spark, checkpoint)
    batch = Checkpoint(files, checkpoint).last_committed()
    if batch < 0:
        return None
    spark.streams.active  # noqa: B018 (makes the manager of queries, without which a session finds no state)
    source = spark.read.format("statestore").option("batchId", batch)
    try:
        groups = source.load(checkpoint).selectExpr("key.shard", "value")
        rows = {shard: value for shard, value in groups.collect() if shard in relation.shards}
    except (PySparkException, Py4JError) as error:
        raise StateError(
            f"the state of `{relation.name}` in `{checkpoint}` cannot be read: {_reason(error)}. "
            f"`tidewire rebuild {relation.name}` makes it anew from the log."
        ) from error
    data = {shard: _state_of(value.asDict(recursive=True)) for shard, value in rows.items()}
    found = [data[shard] if shard in data else read_seed(files, shard) for shard in relation.shards]
    return StoredState(batch, [alone(relation, *pair) for pair in zip(relation.shards, found, strict=True)])


def _reason(error: Exception) -> str:
    """Return the line of a Java trace that says what was wrong."""
    lines = str(error).splitlines() or [repr(error)]
    return next((line.strip() for line in lines if "[CANNOT_LOAD" in line), lines[0]).rstrip(".")


def _state_of(value: dict[str, object]) -> bytes | None:
    """Return our one binary column from the row that Spark keeps for a group."""
    for found in value.values():
        if isinstance(found, dict):
            return _state_of(found)
        if isinstance(found, bytes | bytearray):
            return bytes(found)
    return None
