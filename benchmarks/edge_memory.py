"""What a million subscriptions cost one edge: memory, registering stage by stage, and what a restart reads back.

    python -m benchmarks.edge_memory [subscriptions [family]]

`family` is `min`, or `count`, `sum`, `avg`, `distinct`: what is asked of the same ranges. Answers of the last three are
kept one by one, a DISTINCT with three members here.
The subscriptions of `benchmarks/crowd.py` (100-byte records, 14-byte ids) go to 16 virtual edges of this process, in
the order and the portions in which a process would read them: accepted, registered, answered by snapshots, live.
`bytes_per_subscription` is the growth of resident memory while all that happens, after what is only passing through
was given back to the system; `stored_bytes` is what a snapshot of one subscription takes in `edge-state`. Times are CPU
times of this one thread in us a subscription.

    compile    read the record, compile it, alone (a part of `accept`)
    accept     records to accepted: compiled, slot, id, statement, ack
    take       registrations and state written
    live       snapshots taken: index, delivery, ack
    store      state written again
    snapshot   the whole state written; `restore_s`: all of it read back, in seconds
"""

from __future__ import annotations

import ctypes
import gc
import json
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.crowd import Crowd
from benchmarks.million import sections_of
from benchmarks.stock_workload import catalog_of
from connectors.kafka.partitioner import home_partition
from connectors.record import OutRecord
from connectors.topics import Topics
from operators.answer import Members, Parts, Tally
from operators.control import EpochBegins, Progress, RegisterAll, encode_control
from operators.operator import Answers
from operators.packed import Header, PackedRegistrations, is_packed, pack_snapshot, unpack
from overlay.intake.admission import Admission
from overlay.machine.virtual_edge import VirtualEdge
from overlay.process.jit_warmup import warm

FAMILIES: dict[str, tuple[bytes, Callable[[int], Parts] | None]] = {
    "min": (b"MIN(price)", None),
    "count": (b"COUNT(*)", lambda i: (Tally.of(i, 0),)),
    "sum": (b"SUM(price)", lambda i: (Tally.of(3, 100 * i),)),
    "avg": (b"AVG(price)", lambda i: (Tally.of(3, 100 * i),)),
    "distinct": (b"DISTINCT price", lambda i: (Members((i, i + 1, i + 2)),)),
}
VIRTUAL_EDGES = 16
PORTION = 10_000
TOPICS = Topics()
CATALOG = catalog_of("stock")
SHARD = CATALOG.relations["stock"].shard.encode()


@dataclass(slots=True)
class Stages:
    """CPU seconds by stage."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def count(self, name: str) -> Iterator[None]:
        """Count the time of what is done within."""
        began = time.process_time()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.process_time() - began

    def each(self, count: int) -> dict[str, float]:
        """Return us a subscription."""
        return {name: round(seconds / count * 1e6, 2) for name, seconds in self.seconds.items()}


class Asked(NamedTuple):
    """A subscription record and where it belongs."""

    edge: int
    offset: int
    key: bytes
    value: bytes


class Fleet:
    """All virtual edges, each following one shard from batch 0 on."""

    def __init__(self, family: str = "min") -> None:
        self._parts = FAMILIES[family][1]
        self.edges = [VirtualEdge(i, VIRTUAL_EDGES, TOPICS, lambda _: CATALOG) for i in range(VIRTUAL_EDGES)]
        self._offset = 0
        self._batch = -1
        self.control(EpochBegins(0, 0), RegisterAll(0, 0))
        self.take()

    def control(self, *records: EpochBegins | RegisterAll | Progress) -> None:
        """Give control records to all."""
        for record in records:
            for edge in self.edges:
                self._offset += 1
                edge.notification(self._offset, b"@control", encode_control(record))

    def accept(self, portion: list[Asked]) -> None:
        """Give records to their edges."""
        by_edge: list[list[Asked]] = [[] for _ in self.edges]
        for asked in portion:
            by_edge[asked.edge].append(asked)
        for edge, mine in zip(self.edges, by_edge, strict=True):
            edge.subscribe_all([a.offset for a in mine], [a.key for a in mine], [a.value for a in mine])

    def take(self) -> list[OutRecord]:
        """Return what all have written."""
        return [record for edge in self.edges for record in edge.take()]

    def answers(self, records: list[OutRecord]) -> list[tuple[int, bytes]]:
        """Return packed snapshots that answer the registrations among `records`, with their virtual edges."""
        self._batch += 1
        made = []
        for record in records:
            if record.topic == TOPICS.registrations and record.value is not None and is_packed(record.value):
                packed = unpack(record.value)
                assert isinstance(packed, PackedRegistrations)
                header = Header("snapshot", 0, SHARD.decode(), self._batch)
                new = np.arange(len(packed.versions), dtype=np.int64)
                parts = {} if self._parts is None else {i: self._parts(i) for i in range(len(new))}
                answers = Answers(new, new % 7 != 0, parts)
                made.append((packed.header.ve, pack_snapshot(header, np.array(packed.versions), answers)))
        return made

    def live(self, answers: list[tuple[int, bytes]]) -> None:
        """Take the answers in, one batch for all."""
        for number, value in answers:
            self._offset += 1
            self.edges[number].notification(self._offset, SHARD, value)
        self.control(Progress(0, self._batch, 0, "2026-03-01T00:00:00Z"))


def portions(count: int, family: str = "min") -> Iterator[list[Asked]]:
    """Yield the subscription records in portions."""
    question = FAMILIES[family][0]
    records = Crowd(sections_of(count), 0, "stock").subscriptions(TOPICS)
    asked = (
        Asked(home_partition(record.key, VIRTUAL_EDGES), i, record.key, record.value.replace(b"MIN(price)", question))
        for i, record in enumerate(records)
        if record.key is not None and record.value is not None
    )
    while portion := list(islice(asked, PORTION)):
        yield portion


def resident() -> int:
    """Return the bytes of memory that this process has, garbage given back."""
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4_096


def register(fleet: Fleet, count: int, family: str = "min") -> Stages:
    """Make `count` subscriptions live; return what each stage took."""
    stages = Stages()
    admission = Admission()
    admission.announce(CATALOG)
    for portion in portions(count, family):
        with stages.count("compile"):
            admission.judge_all([asked.value for asked in portion])
        with stages.count("accept"):
            fleet.accept(portion)
        with stages.count("take"):
            written = fleet.take()
        answers = fleet.answers(written)
        with stages.count("live"):
            fleet.live(answers)
        with stages.count("store"):
            fleet.take()
    return stages


def measure(count: int = 1_000_000, family: str = "min") -> dict[str, object]:
    """Return the figures; what is made once, and the memory to make the records in, is there before they are taken."""
    warm()
    register(Fleet(family), 4 * PORTION, family)
    deque(portions(count, family), maxlen=0)
    fleet = Fleet(family)
    before = resident()
    stages = register(fleet, count, family)
    grown = resident() - before
    live = sum(edge.counts["live"] for edge in fleet.edges)
    with stages.count("snapshot"):
        stored = list(_snapshots(fleet))
    again = [VirtualEdge(i, VIRTUAL_EDGES, TOPICS, lambda _: CATALOG) for i in range(VIRTUAL_EDGES)]
    with stages.count("restore"):
        for edge, values in zip(again, stored, strict=True):
            edge.restore(values)
    assert sum(edge.counts["live"] for edge in again) == live
    return {
        "live": live,
        "bytes_per_subscription": round(grown / live),
        "stored_bytes_per_subscription": round(sum(len(value) for values in stored for value in values) / live),
        "us_per_subscription": stages.each(live),
        "restore_s": round(stages.seconds["restore"], 2),
    }


def _snapshots(fleet: Fleet) -> Iterator[list[bytes]]:
    for edge in fleet.edges:
        yield [record.value for record in edge.snapshot_records() if record.value is not None]


if __name__ == "__main__":
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    print(json.dumps(measure(size, *sys.argv[2:]), indent=2))
