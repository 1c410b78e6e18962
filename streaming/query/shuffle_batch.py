"""Parcels: how records travel through Spark's shuffle, many in one row.

    source rows -> ShuffleBatches (mapInArrow, where they were read) -> parcels -> shuffle -> unwrap (GroupFunction)

Row by row, the shuffle, the sort by group and the way into the worker cost more than all our work on a record, most of
it on one core; and with every Arrow batch of a group Spark pickles the whole state again (2.6 MB ten times a batch was
half of the JVM's work, measured). A parcel is an Arrow batch of records of one topic and shard as Arrow IPC: wrapped
where they were read, in parallel, and opened without a copy.

Which groups a record goes to is decided in `connectors/placement.py`. What is in a parcel depends on how Spark cuts its
input, and so no answer may depend on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connectors.placement import Placement
from connectors.record import RawRecords
from state.arrow_stream import stream_of
from state.arrow_strings import ArrowStrings
from streaming.query.batch_context import Placements, current_batch, placement_at

RECORDS = ("source", "key", "value", "partition", "offset", "micros")
"""Columns of the rows that are wrapped: `source` numbers the topic, `micros` is the timestamp."""
PARCELS = "shard string, source int, parcel binary"
_SCHEMA = pa.schema([("shard", pa.string()), ("source", pa.int32()), ("parcel", pa.large_binary())])


@dataclass(frozen=True, slots=True)
class ShuffleBatches:
    """The function that Spark calls for the records of a task.

    `sources` are the topics by number, `placements` (first batch, placement) in ascending order: a record goes where
    the placement of its batch says, and nowhere if that has no reader of its topic. Topic 0 holds registrations, which
    name a member as key; one that names none is dropped, as it would make a group of its own.
    """

    sources: tuple[str, ...]
    placements: Placements

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield a row a batch, topic and group. Cost: 0.05 us a record, 0.3 us where there are buckets."""
        placement = placement_at(self.placements, current_batch())
        for batch in batches:
            rows: list[dict[str, object]] = []
            for source in pc.unique(batch.column("source")).to_pylist():
                records = _only(batch.select(RECORDS[1:]), batch.column("source"), source)
                parts = _parted(records, self.sources[source], placement) if source else _registered(records, placement)
                for groups, part in parts:
                    parcel = written(part)
                    rows += [{"shard": group, "source": source, "parcel": parcel} for group in groups]
            yield pa.RecordBatch.from_pylist(rows, _SCHEMA)


def _registered(records: pa.RecordBatch, placement: Placement) -> Iterator[tuple[list[str], pa.RecordBatch]]:
    """Part registrations by what they name."""
    for key in pc.unique(records.column("key")).to_pylist():
        groups = placement.of_registration(key)
        if groups:
            yield [*groups], _only(records, records.column("key"), key)


def _parted(records: pa.RecordBatch, topic: str, placement: Placement) -> Iterator[tuple[list[str], pa.RecordBatch]]:
    """Part the records of a table's topic; their order is kept in each part."""
    parts = list(placement.of_records(topic, records.column("key")))
    places = [part for _, part in parts if part is not None]
    taken = records.take(pa.array(np.concatenate(places))) if places else records
    start = 0
    for groups, part in parts:
        if part is None:
            yield groups, records
        else:
            yield groups, taken.slice(start, len(part))
            start += len(part)


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
    return stream_of(batch)
