"""The topic of a view, read as any reader is told to read it: whoever must have each change once drops repeats.

    key            value                      header `tidewire`
    {"g":"A"}      {"g":"A","low":"5.00"}     {"shard":"low/0","epoch":0,"batch":6,"n":0,"at":{"topic":"q",...}}

For each partition and `shard`, a record whose (`epoch`, `batch`, `n`) is not greater than the greatest one before is a
repeat. A record without such a header is somebody else's: it stands in the topic, and says nothing of the view.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from tidewire.verification.records.batches import Position
from tidewire.verification.records.journal import Record, TopicLog

HEADER = "tidewire"
Cause = tuple[str, int, int]
"""(topic, partition, offset) of a publication."""


class Told(NamedTuple):
    """A record of a view's topic. `cause` is None where it says how a row was before the batch."""

    shard: str
    at: Position
    n: int
    cause: Cause | None
    record: Record

    @property
    def view(self) -> str:
        """The view that it says to be of, in lower case."""
        return self.shard.rpartition("/")[0].lower()

    @property
    def number(self) -> tuple[int, int, int]:
        """What tells repeats of a shard."""
        return *self.at, self.n


@dataclass(slots=True)
class Written:
    """What a reader makes of a topic. `repeats` are dropped, each beside the record of its number, if there is one."""

    kept: list[Told] = field(default_factory=list)
    repeats: list[tuple[Told, Told | None]] = field(default_factory=list)
    foreign: list[Record] = field(default_factory=list)


def read_written(log: TopicLog) -> Written:
    """Read the topic of a view. Cost: 5 us a record."""
    made = Written()
    for records in log.records.values():
        last: dict[str, tuple[int, int, int]] = {}
        first: dict[tuple[str, int, int, int], Told] = {}
        for told in _told(records, made.foreign):
            place = told.shard, *told.number
            if told.number <= last.get(told.shard, (-1, -1, -1)):
                made.repeats.append((told, first.get(place)))
                continue
            last[told.shard] = told.number
            first[place] = told
            made.kept.append(told)
    return made


def _told(records: list[Record], foreign: list[Record]) -> Iterator[Told]:
    for record in records:
        told = _read(record)
        if told is None:
            foreign.append(record)
        else:
            yield told


def _read(record: Record) -> Told | None:
    try:
        head: dict[str, Any] = msgspec.json.decode(record.header or b"")
        at, numbers = head.get("at"), [head["epoch"], head["batch"], head["n"]]
        cause = None if at is None else (at["topic"], at["partition"], at["offset"])
        numbers += [] if cause is None else cause[1:]
        if not all(type(number) is int for number in numbers) or not isinstance(head["shard"], str):
            return None
        return Told(head["shard"], Position(*numbers[:2]), numbers[2], cause, record)
    except (msgspec.MsgspecError, ValueError, TypeError, LookupError, AttributeError):
        return None
