"""The order rule: in which sequence a shard took the records of each batch.

Within a batch: by (running maximum of the timestamp over the records of the same partition in this batch, dead letters
included; topic, partition, offset). Batches follow one another. Where a table has buckets each takes its records by
itself; a question is about one bucket, so it is all the same in which order the buckets of a batch follow one another.
`seq` numbers the records of one table in one epoch from 1; position b is the seq of the last record of batch b, so an
answer "at the end of b" is the answer at that seq.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from tidewire.verification.input.bucket import bucket_of
from tidewire.verification.input.declared import Declared, Table
from tidewire.verification.input.registry_schemas import Told
from tidewire.verification.records.batches import Batch, Batches
from tidewire.verification.records.journal import Record, TopicLog


class Taken(NamedTuple):
    """A record as a shard took it: under which declaration, in which batch, of a topic of how many partitions then."""

    table: Table
    batch: int
    record: Record
    partitions: int = 1


@dataclass(slots=True)
class TakenRecords:
    """Records in the sequence in which they were taken in one epoch; `taken[i]` has seq i + 1.

    `limit` is None, or says why values cannot be judged: part of the input is not there any more, or (`unread`) nobody
    says by which schemas its records are to be read.
    """

    epoch: int
    taken: list[Taken] = field(default_factory=list, kw_only=True)
    limit: str | None = field(default=None, kw_only=True)
    unread: bool = field(default=False, kw_only=True)
    _batches: list[int] = field(default_factory=list, kw_only=True)
    _ends: list[int] = field(default_factory=list, kw_only=True)
    _places: dict[tuple[str, int, int], int] = field(default_factory=dict, kw_only=True)

    @property
    def subject(self) -> tuple[str, int]:
        """What took them: a table, by lower-case name and `born`, or a cell."""
        raise NotImplementedError

    def append(self, batch: int, taken: Iterable[Taken]) -> None:
        """Append a batch's records, which are in order."""
        for one in taken:
            self.taken.append(one)
            self._places[one.table.topic, one.record.partition, one.record.offset] = len(self.taken)
        self._batches.append(batch)
        self._ends.append(len(self.taken))

    def end_of(self, batch: int) -> int:
        """Return the seq of the last record of all batches up to `batch`; 0 before the first."""
        place = bisect.bisect_right(self._batches, batch)
        return self._ends[place - 1] if place else 0

    def seq_of(self, topic: str, partition: int, offset: int) -> int | None:
        """Return the seq of the record at this place; None if no batch took it."""
        return self._places.get((topic, partition, offset))


@dataclass(slots=True)
class Sequence(TakenRecords):
    """All records that one table's shard took in one epoch."""

    table: Table

    @property
    def subject(self) -> tuple[str, int]:
        """The table, by lower-case name and `born`."""
        return self.table.name.lower(), self.table.born

    def add(self, batch: int, table: Table, records: Iterable[Record], partitions: int = 1) -> None:
        """Append a batch's records, which are in order."""
        self.append(batch, (Taken(table, batch, record, partitions) for record in records))

    def leave_unread(self, why: str) -> None:
        """Note that records cannot be read at all."""
        self.limit, self.unread = self.limit or why, True


def sequences(
    declared: Declared, batches: Batches, logs: dict[str, TopicLog], told: Told
) -> dict[tuple[int, str, int], Sequence]:
    """Return the sequence of each (epoch, lower-case table name, born). `told`: what a registry said of schemas."""
    found: dict[tuple[int, str, int], Sequence] = {}
    whole = {table: told.listed_in(table) for table in declared.every()}
    for epoch, those in batches.epochs.items():
        for i, batch in enumerate(those):
            for name, written in declared.at(batch.catalog).items():
                table, silence = whole[written], told.silence(written)
                sequence = found.setdefault((epoch, name, table.born), Sequence(epoch, table))
                sequence.table = table
                if silence is not None:
                    sequence.leave_unread(silence)
                log = logs.get(table.topic)
                if log is not None:
                    _take(sequence, table, batch, log, first=i == 0)
    return found


def _take(sequence: Sequence, table: Table, batch: Batch, log: TopicLog, first: bool) -> None:
    parts = []
    ends = {partition: end for (topic, partition), end in batch.end.items() if topic == table.topic}
    partitions = max(ends, default=0) + 1
    for partition, end in ends.items():
        start = batch.start.get((table.topic, partition), 0)
        if first and start > 0 and (batch.at.batch > 0 or log.begin.get(partition, 0) < start):
            # The topic `batches` begins here, or the epoch began with a state made from the log of publications: it
            # passed over records that are there. All that was read before counts as one batch before it.
            _limit(sequence, log, partition, 0, start)
            sequence.add(batch.at.batch - 1, table, slice_of(log, partition, 0, start), partitions)
        _limit(sequence, log, partition, start, end)
        parts.append(slice_of(log, partition, start, end))
    sequence.add(batch.at.batch, table, by_bucket(table, parts), partitions)


def by_bucket(table: Table, parts: Iterable[list[Record]]) -> list[Record]:
    """Return the records of a batch, given as to `in_order`, bucket after bucket."""
    if not table.bucket_by:
        return in_order(parts)
    buckets: dict[int, list[list[Record]]] = {}
    for records in parts:
        mine: dict[int, list[Record]] = {}
        for record in records:
            mine.setdefault(bucket_of(table, record.key), []).append(record)
        for number, some in mine.items():
            buckets.setdefault(number, []).append(some)
    return [record for _, some in sorted(buckets.items()) for record in in_order(some)]


def in_order(parts: Iterable[list[Record]]) -> list[Record]:
    """Return the records of a batch, given by partition in the order of their offsets, as a shard takes them."""
    stamped = []
    for records in parts:
        newest = -1
        for record in records:
            newest = max(newest, record.timestamp)
            stamped.append((newest, record.partition, record.offset, record))
    stamped.sort(key=lambda entry: entry[:3])
    return [record for _, _, _, record in stamped]


def slice_of(log: TopicLog, partition: int, start: int, end: int) -> list[Record]:
    """Return the records of [start, end) of a partition."""
    records = log.records.get(partition, [])
    low = bisect.bisect_left(records, start, key=lambda r: r.offset)
    return records[low : bisect.bisect_left(records, end, lo=low, key=lambda r: r.offset)]


def _limit(sequence: Sequence, log: TopicLog, partition: int, start: int, end: int) -> None:
    """Note the first reason why this range cannot be known."""
    if sequence.limit is not None or start >= end:
        return
    where = f"table `{sequence.table.name}`, epoch {sequence.epoch}: `{log.name}` [{partition}]"
    kept = log.begin.get(partition, 0)
    if start < kept:
        sequence.limit = f"{where} has nothing before offset {kept} any more, and the epoch read from {start} on"
    elif end > log.end.get(partition, 0):
        sequence.limit = f"{where} ends at {log.end.get(partition, 0)}, but was read up to {end}: it was made anew"
    elif log.compacted and len(slice_of(log, partition, start, end)) < end - start:
        sequence.limit = f"{where} is compacted and has lost records between {start} and {end}"
