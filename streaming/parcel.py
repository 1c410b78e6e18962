"""Parcels: how records travel through Spark's shuffle, many in one row.

    source rows -> Wrap (mapInArrow, where they were read) -> parcels -> shuffle by shard -> unwrap (ShardFunction)

Row by row, the shuffle, the sort by group and the way into the worker cost more than all our work on a record, most of
it on one core; and with every Arrow batch of a group Spark pickles the whole state again (2.6 MB ten times a batch was
half of the JVM's work, measured). A parcel is an Arrow batch of records of one topic and shard as Arrow IPC: wrapped
where they were read, in parallel, and opened without a copy.

What is in a parcel depends on how Spark cuts its input, and so no answer may depend on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connectors.record import RawRecords
from state.arrow_strings import ArrowStrings

RECORDS = ("source", "key", "value", "partition", "offset", "micros")
"""Columns of the rows that are wrapped: `source` numbers the topic, `micros` is the timestamp."""
PARCELS = "shard string, source int, parcel binary"
_SCHEMA = pa.schema([("shard", pa.string()), ("source", pa.int32()), ("parcel", pa.large_binary())])


@dataclass(frozen=True, slots=True)
class Wrap:
    """The function that Spark calls for the records of a task.

    `shards[source]` are the shards that a topic feeds: usually one. A topic that fed another table in an earlier
    version of the catalog also feeds that table's shard, for a batch that was planned then. Topic 0 holds
    registrations, which name their shard as key; one that names none of `known` is dropped, as it would make a group
    of its own.
    """

    shards: tuple[tuple[str, ...], ...]
    known: tuple[str, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield a row a batch, topic and shard. Cost: 0.05 us a record."""
        for batch in batches:
            sources = pc.unique(batch.column("source")).to_pylist()
            rows = [row for source in sources for row in self._rows(batch, source)]
            yield pa.RecordBatch.from_pylist(rows, _SCHEMA)

    def _rows(self, batch: pa.RecordBatch, source: int) -> Iterator[dict[str, object]]:
        records = _only(batch.select(RECORDS[1:]), batch.column("source"), source)
        if source:
            parcel = _written(records)
            yield from (_row(shard, source, parcel) for shard in self.shards[source])
            return
        for key in pc.unique(records.column("key")).to_pylist():
            name = (key or b"").decode(errors="replace")
            if name in self.known:
                yield _row(name, source, _written(_only(records, records.column("key"), key)))


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


def _row(shard: str, source: int, parcel: bytes) -> dict[str, object]:
    return {"shard": shard, "source": source, "parcel": parcel}


def _only(batch: pa.RecordBatch, column: pa.Array, value: bytes | int) -> pa.RecordBatch:
    """Return the rows where `column` is `value`; all of them as they are."""
    wanted = pc.equal(column, pa.scalar(value, column.type))
    return batch if pc.all(wanted).as_py() and not column.null_count else batch.filter(wanted)


def _written(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue().to_pybytes())
