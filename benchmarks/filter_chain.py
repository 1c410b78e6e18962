"""Filters through the whole, in one process: a shard, and a virtual edge that many filters are subscribed at.

    rows ──► shard ──► images ──► virtual edge ──► deliveries          no Kafka, no Spark: records are handed over
                ▲                      │
                └──── registrations ◄──┘◄── subscriptions

The table has the 20 attributes of `benchmarks/filter_workload.py`, as BIGINT, and a key. A filter shows the key and two
attributes; it is a SELECT with the conditions that the workload draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.edge_memory import Stages
from benchmarks.filter_workload import COLUMNS, Conjunctions, draw_changes, draw_rows
from catalog.schema.ddl import apply_ddl
from catalog.schema.relation import Catalog
from connectors.record import OutRecord, RawRecords
from connectors.topics import Topics
from operators.control import EpochBegins, Progress, RegisterAll, encode_control
from overlay.machine.virtual_edge import VirtualEdge
from shard.pipeline import GroupSpec, process_group
from state.change_batch import I64

ROWS = 50_000
PORTION = 10_000
TOPICS = Topics()
NAMES = [f"a{c}" for c in range(COLUMNS)]
DDL = f"CREATE TABLE item (k BIGINT PRIMARY KEY, {', '.join(f'{name} BIGINT' for name in NAMES)}) WITH ('topic'='item')"
CATALOG = apply_ddl(Catalog(), DDL, 0)
RELATION = CATALOG.relations["item"]
SHARD = RELATION.shard
SHOWN = "k, a18, a19"


def statements(filters: Conjunctions) -> Iterator[str]:
    """Yield the statement of each filter."""
    for columns, lows, highs in zip(*(part.tolist() for part in filters), strict=True):
        asked = [
            f"{NAMES[c]} = {lo}" if lo == hi else f"{NAMES[c]} BETWEEN {lo} AND {hi}"
            for c, lo, hi in zip(columns, lows, highs, strict=True)
            if c >= 0
        ]
        yield f"SELECT {SHOWN} FROM item WHERE {' AND '.join(asked)}"


class Chain:
    """A shard with rows, and a virtual edge, batch by batch; `stages` counts what each has taken.

    home: how many virtual edges the shard knows; the one that is here is number 0.
    """

    def __init__(self, rows: int = ROWS, home: int = 1) -> None:
        self.stages = Stages()
        self.edge = VirtualEdge(0, home, TOPICS, lambda _: CATALOG)
        self._spec = GroupSpec(0, SHARD, CATALOG, TOPICS, home)
        self._state: bytes | None = None
        self._batch = 0
        self._offset = 0
        self._versions = 0
        self._rows = draw_rows(np.random.default_rng(77), rows)
        for record in (EpochBegins(0, 0), RegisterAll(0, 0)):
            self._give(b"@control", encode_control(record))
        self.edge.take()
        self.run_batch(self.published(np.arange(rows), self._rows))

    def subscribe(self, filters: Conjunctions) -> None:
        """Let filters be live at the edge, with what the shard answers; portions of them, each in a batch."""
        asked = [b'{"sql":"%s"}' % sql.encode() for sql in statements(filters)]
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

    def timed(self, count: int, batches: int, seed: int = 0) -> tuple[dict[str, float], float]:
        """Return the median seconds of shard and edge for a batch of `count` updates, and deliveries an update."""
        before, runs = self.edge.counters.deliveries, []
        for batch in range(batches):
            rows = self.updates(count, 100 * seed + batch)
            self.stages.seconds.clear()
            self.run_batch(rows)
            runs.append(dict(self.stages.seconds))
        seconds = {name: float(np.median([run[name] for run in runs])) for name in ("shard", "edge")}
        return seconds, (self.edge.counters.deliveries - before) / count / batches

    def updates(self, count: int, seed: int) -> list[bytes]:
        """Return changes of rows that there are, as the workload draws them."""
        source = np.random.default_rng(seed)
        which = source.integers(0, len(self._rows), count)
        drawn = draw_changes(seed, count, updates=True)
        changed = drawn.old != drawn.new
        made = []
        for i, row in enumerate(which.tolist()):
            self._rows[row] = np.where(changed[i], drawn.new[i], self._rows[row])
            made.append(self._rows[row].copy())
        return self.published(which, np.array(made))

    def published(self, keys: I64, rows: I64) -> list[bytes]:
        """Return rows as records of the topic."""
        fields = ",".join([f'"{name}":%d' for name in ("k", *NAMES)])
        return [(f"{{{fields}}}" % (key, *row)).encode() for key, row in zip(keys.tolist(), rows.tolist(), strict=True)]

    def run_batch(self, rows: list[bytes], registrations: Sequence[bytes] = ()) -> list[OutRecord]:
        """Let the shard take rows and registrations, and the edge what it says; return what the edge has written."""
        taken = [_records(list(registrations), TOPICS.registrations), _records(rows, RELATION.topic)]
        with self.stages.count("shard"):
            result = process_group(self._spec, self._batch, self._state, [part for part in taken if len(part.values)])
        self._state = result.state
        mine = [r for r in result.out if r.topic == TOPICS.notifications and r.partition in (None, 0)]
        progress = encode_control(Progress(0, self._batch, 0, "2026-03-01T00:00:00Z"))
        with self.stages.count("edge"):
            for record in mine:
                if record.value is not None:
                    self._give(record.key or b"", record.value)
            self._give(b"@control", progress)
            written = self.edge.take()
        self._batch += 1
        return written

    def _give(self, key: bytes, value: bytes) -> None:
        self.edge.notification(self._offset, key, value)
        self._offset += 1


def _values(records: Sequence[OutRecord], topic: str) -> list[bytes]:
    return [record.value for record in records if record.topic == topic and record.value is not None]


def _records(values: list[bytes], topic: str) -> RawRecords:
    places = np.arange(len(values))
    keys: list[bytes | None] = [SHARD.encode() if topic == TOPICS.registrations else None] * len(values)
    return RawRecords(topic, keys, list(values), np.zeros(len(values), np.int32), places, places)
