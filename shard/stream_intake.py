"""The rows of a stream in one batch, taken by whoever follows its event time: its shard, and its copy in each cell.

    silences that were heard, rows of the topic    ->    the horizon moves; what counts; where silences have counted

Each of them goes through the same rows and silences in the same batches, so all come to the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from operators.silenced import Silenced
from shard.group_spec import GroupSpec
from shard.horizon import Come, Horizon
from shard.order import Ordered
from shard.state import ShardState
from shard.stream_rows import StreamRows
from state.change_batch import I32, I64, ChangeBatch

_NOTHING = np.zeros(0, np.int64)
_NO_ROWS = Come(_NOTHING.astype(np.int32), _NOTHING, _NOTHING, _NOTHING)


@dataclass(frozen=True, slots=True)
class StreamIntake:
    """What came, and of that what counts; None where the batch had no records. silenced: what is to be told."""

    rows: StreamRows | None
    changes: ChangeBatch | None
    silenced: list[Silenced]


def take_in(spec: GroupSpec, member: ShardState, ordered: Ordered) -> StreamIntake:
    """Let silences, which `member` has heard, and rows move its horizon. Cost: as `StreamRows` and `Horizon.take`."""
    relation = member.relation
    if member.horizon is None:
        member.horizon = Horizon.of(spec.silenced.get(relation.name, ()), relation.born)
    records = ordered.rows.get(relation.topic)
    rows = None if records is None else StreamRows.of(relation, records)
    come = _NO_ROWS if rows is None else rows.come
    read = {} if records is None else _ends(records.partition, records.offset)
    count = spec.counts.get(relation.topic, 0)
    judged = member.horizon.take(relation, come, read, member.heard, count)
    return StreamIntake(rows, None if rows is None else rows.counting(judged), judged.silenced)


def _ends(partition: I32, offset: I64) -> dict[int, int]:
    """Return by partition one more than the last offset."""
    return {p: int(offset[partition == p].max()) + 1 for p in np.unique(partition).tolist()}
