"""Records as they come from Kafka and go back to it, free of any client library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from state.arrow_strings import ArrowStrings
from state.change_batch import I32, I64

HEADER = "tidewire"
"""What the header of a record is called that has one."""


@dataclass(slots=True)
class RawRecords:
    """m records of one topic, as columns. `timestamp` is in microseconds; a value of None is a tombstone.

    Keys and values are lists, or what Arrow holds of them (`state/arrow_strings.py`).
    """

    topic: str
    keys: Sequence[bytes | None]
    values: Sequence[bytes | None]
    partition: I32
    offset: I64
    timestamp: I64

    def __len__(self) -> int:
        return len(self.keys)

    def take(self, places: I64) -> RawRecords:
        """Return the records at `places`. Cost: 50 ns each."""
        return RawRecords(
            topic=self.topic,
            keys=ArrowStrings.of_bytes(self.keys).taken(places),
            values=ArrowStrings.of_bytes(self.values).taken(places),
            partition=self.partition[places],
            offset=self.offset[places],
            timestamp=self.timestamp[places],
        )


class OutRecord(msgspec.Struct, frozen=True, gc=False):
    """A record to write; `partition` None means the partition of the key (murmur2, as all Kafka clients do).

    `header` is the value of its one header, `HEADER`; None where it has none.
    A struct that the garbage collector does not track: millions are alive for a moment, at 0.1 us each.
    """

    topic: str
    partition: int | None
    key: bytes | None
    value: bytes | None
    header: bytes | None = None
