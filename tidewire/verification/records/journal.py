"""What verification reads: the records of the topics, and what of them Kafka no longer has."""

from __future__ import annotations

import bisect
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from tidewire.verification.records.sample import EVERY_ONE, Sample


class Record(NamedTuple):
    """One record. `timestamp` is in milliseconds; a value of None is a tombstone.

    `header` is that of the name `tidewire`, and read of the topics of views alone.
    """

    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    header: bytes | None = None


@dataclass(slots=True)
class TopicLog:
    """The records of one topic that are still there, by partition in the order of their offsets.

    `begin` and `end` are the lowest offset kept and the offset behind the last record, by partition.
    `compacted` says whether records may be missing in between.
    """

    name: str
    records: dict[int, list[Record]] = field(default_factory=dict)
    begin: dict[int, int] = field(default_factory=dict)
    end: dict[int, int] = field(default_factory=dict)
    compacted: bool = False

    @classmethod
    def of(cls, name: str, records: Iterable[Record], partitions: int = 1) -> TopicLog:
        """Make a whole log, with nothing trimmed, of records in any order."""
        log = cls(name, {p: [] for p in range(partitions)}, dict.fromkeys(range(partitions), 0))
        for record in sorted(records, key=lambda r: (r.partition, r.offset)):
            log.records.setdefault(record.partition, []).append(record)
        log.begin = dict.fromkeys(log.records, 0)
        log.end = {p: kept[-1].offset + 1 if kept else 0 for p, kept in log.records.items()}
        return log

    def all(self) -> list[Record]:
        """Return all records, partition after partition."""
        return [record for partition in sorted(self.records) for record in self.records[partition]]

    def has_lost(self, partition: int, start: int, end: int) -> bool:
        """Whether some of the offsets [start, end) of a partition have no record. Cost: O(log n)."""
        kept = self.records.get(partition, [])
        first = bisect.bisect_left(kept, start, key=lambda record: record.offset)
        return bisect.bisect_left(kept, end, lo=first, key=lambda record: record.offset) - first < end - start

    def trimmed(self, partition: int) -> bool:
        """Whether the beginning of `partition` is gone."""
        return self.begin.get(partition, 0) > 0


@dataclass(slots=True)
class Journal:
    """Everything that verification looks at. `relations` is by topic name.

    `later_tombstones` are those that came to `subscriptions` after it was read and before the deliveries were.
    `deliveries` may lack those of subscriptions that `sample` leaves out; these are not judged. Of `registrations`
    there are the records that say that streams are silent. `written` are the topics that views are written to, by name.
    """

    catalog: TopicLog
    batches: TopicLog
    subscriptions: TopicLog
    acks: TopicLog
    deliveries: TopicLog
    dead_letters: TopicLog
    relations: dict[str, TopicLog]
    later_tombstones: list[Record] = field(default_factory=list)
    sample: Sample = EVERY_ONE
    silences: TopicLog | None = None
    registrations: TopicLog | None = None
    written: dict[str, TopicLog] = field(default_factory=dict)
