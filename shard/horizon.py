"""How far the event time of a stream is complete: what makes rows late, and windows final.

    reached    by partition the greatest event time of rows and silences so far, in offset order
    floor      reached less the lateness: a row before it is late; in a hole it stands still
    upto       the least floor of all partitions, which never goes back

What is late hangs on the topic's content and on where silences have counted, and on nothing else: the floor of a row is
made of what stands before it in its partition. Where a silence counts that comes now hangs on how far the partition has
been read by then; it is told (`operators/silenced.py`), and who goes through the same rows again is given it.

At one place, between two offsets, a hole counts before a silence, which accepts it. A partition that appears when
others have been read begins as far as these are; that is told as a silence before its first row.

Cost: 10 ns a row, 50 us a partition that has some.
Source: watermarks by source partition (Akidau et al., The Dataflow Model, 2015), made free of how batches are cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from catalog.schema.relation import Relation
from catalog.schema.stream import Stream
from operators.control import Silence
from operators.silenced import Silenced
from operators.wire.header import NO_HORIZON
from state.change_batch import I32, I64, Bool


class Quiet(msgspec.Struct, array_like=True):
    """A silence, or hole, that counts before the row `after` of its partition. told: `silences` has it already."""

    after: int
    upto: int
    hole: bool
    told: bool


class Domain(msgspec.Struct, array_like=True):
    """One partition. next: one more than the last offset that was read.  quiet: the last place where a silence counted.

    held: its floor in a hole, None without one.  waiting: what counts further on, in order.
    """

    next: int = 0
    reached: int = NO_HORIZON
    held: int | None = None
    quiet: int = -1
    waiting: list[Quiet] = []

    def floor(self, lateness: int) -> int:
        """Return before which event time rows are late."""
        if self.held is not None:
            return self.held
        return self.reached if self.reached == NO_HORIZON else self.reached - lateness


@dataclass(frozen=True, slots=True)
class Come:
    """Rows of a stream, those of a partition in the order of their offsets.

    partition: int32[rows].  offset: int64[rows].  time, stamp: int64[rows], event time and time of the record.
    """

    partition: I32
    offset: I64
    time: I64
    stamp: I64


@dataclass(frozen=True, slots=True)
class Judged:
    """Which rows do not count, of those that came, and where silences have counted.

    floor: int64[rows], of late rows before which event time they would have been so.
    """

    late: Bool
    ahead: Bool
    floor: I64
    silenced: list[Silenced]


class Horizon(msgspec.Struct):
    """The event time of a stream. upto: up to where it is complete.

    given: by partition that is not there yet, what will count in it.
    late, ahead: rows that did not count, ever.  unfolded: rows of windows that had begun before a view was there.
    """

    domains: list[Domain] = []
    given: dict[int, list[Quiet]] = {}
    upto: int = NO_HORIZON
    late: int = 0
    ahead: int = 0
    unfolded: int = 0

    @classmethod
    def of(cls, silenced: Iterable[Silenced], born: int) -> Horizon:
        """Return that of a stream of which nothing was read, given where silences of it have counted."""
        horizon = cls()
        for one in silenced:
            if one.born == born:
                quiet = Quiet(one.after, one.upto, one.hole, True)
                _enter(horizon.given.setdefault(one.partition, []), quiet)
        return horizon

    @property
    def furthest(self) -> int:
        """The greatest event time of all partitions so far."""
        return max((domain.reached for domain in self.domains), default=NO_HORIZON)

    def take(
        self, relation: Relation, rows: Come, read: dict[int, int], silences: Sequence[Silence], partitions: int
    ) -> Judged:
        """Take the rows of a batch, and the silences that came before them.

        read: by partition one more than the last offset of the batch, be it of a row or not.
        partitions: how many there are, as far as is known.
        """
        batch = _Batch(self, relation, rows)
        batch.grow(max([partitions, *(p + 1 for p in read)]))
        for silence in silences:
            batch.hear(silence)
        for partition, ahead in enumerate(self.domains):
            if partition in read or (ahead.waiting and ahead.waiting[0].after <= ahead.next):
                batch.go(partition, read.get(partition, ahead.next))
        lateness = batch.stream.lateness
        self.upto = max(self.upto, min((domain.floor(lateness) for domain in self.domains), default=NO_HORIZON))
        self.late += int(batch.late.sum())
        self.ahead += int(batch.ahead.sum())
        return Judged(batch.late, batch.ahead, batch.floor, batch.silenced)


class _Batch:
    """A batch on its way through the partitions of a stream."""

    def __init__(self, horizon: Horizon, relation: Relation, rows: Come) -> None:
        assert relation.stream is not None
        self.stream: Stream = relation.stream
        self.late, self.ahead = np.zeros(len(rows.time), np.bool_), np.zeros(len(rows.time), np.bool_)
        self.floor = np.full(len(rows.time), NO_HORIZON)
        self.silenced: list[Silenced] = []
        self._horizon = horizon
        self._relation = relation
        self._rows = rows
        self._order = np.argsort(rows.partition, kind="stable")
        self._by = rows.partition[self._order]

    def grow(self, partitions: int) -> None:
        """Let partitions be there; others than the first begin as far as the stream is."""
        domains, upto = self._horizon.domains, self._horizon.upto
        begun = bool(domains) and upto != NO_HORIZON
        for partition in range(len(domains), partitions):
            waiting = self._horizon.given.pop(partition, [])
            domains.append(Domain(waiting=waiting))
            if begun and not any(quiet.told and quiet.after == 0 and not quiet.hole for quiet in waiting):
                _enter(waiting, Quiet(0, upto + self.stream.lateness, False, False))

    def hear(self, silence: Silence) -> None:
        """Let a silence count where the partition is, or further on; or once there is such a partition."""
        horizon, partition = self._horizon, silence.partition
        if 0 <= partition < len(horizon.domains):
            domain = horizon.domains[partition]
            waiting, place = domain.waiting, max(silence.after, domain.next)
        else:
            waiting, place = horizon.given.setdefault(partition, []), max(silence.after, 0)
        _enter(waiting, Quiet(place, silence.upto, silence.hole, False))

    def go(self, partition: int, upto: int) -> None:
        """Take the rows of a partition up to an offset, and the silences before it."""
        domain = self._horizon.domains[partition]
        begin, end = np.searchsorted(self._by, [partition, partition + 1])
        mine = self._order[begin:end]
        offsets, domain.next = self._rows.offset[mine], max(upto, domain.next)
        while domain.waiting and domain.waiting[0].after <= domain.next:
            quiet = domain.waiting.pop(0)
            before = int(np.searchsorted(offsets, quiet.after))
            self._judge(domain, mine[:before])
            mine, offsets = mine[before:], offsets[before:]
            self._count(domain, partition, quiet)
        self._judge(domain, mine)

    def _judge(self, domain: Domain, rows: I64) -> None:
        """Say which rows of a partition, between two silences, do not count."""
        if not len(rows):
            return
        time = self._rows.time[rows]
        beyond = time - self._rows.stamp[rows] > self.stream.ahead
        reached = np.maximum.accumulate(np.concatenate([[domain.reached], np.where(beyond, NO_HORIZON, time)]))
        before = reached[:-1]
        floor = before - np.where(before == NO_HORIZON, 0, self.stream.lateness)
        if domain.held is not None:
            floor[:] = domain.held
        late = time < floor
        self.late[rows], self.ahead[rows], self.floor[rows] = late, beyond & ~late, floor
        domain.reached = int(reached[-1])

    def _count(self, domain: Domain, partition: int, quiet: Quiet) -> None:
        """Let a silence or hole count, and tell it if it makes a difference."""
        if quiet.hole:
            if domain.held is not None or domain.quiet == quiet.after:
                return
            domain.held = domain.floor(self.stream.lateness)
        else:
            if domain.held is None and domain.reached >= quiet.upto:
                return
            domain.held, domain.quiet = None, quiet.after
            domain.reached = max(domain.reached, quiet.upto)
        if not quiet.told:
            name, born = self._relation.name, self._relation.born
            self.silenced.append(Silenced(name, born, partition, quiet.after, quiet.upto, quiet.hole))


def _enter(waiting: list[Quiet], quiet: Quiet) -> None:
    """Put a silence to those that wait, in the order in which they count."""
    waiting.append(quiet)
    waiting.sort(key=lambda each: (each.after, not each.hole))
