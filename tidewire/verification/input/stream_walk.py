"""The rows of a stream that count, in the order in which its shard took them, and how far its event time was complete.

    partition 0    10:00   10:03   09:58   silence 10:10   10:05      lateness 4 min
    reached       -       10:00   10:03   10:03           10:10
    floor         -       09:56   09:59   09:59           10:06      09:58 and 10:05 are late

Of each partition the greatest event time counts that stands before a row in it, late or not, but of no row that is
too far ahead of its record's own time. Behind a hole the floor stands still until a silence comes. The horizon of the
stream is the least floor of all partitions at the end of a batch, and never goes back.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby

from tidewire.verification.input.decoding import Row
from tidewire.verification.input.ordering import Sequence, Taken
from tidewire.verification.input.silences import Silenced, Silences
from tidewire.verification.input.stream_options import Stream
from tidewire.verification.records.batches import Batch

_EPOCH = dt.datetime(1970, 1, 1)
_MICROSECOND = dt.timedelta(microseconds=1)


def micros(moment: dt.datetime) -> int:
    """Return microseconds since 1970."""
    return (moment - _EPOCH) // _MICROSECOND


@dataclass(slots=True)
class Mark:
    """How far the stream was at the end of a batch; None before all partitions had a time.

    upto: its horizon.  furthest: the greatest event time of any partition.  counted: the seq of the last row that
    counted in the batch, None if there was none.
    """

    batch: int
    upto: int | None
    furthest: int | None
    counted: int | None


@dataclass(slots=True)
class StreamWalked:
    """`rows` by seq are those that count; `dead`, by seq, whether a record is a dead letter. `marks` by batch.

    exact: whether it is known in which batch each silence was heard.
    """

    rows: dict[int, Row] = field(default_factory=dict)
    dead: dict[int, bool | None] = field(default_factory=dict)
    marks: list[Mark] = field(default_factory=list)
    exact: bool = True


def together(streams: Iterable[StreamWalked]) -> list[Mark]:
    """Return how far several streams are at the end of each batch: as far as all of them, if each is anywhere."""
    by_batch: dict[int, list[int | None]] = defaultdict(list)
    walked = list(streams)
    for one in walked:
        for mark in one.marks:
            by_batch[mark.batch].append(mark.upto)
    whole = {batch: uptos for batch, uptos in sorted(by_batch.items()) if len(uptos) == len(walked)}
    return [Mark(batch, _least(uptos), None, None) for batch, uptos in whole.items()]


def _least(uptos: Iterable[int | None]) -> int | None:
    """Return the least, None where one is not known."""
    known = list(uptos)
    return None if None in known else min(one for one in known if one is not None)


@dataclass(slots=True)
class _Partition:
    """`waiting` are silences with the first batch that can count them."""

    reached: int | None = None
    held: int | None = None
    is_held: bool = False
    end: int = 0
    waiting: list[tuple[Silenced, int]] = field(default_factory=list)

    def floor(self, lateness: int) -> int | None:
        if self.is_held:
            return self.held
        return None if self.reached is None else self.reached - lateness


class StreamWalk:
    """Walks what a stream's shard took in one epoch; `rows` are the records by seq, None for dead letters."""

    def __init__(
        self, sequence: Sequence, rows: Mapping[int, Row | None], batches: Iterable[Batch], silences: Silences
    ) -> None:
        assert sequence.table.stream is not None
        self._sequence = sequence
        self._stream: Stream = sequence.table.stream
        self._rows = rows
        self._batches = list(batches)
        self._silences = silences
        self._partitions: list[_Partition] = []
        self._upto: int | None = None
        self._walked = StreamWalked(exact=not silences.trimmed)

    def run(self) -> StreamWalked:
        """Walk. Cost: 2 us a record."""
        topic = self._sequence.table.topic
        known = self._known()
        numbered = enumerate(self._sequence.taken, 1)
        taken = {batch: list(some) for batch, some in groupby(numbered, key=lambda one: one[1].batch)}
        ends = {batch.at.batch: _of(topic, batch.end) for batch in self._batches}
        for early in sorted(set(taken) - set(ends)):  # what was read before the first batch that is known
            ends = {early: _of(topic, self._batches[0].start), **ends}
        for batch, its in ends.items():
            self._batch(batch, its, taken.get(batch, []), known)
        return self._walked

    def _known(self) -> list[tuple[Silenced, int]]:
        """Return where silences counted, each with the batch in which it was heard, -1 for one that was given."""
        name, born = self._sequence.subject
        heard = [(batch.at.batch, said) for batch in self._batches for said in self._silences.heard(name, batch)]
        found = []
        for one in self._silences.of(name, born):
            same = [batch for batch, said in heard if said[1:] == one[1:] and said.after <= one.after]
            found.append((one, min(same, default=-1)))
        return found

    def _batch(
        self, batch: int, ends: dict[int, int], taken: list[tuple[int, Taken]], known: list[tuple[Silenced, int]]
    ) -> None:
        there = len(self._partitions)
        for partition in range(there, max(ends, default=-1) + 1):
            its = [(one, since) for one, since in known if one.partition == partition]
            self._partitions.append(_Partition(waiting=its))
        counted = None
        for partition, state in enumerate(self._partitions):
            for seq, one in taken:
                if one.record.partition == partition:
                    self._hear(state, one.record.offset, batch)
                    if self._take(state, seq, one):
                        counted = max(seq, counted or 0)
            state.end = max(state.end, ends.get(partition, 0))
            self._hear(state, state.end, batch)
        self._mark(batch, counted)

    def _mark(self, batch: int, counted: int | None) -> None:
        floors = [state.floor(self._stream.lateness) for state in self._partitions]
        known = [floor for floor in floors if floor is not None]
        if known and len(known) == len(floors):
            self._upto = min(known) if self._upto is None else max(self._upto, *[min(known)])
        furthest = max((p.reached for p in self._partitions if p.reached is not None), default=None)
        self._walked.marks.append(Mark(batch, self._upto, furthest, counted))

    def _hear(self, state: _Partition, offset: int, batch: int) -> None:
        """Let silences count that stand before `offset` of a partition."""
        left = []
        for one, since in state.waiting:
            if one.after > offset or since > batch:
                left.append((one, since))
            elif one.is_silence:
                state.is_held = False
                state.reached = one.upto if state.reached is None else max(state.reached, one.upto)
            else:
                state.held, state.is_held = state.floor(self._stream.lateness), True
        state.waiting = left

    def _take(self, state: _Partition, seq: int, taken: Taken) -> bool:
        """Return whether a record is a row that counts."""
        row, walked = self._rows[seq], self._walked
        text = None if row is None else row.values[self._stream.place]
        if row is None or text is None:
            walked.dead[seq] = True
            return False
        time, floor = micros(dt.datetime.fromisoformat(text)), state.floor(self._stream.lateness)
        is_late = floor is not None and time < floor
        is_ahead = time - taken.record.timestamp * 1_000 > self._stream.ahead
        if not is_ahead:
            state.reached = time if state.reached is None else max(state.reached, time)
        walked.dead[seq] = is_late or is_ahead
        if is_late or is_ahead:
            return False
        walked.rows[seq] = row._replace(pk=f"{taken.record.partition}/{taken.record.offset}")
        return True


def _of(topic: str, places: Mapping[tuple[str, int], int]) -> dict[int, int]:
    return {partition: offset for (name, partition), offset in places.items() if name == topic}
