"""Which partitions of streams are silent since long enough to say so: the option `idle` of CREATE STREAM.

`idle` is its user's promise that no row takes longer to its topic. So where a partition's end has not moved for that
long, and all of it is in a committed batch, no row from before then will come: a silence says so
(`operators/control.py`) up to now less `idle`. It is said again as time goes on, since windows close by it.
Cost: a request a second for each stream that has the option.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from catalog.schema.relation import Relation
from catalog.schema.stream import SECOND
from operators.control import Offsets, Silence
from streaming.epoch.cluster import Cluster

_SAID_A_SPAN = 10
"""How often, at most, it is said within the time after which a partition is silent."""
_LEAST_SECONDS = 1.0


@dataclass(slots=True)
class _Seen:
    """Where a partition ended, since when it ends there, and when that was last said to be a silence."""

    end: int
    since: float
    said: float = float("-inf")


class IdlePartitions:
    """Watches the ends of streams' partitions. `clock` counts seconds, `now` is the time of day since 1970."""

    def __init__(
        self, cluster: Cluster, clock: Callable[[], float] = time.monotonic, now: Callable[[], float] = time.time
    ) -> None:
        self._cluster = cluster
        self._clock = clock
        self._now = now
        self._seen: dict[tuple[str, int, int], _Seen] = {}

    def silent(self, streams: Iterable[Relation], reached: Offsets, epoch: int) -> Iterator[Silence]:
        """Yield what is to be said now; `reached` is where the last committed batch of `epoch` ended."""
        for relation in streams:
            if relation.stream is not None and relation.stream.idle is not None:
                yield from self._silent(relation, relation.stream.idle, reached.get(relation.topic, {}), epoch)

    def _silent(self, relation: Relation, idle: int, reached: dict[str, int], epoch: int) -> Iterator[Silence]:
        for partition, end in sorted(self._cluster.ends(relation.topic).items()):
            time, place = self._clock(), (relation.topic, relation.born, partition)
            seen = self._seen.get(place)
            if seen is None or seen.end != end:
                self._seen[place] = _Seen(end, time)
            elif reached.get(str(partition), 0) >= end and _is_due(seen, time, idle / SECOND):
                seen.said = time
                upto = int(self._now() * SECOND) - idle
                yield Silence(relation.name, partition, end, upto, epoch=epoch, born=relation.born, idle=True)


def _is_due(seen: _Seen, time: float, idle: float) -> bool:
    return time - seen.since >= idle and time - seen.said >= max(_LEAST_SECONDS, idle / _SAID_A_SPAN)
