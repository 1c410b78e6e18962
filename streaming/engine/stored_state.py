"""The states of an engine's shards as its checkpoint holds them, read through Spark's state data source.

The engine may run meanwhile: what is read is the last batch that was committed.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from dataclasses import dataclass

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 (the name everyone knows)
from pyspark.sql.types import BinaryType, StructField, StructType

from catalog.schema.catalog import Catalog
from catalog.schema.relation import Relation
from catalog.schema.view import View
from shard.group import alone
from shard.state import ShardState
from shard.view_rows import view_rows
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


@dataclass(frozen=True, slots=True)
class StoredGroup:
    """The state of a group, of `size` bytes; `data` is None where these are more than somebody wants."""

    size: int
    data: bytes | None


def read_state(spark: SparkSession, checkpoint: str, relation: Relation) -> StoredState | None:
    """Return the relation's states, None while the checkpoint holds no batch. *Cost*: 1-3 s.

    Raises StateError if it cannot be read.
    """
    checkpoint = Generations(open_files(spark, checkpoint), checkpoint).location()
    batch, found = _read(spark, checkpoint, relation.shards, sys.maxsize)
    if batch < 0:
        return None
    data = [found[shard].data if shard in found else None for shard in relation.shards]
    return StoredState(batch, [alone(relation, *pair) for pair in zip(relation.shards, data, strict=True)])


def read_view(spark: SparkSession, checkpoint: str, catalog: Catalog, view: View) -> StoredState | None:
    """Return the rows of a view, made of those of its tables, as `read_state`."""
    checkpoint = Generations(open_files(spark, checkpoint), checkpoint).location()
    shards = [shard for table in view.tables for shard in catalog.relations[table].shards]
    batch, found = _read(spark, checkpoint, shards, sys.maxsize)
    if batch < 0:
        return None
    return StoredState(batch, view_rows(view, catalog, {shard: group.data for shard, group in found.items()}))


def read_groups(
    spark: SparkSession, checkpoint: str, groups: Collection[str], most: int = sys.maxsize
) -> dict[str, StoredGroup]:
    """Return the states of groups at the end of the last committed batch, of those that have one by then.

    `checkpoint` is that of a generation. What is larger than `most` is not taken out of the JVM.
    *Cost*: 1-3 s. *Raises* StateError if they cannot be read.
    """
    return _read(spark, checkpoint, groups, most)[1]


def _read(
    spark: SparkSession, checkpoint: str, groups: Collection[str], most: int
) -> tuple[int, dict[str, StoredGroup]]:
    """Return the last committed batch, -1 for none, and the states at its end."""
    files = open_files(spark, checkpoint)
    batch = Checkpoint(files, checkpoint).last_committed()
    found = _stored(spark, checkpoint, batch, groups, most) if batch >= 0 else {}
    for group in groups:
        seed = read_seed(files, group) if group not in found else None
        if seed is not None:
            found[group] = StoredGroup(len(seed), seed if len(seed) <= most else None)
    return batch, found


def _stored(
    spark: SparkSession, checkpoint: str, batch: int, groups: Collection[str], most: int
) -> dict[str, StoredGroup]:
    spark.streams.active  # noqa: B018 (makes the manager of queries, without which a session finds no state)
    source = spark.read.format("statestore").option("batchId", batch)
    try:
        table = source.load(checkpoint).where(F.col("key.shard").isin([*groups]))
        state = F.col(_binary_of(table.schema["value"], ""))
        size = F.octet_length(state)
        rows = table.select("key.shard", size, F.when(size <= F.lit(most), state)).collect()
    except (PySparkException, Py4JError) as error:
        tables = sorted({group.rpartition("/")[0] for group in groups})
        raise StateError(
            f"the state of {', '.join(f'`{table}`' for table in tables)} in `{checkpoint}` cannot be read: "
            f"{_reason(error)}. `tidewire rebuild {tables[0]}` makes it anew from the log."
        ) from error
    return {group: StoredGroup(size, None if data is None else bytes(data)) for group, size, data in rows}


def _reason(error: Exception) -> str:
    """Return the line of a Java trace that says what was wrong."""
    lines = str(error).splitlines() or [repr(error)]
    return next((line.strip() for line in lines if "[CANNOT_LOAD" in line), lines[0]).rstrip(".")


def _binary_of(column: StructField, above: str) -> str:
    """Return the name of our one binary column in what Spark keeps for a group; it wraps that in columns of its own."""
    name = f"{above}{column.name}"
    if isinstance(column.dataType, BinaryType):
        return name
    inner = column.dataType.fields if isinstance(column.dataType, StructType) else []
    return next((found for field in inner if (found := _binary_of(field, f"{name}."))), "")
