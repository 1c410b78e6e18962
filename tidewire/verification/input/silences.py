"""Where partitions of streams were said to be silent: the topic `silences`, and the records that shards heard.

    silences         {"stream": "trade", "born": 3, "partition": 0, "after": 17, "upto": 1772445600000000}
    registrations    {"kind": "silence", "stream": "trade", "partition": 0, "after": 17, "upto": 1772445600000000}

The first tells between which rows one counted, in whatever epoch; the second is read in a batch, which tells from when
on it did. One that no batch of an epoch heard was given to the epoch when it began.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from tidewire.verification.records.batches import Batch
from tidewire.verification.records.journal import TopicLog


class Silenced(NamedTuple):
    """A silence that counted before the record `after` of its partition, or a `hole`; `upto` is in microseconds."""

    after: int
    is_silence: bool
    upto: int
    partition: int


class _Said(msgspec.Struct):
    stream: str
    partition: int
    after: int
    upto: int
    hole: bool = False
    born: int = -1
    kind: str = ""

    @property
    def told(self) -> Silenced:
        return Silenced(self.after, not self.hole, self.upto, self.partition)


_DECODER = msgspec.json.Decoder(_Said)


class Silences:
    """All silences of all streams."""

    def __init__(self, silences: TopicLog | None = None, registrations: TopicLog | None = None) -> None:
        self._told: dict[tuple[str, int], list[Silenced]] = defaultdict(list)
        self._heard = [] if registrations is None else _heard(registrations)
        self._topic = "" if registrations is None else registrations.name
        self.trimmed = registrations is None or any(registrations.trimmed(p) for p in registrations.begin)
        """Whether it may not be known in which batch a silence was heard."""
        for record in () if silences is None else silences.all():
            if record.value is not None:
                one = _DECODER.decode(record.value)
                self._told[one.stream.lower(), one.born].append(one.told)

    def of(self, name: str, born: int) -> list[Silenced]:
        """Return where silences of a stream counted, in the order in which they do in their partition."""
        return sorted(set(self._told.get((name.lower(), born), ())), key=lambda one: one[:3])

    def heard(self, name: str, batch: Batch) -> list[Silenced]:
        """Return the silences of a stream that were read in a batch, as they were said."""
        found = []
        for partition, offset, stream, said in self._heard:
            place = self._topic, partition
            if stream == name.lower() and batch.start.get(place, 0) <= offset < batch.end.get(place, 0):
                found.append(said)
        return found


def _heard(registrations: TopicLog) -> list[tuple[int, int, str, Silenced]]:
    found = []
    for record in registrations.all():
        if record.value is not None and record.value.startswith(b"{"):
            said = _silence(record.value)
            found += [] if said is None else [(record.partition, record.offset, said.stream.lower(), said.told)]
    return found


def _silence(value: bytes) -> _Said | None:
    try:
        said = _DECODER.decode(value)
    except msgspec.MsgspecError:
        return None
    return said if said.kind == "silence" else None


def is_silence(keys: Iterable[bytes], key: bytes | None, value: bytes | None) -> bool:
    """Whether a record of `registrations` may be a silence of one of the streams whose shards `keys` are."""
    return key is not None and key in keys and value is not None and value.startswith(b"{")
