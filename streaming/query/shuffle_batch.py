"""Parcels: how records travel through Spark's shuffle, many in one row.

    source rows -> ShuffleBatches (mapInArrow, where they were read) -> parcels -> shuffle -> unwrap (GroupFunction)

Row by row, the shuffle, the sort by group and the way into the worker cost more than all our work on a record, most of
it on one core; and with every Arrow batch of a group Spark pickles the whole state again (2.6 MB ten times a batch was
half of the JVM's work, measured). A parcel is an Arrow batch of records of one topic and shard as Arrow IPC: wrapped
where they were read, in parallel, and opened without a copy.

A record of a table with buckets goes to the shard of its key's bucket (`formats/bucket.py`). What is in a parcel
depends on how Spark cuts its input, and so no answer may depend on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from catalog.schema.relation import Catalog, Relation
from connectors.formats.bucket import buckets_of
from connectors.record import RawRecords
from state.arrow_strings import ArrowStrings
from streaming.query.batch_context import Catalogs, catalog_at, current_batch

RECORDS = ("source", "key", "value", "partition", "offset", "micros")
"""Columns of the rows that are wrapped: `source` numbers the topic, `micros` is the timestamp."""
PARCELS = "shard string, source int, parcel binary"
_SCHEMA = pa.schema([("shard", pa.string()), ("source", pa.int32()), ("parcel", pa.large_binary())])


@dataclass(frozen=True, slots=True)
class ShuffleBatches:
    """The function that Spark calls for the records of a task.

    `sources` are the topics by number, `catalogs` (first batch, catalog) in ascending order: a record goes to the shard
    that it has in the catalog of its batch, and nowhere if that doesn't read its topic. Topic 0 holds registrations,
    which name their shard as key; one that names no shard is dropped, as it would make a group of its own.
    """

    sources: tuple[str, ...]
    catalogs: Catalogs

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield a row a batch, topic and shard. Cost: 0.05 us a record, 0.3 us where there are buckets."""
        catalog = catalog_at(self.catalogs, current_batch())
        relations = {relation.topic: relation for relation in catalog.relations.values()}
        for batch in batches:
            rows: list[dict[str, object]] = []
            for source in pc.unique(batch.column("source")).to_pylist():
                records = _only(batch.select(RECORDS[1:]), batch.column("source"), source)
                relation = relations.get(self.sources[source])
                parts = _registered(records, catalog) if not source else _parted(records, relation)
                rows += [{"shard": shard, "source": source, "parcel": written(part)} for shard, part in parts]
            yield pa.RecordBatch.from_pylist(rows, _SCHEMA)


def _registered(records: pa.RecordBatch, catalog: Catalog) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Part registrations by the shard that they name."""
    for key in pc.unique(records.column("key")).to_pylist():
        name = (key or b"").decode(errors="replace")
        if catalog.relation_of(name) is not None:
            yield name, _only(records, records.column("key"), key)


def _parted(records: pa.RecordBatch, relation: Relation | None) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Part the records of a table by shard; their order is kept in each."""
    if relation is None:
        return
    if not relation.bucket_by:
        yield relation.shard, records
        return
    buckets = buckets_of(relation).of_keys(ArrowStrings.of_bytes(records.column("key")))
    order = np.argsort(buckets, kind="stable")
    found, starts = np.unique(buckets[order], return_index=True)
    sorted_ = records.take(pa.array(order))
    for bucket, start, end in zip(found.tolist(), starts.tolist(), [*starts[1:].tolist(), len(order)], strict=True):
        yield relation.shards[bucket], sorted_.slice(start, end - start)


def unwrap(parcel: bytes, topic: str) -> RawRecords:
    """Return the records of a parcel, which are all of `topic`."""
    with pa.ipc.open_stream(parcel) as reader:
        batch = reader.read_next_batch()
    return RawRecords(
        topic=topic,
        keys=ArrowStrings.of_bytes(batch.column("key")),
        values=ArrowStrings.of_bytes(batch.column("value")),
        partition=batch.column("partition").to_numpy().astype(np.int32, copy=False),
        offset=batch.column("offset").to_numpy().astype(np.int64, copy=False),
        timestamp=batch.column("micros").to_numpy().astype(np.int64, copy=False),
    )


def _only(batch: pa.RecordBatch, column: pa.Array, value: bytes | int) -> pa.RecordBatch:
    """Return the rows where `column` is `value`; all of them as they are."""
    wanted = pc.equal(column, pa.scalar(value, column.type))
    return batch if pc.all(wanted).as_py() and not column.null_count else batch.filter(wanted)


def written(batch: pa.RecordBatch) -> bytes:
    """Return records of one topic, all of one shard, as a parcel."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue().to_pybytes())
