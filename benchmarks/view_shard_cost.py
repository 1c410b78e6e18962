"""What views add to a batch inside the engine's Python: one process, no Spark, no Kafka.

    python -m benchmarks.view_shard_cost [--profile table | view | cell]
    python -m benchmarks --only view_shard

100,000 publications on 50,000 rows (`view_workload.py`), of which 100,000 range subscriptions on the table hear in each
case, behind 16 virtual edges; processor times by turns, the least of several batches, in microseconds a publication:

    table   nothing else
    view    `by_sector` and 1,000 subscriptions on it, in the table's group
    cell    `best`, the third of three levels, and 1,000 subscriptions on it, in the cell of both tables

`view_shard_us` has them from the parcels that Spark brings to what Spark takes; the group's state is read and written. A
row of the engine costs the JVM several times as much, so the ratios here are not those of the engine (`view_rate.py`).
"""

from __future__ import annotations

import cProfile
import json
import pstats
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from zlib import crc32

import numpy as np
import pyarrow as pa

from benchmarks.shard_cost import PARTITIONS, raw, to_arrow
from benchmarks.stock_workload import Audience
from benchmarks.view_workload import CASES, ON_VIEW, SectorMarket, asked_of_view, catalog_of
from catalog.schema.catalog import Catalog
from connectors.placement import Placement
from connectors.record import OutRecord
from connectors.topics import Topics
from shard.group_spec import GroupSpec
from shard.pipeline import process_group
from shard.tables import warm
from streaming.query.shuffle_batch import unwrap, written
from streaming.query.sink_rows import frames

TOPICS = Topics()
TURNS = 7
PARCEL = 10_000
Parcels = dict[str, list[bytes]]


class Engine:
    """The groups of a case, with rows and subscriptions, batch by batch."""

    def __init__(self, name: str, rows: int, audience: Audience, loaded: Parcels) -> None:
        catalog = catalog_of(*CASES[name].views)
        self._placement = Placement.of(catalog)
        self._specs = {group: self._spec(catalog, group) for group in self._placement.groups}
        self.states: dict[str, bytes | None] = {}
        self._batch = 0
        self.run(loaded)
        asked = [*audience.registrations(TOPICS, 0, catalog.relations["stock"], PARTITIONS)]
        asked += asked_of_view(name, catalog, TOPICS, ON_VIEW, rows, PARTITIONS)
        homes: dict[str, list[OutRecord]] = defaultdict(list)
        for record in asked:
            homes[next(iter(self._placement.of_registration(record.key)), "")].append(record)
        for group, records in homes.items():
            registered = [raw(records, TOPICS.registrations)]
            self.states[group] = process_group(self._specs[group], 1, self.states[group], registered).state
        self._batch += 1

    def _spec(self, catalog: Catalog, group: str) -> GroupSpec:
        several = frozenset(each.topic for each in catalog.relations.values())
        return GroupSpec(0, group, catalog, TOPICS, PARTITIONS, several, self._placement.members(group))

    def run(self, parcels: Parcels) -> float:
        """Run a batch of all groups; return its seconds."""
        began = time.process_time()
        for group, spec in self._specs.items():
            topics = self._placement.topics(group).values()
            records = [unwrap(parcel, topic) for topic in topics for parcel in parcels[topic]]
            result = process_group(spec, self._batch, self.states.get(group), records)
            self.states[group] = result.state
            for frame in frames(result.out, PARCEL):
                to_arrow(frame)
        self._batch += 1
        return time.process_time() - began


class Wrapped:
    """Records as Spark brings them: those of each partition of a topic in turn, with the offsets that they have."""

    def __init__(self) -> None:
        self._ends: dict[tuple[str, int], int] = defaultdict(int)
        self._published = 0

    def parcels(self, records: Sequence[OutRecord]) -> Parcels:
        """Return the parcels of these records by topic."""
        parted: dict[tuple[str, int], list[tuple[int, OutRecord]]] = defaultdict(list)
        for place, record in enumerate(records, self._published):
            parted[record.topic, crc32(record.key or b"") % 4].append((place, record))
        self._published += len(records)
        found: Parcels = defaultdict(list)
        for (topic, partition), own in sorted(parted.items()):
            for start in range(0, len(own), PARCEL):
                found[topic].append(self._parcel(topic, partition, own[start : start + PARCEL]))
        return found

    def _parcel(self, topic: str, partition: int, own: Sequence[tuple[int, OutRecord]]) -> bytes:
        begin = self._ends[topic, partition]
        self._ends[topic, partition] += len(own)
        columns = {
            "key": pa.array([record.key for _, record in own], pa.large_binary()),
            "value": pa.array([record.value for _, record in own], pa.large_binary()),
            "partition": pa.array(np.full(len(own), partition, np.int32)),
            "offset": pa.array(np.arange(begin, begin + len(own))),
            "micros": pa.array(np.array([place for place, _ in own]) // 100 * 1000),
        }
        return written(pa.RecordBatch.from_pydict(columns))


def measure(
    rows: int = 50_000, subscriptions: int = 100_000, changes: int = 100_000, names: Sequence[str] = tuple(CASES)
) -> dict[str, object]:
    """Return microseconds a publication of each case, and how much more the others take than the table alone."""
    warm()
    market, wrapped, engines = prepared(rows, subscriptions, names)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(TURNS + 1):
        batch = wrapped.parcels([*market.changes(changes)])
        for name, engine in engines.items():
            seconds[name].append(engine.run(batch))
    least = {name: round(min(runs[1:]) / changes * 1e6, 2) for name, runs in seconds.items()}
    return {"view_shard_us": least}


def prepared(rows: int, subscriptions: int, names: Sequence[str]) -> tuple[SectorMarket, Wrapped, dict[str, Engine]]:
    """Return the market, who wraps what it publishes, and cases that have what was loaded."""
    tables = catalog_of().relations
    market, wrapped, audience = SectorMarket(tables, rows), Wrapped(), Audience(subscriptions, rows)
    loaded = wrapped.parcels([*market.load()])
    return market, wrapped, {name: Engine(name, rows, audience, loaded) for name in names}


def profile(name: str) -> None:
    """Print where a batch of a case spends its time."""
    warm()
    market, wrapped, engines = prepared(50_000, 100_000, [name])
    profiler = cProfile.Profile()
    for _ in range(3):
        engines[name].run(wrapped.parcels([*market.changes(100_000)]))
    batch = wrapped.parcels([*market.changes(100_000)])
    profiler.runcall(engines[name].run, batch)
    pstats.Stats(profiler).sort_stats("tottime").print_stats(35)


if __name__ == "__main__":
    if "--profile" in sys.argv:
        profile(sys.argv[-1])
    else:
        print(json.dumps(measure(), indent=2))
