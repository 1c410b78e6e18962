"""Stage `order`: the one deterministic order in which a group takes the records that its topics have for it in a batch.

Records are sorted by (running maximum of the timestamp over the records that the group takes from that partition in
this batch, topic, partition, offset). Offsets of a partition never change places, clocks that jump back do no harm, and
every replay of the batch gives the same order. Records that turn out to be dead letters take part. Registrations stand
outside of it: they are taken first, by (the same maximum, partition, offset).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from connectors.record import RawRecords
from state.arrow_strings import ArrowStrings
from state.change_batch import I64


@dataclass(frozen=True)
class Ordered:
    """The records of a batch: the registrations in order, and by topic the rows in order."""

    registrations: RawRecords | None
    rows: dict[str, RawRecords]

    @cached_property
    def named(self) -> frozenset[bytes | None]:
        """The members that registrations name. Cost: 30 ns a registration."""
        return frozenset() if self.registrations is None else frozenset(self.registrations.keys)

    def addressed(self, member: str) -> RawRecords | None:
        """Return the registrations that name `member` as their key, None if there are none."""
        name = member.encode()
        if self.registrations is None or name not in self.named:
            return None
        mine = np.flatnonzero([key == name for key in self.registrations.keys])
        if len(mine) == len(self.registrations):
            return self.registrations
        return self.registrations.take(mine) if len(mine) else None

    def places(self) -> dict[str, I64]:
        """Return by topic the place of each of its records in the order over all topics.

        Cost: O(m log m) for m records.
        """
        topics = sorted(self.rows)
        stamps = [_stamps(self.rows[topic]) for topic in topics]
        place = np.empty(sum(map(len, stamps)), np.int64)
        # Those of a topic are in order, and of equal stamps the topic decides: what stands first stays first.
        place[np.argsort(np.concatenate([*stamps, place[:0]]), kind="stable")] = np.arange(len(place))
        ends = np.cumsum([len(stamp) for stamp in stamps])
        return dict(zip(topics, np.split(place, ends[:-1]), strict=True)) if topics else {}


def order(records: Sequence[RawRecords], registrations: str, topics: Collection[str]) -> Ordered:
    """Order the records of `topics` and those of the topic `registrations`; others are passed over.

    Cost: as `order_records`.
    """
    parts: dict[str, list[RawRecords]] = {}
    for part in records:
        if len(part):
            parts.setdefault(part.topic, []).append(part)
    asked = order_records(parts[registrations]) if registrations in parts else None
    return Ordered(asked, {topic: order_records(parts[topic]) for topic in sorted(topics) if topic in parts})


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
    return records.take(order)


def _stamps(records: RawRecords) -> I64:
    """Return the running maximum of the timestamp in each record's partition up to its offset."""
    by_offset = np.lexsort((records.offset, records.partition))
    stamps = np.empty(len(by_offset), np.int64)
    stamps[by_offset] = _running_maximum(records.timestamp[by_offset], records.partition[by_offset])
    return stamps


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
