"""A shard and a virtual edge in one process: rows and subscriptions go in, deliveries come out.

rows ──► shard ──► messages ──► virtual edge ──► deliveries        no Kafka, no Spark: records are handed over
            ▲                       │
            └──── registrations ◄───┘◄── subscriptions
"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from benchmarks.edge_memory import Stages
from catalog.query.shape import Region
from catalog.schema.catalog import Catalog
from connectors.record import OutRecord, RawRecords
from connectors.topics import Topics
from operators.control import EpochBegins, Progress, RegisterAll, encode_control
from operators.packed import Header, pack_registrations
from overlay.machine.virtual_edge import VirtualEdge
from shard.group_spec import GroupSpec
from shard.pipeline import process_group
from state.change_batch import I64

PORTION = 10_000
TOPICS = Topics()


class EdgeChain:
    """A shard of the one table of `catalog`, and a virtual edge, batch by batch; `stages` counts what each has taken.

    home: how many virtual edges the shard knows; the one that is here is number 0.
    cell: the name of a cell, which stands in the place of the shard then.
    """

    def __init__(self, catalog: Catalog, home: int = 1, cell: str | None = None) -> None:
        self.stages = Stages()
        self.edge = VirtualEdge(0, home, TOPICS, lambda _: catalog)
        self._relation = next(iter(catalog.relations.values()))
        self._spec = GroupSpec(0, cell or self._relation.shard, catalog, TOPICS, home)
        self._state: bytes | None = None
        self._batch = 0
        self._offset = 0
        self._versions = 0
        for record in (EpochBegins(0, catalog.version), RegisterAll(0, catalog.version)):
            self._give(b"@control", encode_control(record))
        self.edge.take()

    def ask(self, statements: Iterable[str]) -> None:
        """Let statements be live at the edge, with what the shard answers; portions of them, each in a batch."""
        asked = [b'{"sql":"%s"}' % sql.encode() for sql in statements]
        for start in range(0, len(asked), PORTION):
            values: list[bytes | None] = list(asked[start : start + PORTION])
            versions = range(self._versions, self._versions + len(values))
            self._versions += len(values)
            keys: list[bytes | None] = [b"subscriber-%07d" % version for version in versions]
            with self.stages.count("accept"):
                self.edge.subscribe_all(versions, keys, values)
            with self.stages.count("take"):
                written = self.edge.take()
            while registered := _values(written, TOPICS.registrations):
                written = self.run_batch([], registered)

    def run_batch(
        self, rows: Sequence[bytes | None], registrations: Sequence[bytes] = (), keys: Sequence[bytes] | None = None
    ) -> list[OutRecord]:
        """Let the shard take rows and registrations, and the edge what it says; return what the edge has written."""
        return self.run_records([records(keys or [None] * len(rows), rows, self._relation.topic)], registrations)

    def run_records(self, published: Sequence[RawRecords], registrations: Sequence[bytes] = ()) -> list[OutRecord]:
        """Do what `run_batch` does, with rows of any tables."""
        asked = records([self._spec.group.encode()] * len(registrations), registrations, TOPICS.registrations)
        taken = [asked, *published]
        with self.stages.count("shard"):
            result = process_group(self._spec, self._batch, self._state, [part for part in taken if len(part.values)])
        self._state = result.state
        mine = [r for r in result.out if r.topic == TOPICS.notifications and r.partition in (None, 0)]
        progress = encode_control(Progress(0, self._batch, self._spec.catalog.version, "2026-03-01T00:00:00Z"))
        with self.stages.count("edge"):
            for record in mine:
                if record.value is not None:
                    self._give(record.key or b"", record.value)
            self._give(b"@control", progress)
            written = self.edge.take()
        self._batch += 1
        return written

    def bytes_after_restart(self, then: Callable[[], object] = lambda: None) -> int:
        """Return what an edge has allocated for each live subscription that it has restored, once `then` is done too.

        The chain goes on with that edge.
        """
        stored = [record.value for record in self.edge.snapshot_records() if record.value is not None]
        catalog = self._spec.catalog
        gc.collect()
        tracemalloc.start()
        self.edge = VirtualEdge(0, self._spec.partitions, TOPICS, lambda _: catalog)
        self.edge.restore(stored)
        self.edge.take()
        then()
        gc.collect()
        allocated, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return round(allocated / self.edge.counts["live"])

    def _give(self, key: bytes, value: bytes) -> None:
        self.edge.notification(self._offset, key, value)
        self._offset += 1


def _values(records: Sequence[OutRecord], topic: str) -> list[bytes]:
    return [record.value for record in records if record.topic == topic and record.value is not None]


def records(
    keys: Sequence[bytes | None], values: Sequence[bytes | None], topic: str, places: I64 | None = None
) -> RawRecords:
    """Return records of one partition at `places`, which are offsets and times; at the first ones if not given."""
    places = np.arange(len(values)) if places is None else places
    return RawRecords(topic, list(keys), list(values), np.zeros(len(values), np.int32), places, places)


def registered(spec: GroupSpec, ve: int, versions: Sequence[int], regions: Sequence[Region]) -> RawRecords:
    """Return the records by which a virtual edge registers regions."""
    header = Header("register", 0, spec.group, ve=ve, catalog=spec.catalog.version)
    values = [*pack_registrations(header, versions, regions)]
    asked = records([spec.group.encode()] * len(values), values, TOPICS.registrations)
    return replace(asked, partition=np.full(len(values), ve, np.int32))
