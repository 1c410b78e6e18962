"""The rows of a stream in one batch: decoded, and judged by their event time. What does not count is a dead letter.

    tombstone          a record without a value: there is nothing that it could delete
    null_not_allowed   a row without event time
    late, ahead        by the horizon of the stream (`horizon.py`)

The Kafka key says nothing of a row. What is left are inserts, each with a key of its own, which nobody keeps.

Cost: that of the format, and 0.1 us a record; 10 us a dead letter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import pyarrow as pa

from catalog.schema.relation import Relation
from catalog.schema.stream import SECOND, Stream
from catalog.types.value import moment_text
from connectors.dead_letter import DeadLetter, RecordFault
from connectors.decoded import Decoded
from connectors.formats.record_format import format_of
from connectors.record import RawRecords
from shard.horizon import Come, Judged
from state.arrow_strings import ArrowStrings
from state.change_batch import I64, Bool, ChangeBatch


@dataclass(frozen=True, slots=True)
class StreamRows:
    """Rows with an event time, and what was none. place: int64[rows], which record each is.

    dead: by place the letters of other records, and of these rows those that do not count.
    """

    relation: Relation
    records: RawRecords
    decoded: Decoded
    changes: ChangeBatch
    place: I64
    dead: dict[int, DeadLetter]

    @classmethod
    def of(cls, relation: Relation, records: RawRecords) -> StreamRows:
        """Decode the records of a stream."""
        decoded = format_of(relation, keyless=True).decode(replace(records, keys=[None] * len(records)))
        changes, place = decoded.changes, _places(records, decoded.changes)
        others = np.setdiff1d(np.arange(len(records)), place).tolist() if decoded.dead else []
        at = {(int(records.partition[i]), int(records.offset[i])): i for i in others}
        dead = {at[letter.partition, letter.offset]: letter for letter in decoded.dead}
        dead = {i: _as_it_came(letter, records, i) for i, letter in dead.items()}
        timed = changes.valid[relation.index(_stream(relation).event_time)] & changes.live
        for i in place[~timed].tolist():
            dead[i] = DeadLetter.of(_timeless(relation), records, i)
        return cls(relation, records, decoded, _taken(changes, timed), place[timed], dead)

    @property
    def come(self) -> Come:
        """What the horizon judges."""
        time = self.changes.codes[self.relation.index(_stream(self.relation).event_time)]
        return Come(self.changes.partition, self.changes.offset, time, self.records.timestamp[self.place])

    def counting(self, judged: Judged) -> ChangeBatch:
        """Return the rows that count, each with a key and a cause of its own; note dead letters for the others."""
        come = self.come
        for i in np.flatnonzero(judged.late | judged.ahead).tolist():
            time, stamp = int(come.time[i]), int(come.stamp[i])
            late = bool(judged.late[i])
            fault = _late(self.relation, time, int(judged.floor[i])) if late else _ahead(self.relation, time, stamp)
            place = int(self.place[i])
            self.dead[place] = DeadLetter.of(fault, self.records, place)
        changes = _taken(self.changes, ~(judged.late | judged.ahead))
        numbers = np.arange(len(changes), dtype=np.int64)
        return replace(changes, keys=_keys(numbers), cause=numbers.astype(np.int32), kept=None)

    @property
    def letters(self) -> list[DeadLetter]:
        """The dead letters, in the order of their records."""
        return [self.dead[place] for place in sorted(self.dead)]


def _stream(relation: Relation) -> Stream:
    assert relation.stream is not None, relation
    return relation.stream


def _places(records: RawRecords, changes: ChangeBatch) -> I64:
    """Return which record each change is of."""
    if len(changes) == len(records):
        return np.arange(len(records))
    found = np.empty(len(changes), np.int64)
    for partition in np.unique(changes.partition).tolist():
        mine, its = np.flatnonzero(changes.partition == partition), np.flatnonzero(records.partition == partition)
        found[mine] = its[np.searchsorted(records.offset[its], changes.offset[mine])]
    return found


def _taken(changes: ChangeBatch, chosen: Bool) -> ChangeBatch:
    """Return the chosen ones of changes that stand in columns."""
    if chosen.all():
        return changes
    which = np.flatnonzero(chosen)
    return ChangeBatch(
        [b""] * len(which),
        changes.live[which],
        np.ascontiguousarray(changes.codes[:, which]),
        np.ascontiguousarray(changes.valid[:, which]),
        {
            column: texts.taken(which) if isinstance(texts, ArrowStrings) else [texts[i] for i in which.tolist()]
            for column, texts in changes.texts.items()
        },
        changes.partition[which],
        changes.offset[which],
    )


def _keys(numbers: I64) -> Sequence[bytes]:
    """Return a key for each number."""
    edges = np.arange(len(numbers) + 1, dtype=np.int64) * numbers.itemsize
    buffers = [None, pa.py_buffer(edges), pa.py_buffer(np.ascontiguousarray(numbers))]
    flat = ArrowStrings[bytes](pa.Array.from_buffers(pa.large_binary(), len(numbers), buffers))
    return cast(Sequence[bytes], flat)


def _as_it_came(letter: DeadLetter, records: RawRecords, place: int) -> DeadLetter:
    """Return the letter of a record with its key; the decoder has not seen that."""
    if records.values[place] is None:
        what = "a record without a value: the rows of a stream come and are never deleted"
        return DeadLetter.of(RecordFault("tombstone", what), records, place)
    return replace(letter, key=records.keys[place])


def _timeless(relation: Relation) -> RecordFault:
    what = f"column `{_stream(relation).event_time}`: expected when the row happened, got null"
    return RecordFault("null_not_allowed", what)


def _late(relation: Relation, time: int, floor: int) -> RecordFault:
    stream = _stream(relation)
    return RecordFault(
        "late",
        f"column `{stream.event_time}`: {moment_text(time)} is before {moment_text(floor)}, up to where its partition "
        f"was complete when it came: what came before it was more than {stream.lateness / SECOND:g} s ahead of it; "
        "a greater 'lateness' waits longer",
    )


def _ahead(relation: Relation, time: int, stamp: int) -> RecordFault:
    stream = _stream(relation)
    ahead = f"{moment_text(time)} is more than {stream.ahead / SECOND:g} s after {moment_text(stamp)}"
    return RecordFault(
        "ahead",
        f"column `{stream.event_time}`: {ahead}, the time of its record: its clock is wrong, or 'ahead' too small",
    )
