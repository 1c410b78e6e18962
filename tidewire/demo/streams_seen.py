"""How far the streams of a demo are complete, and which partition holds them back, as shards leave it in `engines`."""

from __future__ import annotations

import datetime as dt
import threading

import msgspec

from catalog.schema.catalog import Catalog
from catalog.schema.relation import Relation
from operators.counters import ShardCounters
from tidewire.status.streams import sentence, streams_of

_EPOCH = dt.datetime(1970, 1, 1)
_COUNTERS = msgspec.json.Decoder(ShardCounters)


class StreamsSeen:
    """Tell it each record of `engines`."""

    def __init__(self, catalog: Catalog | None) -> None:
        self._catalog = catalog or Catalog()
        self._shards = {relation.shard: relation for relation in self._catalog.relations.values() if relation.stream}
        self._newest: dict[str, ShardCounters] = {}
        self._lock = threading.Lock()

    @property
    def any(self) -> bool:
        """Whether there are streams."""
        return bool(self._shards)

    def told(self, value: bytes | None) -> None:
        """Note what a shard counted, if it is that of a stream; other records are nothing to it."""
        try:
            counters = _COUNTERS.decode(value or b"")
        except (msgspec.DecodeError, UnicodeDecodeError):
            return
        if counters.shard in self._shards:
            with self._lock:
                self._newest[counters.shard] = counters

    def sentences(self) -> list[str]:
        """Return what `tidewire status` says of each, and how many of its rows came too late."""
        with self._lock:
            newest = dict(self._newest)
        return [f"{sentence(one)}; {one.late:,} rows were late" for one in streams_of(self._catalog, newest)]

    def silent(self, relation: Relation, upto: dt.datetime) -> tuple[int, int] | None:
        """Return the epoch and batch in which every partition of a stream had come to `upto`; None before that."""
        with self._lock:
            found = self._newest.get(relation.shard)
        if found is None or found.stream is msgspec.UNSET or not found.stream.partitions:
            return None
        least = (upto - _EPOCH) // dt.timedelta(microseconds=1)
        reached = all((domain.reached or -1) >= least for domain in found.stream.partitions)
        return (found.epoch, found.batch) if reached else None
