"""How far streams are complete, and what holds them back: the partition that is furthest behind.

    trade is complete to 2026-03-02T10:59:49, held back by trades[3] (last row 2026-03-02T10:59:59, offset 812)

*Source*: what a stream's shard leaves in `engines` (`operators/counters.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import msgspec

from catalog.schema.catalog import Catalog
from catalog.types.value import moment_text
from connectors.kafka.compacted_streams import loss_and_remedy
from operators.counters import DomainCounters, ShardCounters


class HeldBack(msgspec.Struct):
    """The partition of a topic behind which a stream waits. hole: rows of it were lost.

    last: the greatest event time in it, None where there was none.  offset: of its newest row; -1 likewise.
    """

    topic: str
    partition: int
    last: str | None
    offset: int
    hole: bool


class StreamState(msgspec.Struct):
    """A stream: up to when it is complete, and so its views; None where nothing is known yet.

    late, ahead, unfolded: rows that came too late, from too far in the future, or for windows that no view has from
    their beginning.  loss: why rows of its topic go before they are old, and what to do; '' where none do.
    holes: partitions of which rows were trimmed unread, and that loss is not accepted.
    """

    name: str
    views: list[str]
    upto: str | None
    late: int
    ahead: int
    unfolded: int
    held_back_by: HeldBack | None
    loss: str = ""
    holes: int = 0


def streams_of(
    catalog: Catalog, counters: dict[str, ShardCounters], compacted: Collection[str] = ()
) -> list[StreamState]:
    """Return the streams of `catalog` that have told of themselves, by name. compacted: topics that are."""
    return list(_streams(catalog, counters, compacted))


def _streams(catalog: Catalog, counters: dict[str, ShardCounters], compacted: Collection[str]) -> Iterator[StreamState]:
    for name, relation in sorted(catalog.relations.items()):
        told = counters[relation.shard].stream if relation.shard in counters else msgspec.UNSET
        if relation.stream is None or told is msgspec.UNSET:
            continue
        views = [view.name for view in catalog.views.values() if name in view.tables]
        held = _furthest_behind(relation.topic, told.partitions)
        upto = None if told.upto is None else moment_text(told.upto)
        holes = sum(domain.hole for domain in told.partitions)
        loss = "{}. {}".format(*loss_and_remedy(relation)) if relation.topic in compacted else ""
        yield StreamState(name, views, upto, told.late, told.ahead, told.unfolded, held, loss, holes)


def sentence(stream: StreamState) -> str:
    """Return what there is to say of a stream in one line."""
    said = (
        f"{stream.name} is complete to {stream.upto}" if stream.upto else f"{stream.name} is not complete to any time"
    )
    held = stream.held_back_by
    if held is None:
        return said
    last = f"last row {held.last}, offset {held.offset}" if held.last else "no row yet"
    return f"{said}, held back by {held.topic}[{held.partition}] ({'rows were lost; ' if held.hole else ''}{last})"


def stream_warnings(streams: Iterable[StreamState]) -> Iterator[str]:
    """Yield what loses rows of streams, or keeps their windows from closing for ever."""
    for one in streams:
        if one.loss:
            yield one.loss
        held = one.held_back_by
        if held is not None and held.hole:
            yield (
                f"stream `{one.name}`: rows of `{held.topic}` [{held.partition}] were trimmed before they were read: "
                f"nothing of it becomes final any more. `tidewire silence {one.name} --upto TIME` accepts the loss."
            )
        elif held is not None and held.last is None and one.upto is None:
            yield (
                f"stream `{one.name}`: `{held.topic}` [{held.partition}] never had a row, so no window closes. Say "
                f"`tidewire silence {one.name} --upto TIME`, or declare the stream with an 'idle' time."
            )


def _furthest_behind(topic: str, partitions: list[DomainCounters]) -> HeldBack | None:
    if not partitions:
        return None
    number, domain = min(enumerate(partitions), key=lambda pair: (pair[1].floor is not None, pair[1].floor or 0))
    last = None if domain.reached is None else moment_text(domain.reached)
    return HeldBack(topic, number, last, domain.next - 1, domain.hole)
