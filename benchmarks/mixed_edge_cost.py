"""What questions of all kinds side by side cost an edge process: ranges, filters, first rows, sums, and nobody else.

    python -m benchmarks.mixed_edge_cost [SUBSCRIPTIONS]

The workload of `benchmarks/mixed_latency.py`: a shard of 50,000 rows and an edge of 16 virtual edges with 100,000
subscriptions, in this process; no Kafka, no Spark. What is fed and what comes out is what an edge process feeds and
writes. A virtual edge does a part of a batch's work whatever the batch holds, so batches are of several sizes.

`us`: processor time of a publication at the shard and at the edge, the least of several batches; by publications a batch
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence

import numpy as np

from benchmarks.edge_memory import VIRTUAL_EDGES, Stages
from benchmarks.mixed_latency import MixedAudience
from benchmarks.stock_workload import Market, catalog_of
from catalog.schema.catalog import Catalog
from connectors.kafka.partitioner import home_partition
from connectors.kafka.record import KafkaRecord
from connectors.record import OutRecord, RawRecords
from connectors.topics import Topics
from operators.control import EpochBegins, Progress, RegisterAll, encode_control
from overlay.process.jit_warmup import warm
from overlay.process.lasting_objects import settle
from overlay.process.owned_edges import OwnedEdges
from shard.group_spec import GroupSpec
from shard.pipeline import process_group
from shard.tables import warm as warm_tables

ROWS, SUBSCRIPTIONS = 50_000, 100_000
SIZES = (300, 1_000, 3_000)
TURNS = 8
PORTION = 2_000
TOPICS = Topics()
TOPIC = "stock"


class MixedEdge:
    """A shard and an edge process; `stages` counts what each has taken."""

    def __init__(self, subscriptions: int = SUBSCRIPTIONS, rows: int = ROWS) -> None:
        catalog = catalog_of(TOPIC)
        relation = catalog.relations["stock"]
        self.stages = Stages()
        self.market = Market(relation, rows)
        self._spec = GroupSpec(0, relation.shard, catalog, TOPICS, VIRTUAL_EDGES)
        self._edges = OwnedEdges(
            TOPICS, VIRTUAL_EDGES, lambda version: catalog if version >= 0 else Catalog(),
            lambda numbers: dict.fromkeys(numbers, 0), 10**9,
        )  # fmt: skip
        for number in range(VIRTUAL_EDGES):
            self._edges.restore(number, [])
        places = ((topic, n) for topic in (TOPICS.subscriptions, TOPICS.notifications) for n in range(VIRTUAL_EDGES))
        self._edges.begin(dict.fromkeys(places, 0))
        self._state: bytes | None = None
        self._batch, self._place, self._offset = 0, 0, 0
        for control in (EpochBegins(0, 0), RegisterAll(0, 0)):
            self._tell_all(encode_control(control))
        self._edges.step()
        self.publish(rows=list(self.market.load()))
        self._subscribe(subscriptions, rows)

    def publish(self, rows: Sequence[OutRecord] = (), registered: Sequence[OutRecord] = ()) -> list[OutRecord]:
        """Run a batch; return what the edge writes."""
        records = [self._registrations(n, registered) for n in sorted({record.partition or 0 for record in registered})]
        if rows:
            places = np.arange(self._place, self._place + len(rows))
            self._place += len(rows)
            values = [row.key for row in rows], [row.value for row in rows]
            records.append(RawRecords(TOPIC, *values, np.zeros(len(rows), np.int32), places, places))
        with self.stages.count("shard"):
            result = process_group(self._spec, self._batch, self._state, records)
        self._state = result.state
        told = [record for record in result.out if record.topic == TOPICS.notifications]
        with self.stages.count("edge"):
            for record in told:
                self._tell(record.partition or 0, record.key, bytes(record.value or b""))
            self._tell_all(encode_control(Progress(0, self._batch, 0, "2026-03-01T00:00:00Z")))
            written = self._edges.step().records
        self._batch += 1
        return written

    def _subscribe(self, subscriptions: int, rows: int) -> None:
        homes: list[list[KafkaRecord]] = [[] for _ in range(VIRTUAL_EDGES)]
        for i, record in enumerate(MixedAudience(subscriptions, rows).subscriptions(TOPICS)):
            home = home_partition(record.key or b"", VIRTUAL_EDGES)
            homes[home].append(KafkaRecord(record.topic, home, i, 0, record.key, record.value))
        for first in range(0, max(map(len, homes)), PORTION):
            self._edges.feed_subscriptions([one for home in homes for one in home[first : first + PORTION]])
            written = self._edges.step().records
            while registered := [record for record in written if record.topic == TOPICS.registrations]:
                written = self.publish(registered=registered)
        assert sum(edge.counts["live"] for edge in self._edges.edges.values()) == subscriptions

    def _registrations(self, number: int, registered: Sequence[OutRecord]) -> RawRecords:
        mine = [record for record in registered if record.partition == number]
        values = [record.key for record in mine], [record.value for record in mine]
        return RawRecords(
            TOPICS.registrations, *values, np.full(len(mine), number, np.int32), np.arange(len(mine)),
            np.arange(len(mine)),
        )  # fmt: skip

    def _tell(self, number: int, key: bytes | None, value: bytes) -> None:
        self._edges.feed(KafkaRecord(TOPICS.notifications, number, self._offset, 0, key, value))
        self._offset += 1

    def _tell_all(self, value: bytes) -> None:
        for number in range(VIRTUAL_EDGES):
            self._tell(number, b"@control", value)


def measure(subscriptions: int = SUBSCRIPTIONS) -> dict[str, dict[str, float]]:
    """Return the figures by publications a batch."""
    warm()
    warm_tables()
    chain = MixedEdge(subscriptions)
    settle()
    figures = {}
    for size in SIZES:
        least, deliveries = {"shard": float("inf"), "edge": float("inf")}, 0
        for _ in range(TURNS):
            rows = list(chain.market.changes(size))
            chain.stages.seconds.clear()
            written = chain.publish(rows)
            deliveries += sum(record.topic == TOPICS.deliveries for record in written)
            least = {name: min(known, chain.stages.seconds[name]) for name, known in least.items()}
        us = {name: round(seconds / size * 1e6, 1) for name, seconds in least.items()}
        figures[str(size)] = {**us, "deliveries": round(deliveries / size / TURNS, 2)}
    return figures


if __name__ == "__main__":
    began = time.process_time()
    print(json.dumps(measure(int(sys.argv[1]) if len(sys.argv) > 1 else SUBSCRIPTIONS), indent=2))
    print(f"{time.process_time() - began:.0f} s of processor time")
