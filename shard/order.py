"""Stage `order`: the one deterministic order in which a shard takes the records that a topic has for it in a batch.

Records of one topic are sorted by (running maximum of the timestamp over the records that the shard takes from that
partition in this batch, partition, offset). Offsets of a partition never change places, clocks that jump back do no
harm, and every replay of the batch gives the same order. Records that turn out to be dead letters take part. Between
topics there is no order: registrations are taken first, then rows (`shard/pipeline.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from connectors.record import RawRecords
from state.arrow_strings import ArrowStrings
from state.change_batch import I64


def order_records(parts: Sequence[RawRecords]) -> RawRecords:
    """Return the records of `parts` (all of one topic, any order) as one batch in the order above.

    Cost: O(m log m) for m records; O(m) where they come in order already, as from one partition.
    """
    records = parts[0] if len(parts) == 1 else _concatenate(parts)
    by_offset = np.lexsort((records.offset, records.partition))
    stamps = _running_maximum(records.timestamp[by_offset], records.partition[by_offset])
    order = by_offset[np.argsort(stamps, kind="stable")]
    if np.array_equal(order, np.arange(len(order))):
        return records
    return _take(records, order)


def _running_maximum(timestamp: I64, partition: np.ndarray) -> I64:
    """Running maximum of `timestamp` within each run of equal `partition`."""
    result = timestamp.copy()
    starts = np.flatnonzero(np.diff(partition, prepend=-1))
    for start, end in pairwise([*starts, len(result)]):
        np.maximum.accumulate(result[start:end], out=result[start:end])
    return result


def _concatenate(parts: Sequence[RawRecords]) -> RawRecords:
    return RawRecords(
        topic=parts[0].topic,
        keys=ArrowStrings.joined([part.keys for part in parts]),
        values=ArrowStrings.joined([part.values for part in parts]),
        partition=np.concatenate([part.partition for part in parts]),
        offset=np.concatenate([part.offset for part in parts]),
        timestamp=np.concatenate([part.timestamp for part in parts]),
    )


def _take(records: RawRecords, order: I64) -> RawRecords:
    return RawRecords(
        topic=records.topic,
        keys=ArrowStrings.of_bytes(records.keys).taken(order),
        values=ArrowStrings.of_bytes(records.values).taken(order),
        partition=records.partition[order],
        offset=records.offset[order],
        timestamp=records.timestamp[order],
    )
