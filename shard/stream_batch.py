"""One batch of a stream's member: silences and rows in, rows that count out, to the folds that are beside it.

register   silences (`operators/control.py`)
take       decode -> horizon -> rows that count, which nobody keeps
records    dead letters, where silences have counted (topic `silences`), counters
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from connectors.record import OutRecord
from operators.counters import DomainCounters, ShardCounters, StreamCounters
from operators.silenced import Silenced
from operators.wire.header import NO_HORIZON
from shard.group_spec import GroupSpec
from shard.horizon import Domain, Horizon
from shard.member_batch import MemberBatch
from shard.moved import Moved
from shard.order import Ordered
from shard.state import UNKNOWN_NAMES_KEPT, ShardState
from shard.stream_intake import take_in
from shard.stream_rows import StreamRows
from shard.tables import Table
from state.causes import Causes


class StreamBatch(MemberBatch):
    """What a batch does to a stream's member."""

    def __init__(self, spec: GroupSpec, batch: int, member: ShardState) -> None:
        super().__init__(spec, batch, member)
        self._silenced: list[Silenced] = []
        self._come: StreamRows | None = None

    def take(self, ordered: Ordered) -> Moved | None:
        """Let silences and rows move the horizon; return the rows that count, None where there are none.

        Cost: as `StreamRows` and `Horizon.take`.
        """
        relation = self.member.relation
        taken = take_in(self._spec, self.member, ordered)
        self._come, self._silenced = taken.rows, taken.silenced
        if taken.rows is None or taken.changes is None:
            return None
        changes = taken.changes
        self._count(taken.rows, len(changes))
        if not len(changes):
            return None
        return Moved(changes, Table(relation).pass_by(changes), changes.cause, Causes.of(relation.topic, changes))

    def tell(self, moved: Moved) -> None:
        """Say nothing: nobody asks for the rows of a stream."""

    def records(self) -> Iterator[OutRecord]:
        """Yield dead letters, where silences have counted, and the counters."""
        topics = self._spec.topics
        letters = [] if self._come is None else self._come.letters
        yield from (letter.record(topics) for letter in letters)
        for one in self._silenced:
            yield OutRecord(topics.silences, 0, one.key, msgspec.json.encode(one))
        yield from super().records()

    def _count(self, come: StreamRows, taken: int) -> None:
        counters, decoded = self.member.counters, come.decoded
        counters.decoded += taken
        counters.dead += len(come.dead)
        counters.ignored += decoded.ignored
        counters.unknown_members = sorted({*counters.unknown_members, *decoded.unknown})[:UNKNOWN_NAMES_KEPT]
        for column, rows in decoded.seen.items():
            counters.seen[column] = counters.seen.get(column, 0) + rows

    def _counters(self) -> ShardCounters:
        """Return the counters, with how far each partition is."""
        horizon, stream = self.member.horizon or Horizon(), self.member.relation.stream
        assert stream is not None
        told = StreamCounters(
            horizon.late,
            horizon.ahead,
            horizon.unfolded,
            _known(horizon.upto),
            [_counters(domain, stream.lateness) for domain in horizon.domains],
        )
        return msgspec.structs.replace(super()._counters(), stream=told)


def _known(moment: int) -> int | None:
    return None if moment == NO_HORIZON else moment


def _counters(domain: Domain, lateness: int) -> DomainCounters:
    return DomainCounters(domain.next, _known(domain.reached), _known(domain.floor(lateness)), domain.held is not None)
