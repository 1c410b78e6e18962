"""The whole chain in one process, without Kafka and Spark: logs are lists, a batch is a function call.

    decode -> order -> apply -> reformulate -> route -> encode -> edge

Shards run `streaming.shard.process_shard` and edges are `overlay.virtual_edge.VirtualEdge`, the very code that
the stack runs; only the transport differs. Scenarios and property tests drive it; a step takes milliseconds.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from catalog.ddl import apply_ddl
from catalog.relation import Catalog, Relation
from connectors.bucket import buckets_of
from connectors.partitioner import home_partition
from connectors.record import OutRecord, RawRecords
from connectors.topics import VIRTUAL_EDGES, Topics
from operators.control import Control, EpochBegins, Progress, RegisterAll, encode_control
from overlay.virtual_edge import VirtualEdge
from streaming.shard import ShardSpec, process_shard

_EPOCH = 0
_TIME = "1970-01-01T00:00:00Z"
_CONTROL_KEYS = {EpochBegins: b"@epoch", RegisterAll: b"@register", Progress: b"@progress"}

KeyValue = tuple[bytes | None, bytes | None]


class PurePipeline:
    """One engine, `virtual_edges` edges, and the logs between them.

    `logs[topic][partition]` is a list of (key, value); a record's offset is its place in the list, and its
    timestamp the number of records appended before it anywhere.
    """

    def __init__(self, virtual_edges: int = VIRTUAL_EDGES) -> None:
        self.topics = Topics()
        self.logs: dict[str, dict[int, list[KeyValue]]] = defaultdict(lambda: defaultdict(list))
        self._stamps: dict[tuple[str, int], list[int]] = defaultdict(list)
        self._clock = 0
        self._virtual_edges = virtual_edges
        self._catalogs: list[Catalog] = []
        self._states: dict[str, bytes | None] = {}
        self._read: dict[tuple[str, int], int] = defaultdict(int)
        self._batch = -1
        self._fed: dict[tuple[str, int], int] = defaultdict(int)
        self._committed: dict[int, int] = {}
        self._edges = [self._edge(number) for number in range(virtual_edges)]
        self._announced = False

    def append(self, topic: str, key: bytes | None, value: bytes | None, partition: int | None = None) -> None:
        """Write one record. An internal topic's key decides its partition where none is given; others have one."""
        if partition is None:
            home = topic == self.topics.subscriptions and key is not None
            partition = home_partition(key, self._virtual_edges) if home and key is not None else 0
        self.logs[topic][partition].append((key, value))
        self._stamps[topic, partition].append(self._clock)
        self._clock += 1

    def apply(self, ddl: str) -> Catalog:
        """Append DDL to the catalog and announce it. Raises CatalogError, and then nothing has changed."""
        catalog = apply_ddl(self.catalog, ddl, len(self._catalogs))
        self._catalogs.append(catalog)
        self.append(self.topics.catalog, None, ddl.encode())
        if not self._announced:
            self._announce(EpochBegins(_EPOCH, catalog.version))
            self._announce(RegisterAll(_EPOCH, catalog.version))
            self._announced = True
        self._announce(Progress(_EPOCH, self._batch, catalog.version, _TIME))
        self.settle()
        return catalog

    @property
    def catalog(self) -> Catalog:
        """The newest catalog."""
        return self._catalogs[-1] if self._catalogs else Catalog()

    def settle(self) -> None:
        """Run edges and batches until nothing moves any more."""
        moving = True
        while moving:
            self._run_edges()
            moving = self._run_batch()

    def restart(self) -> None:
        """Lose all that is in memory: edges come back from `edge-state`, shards from their bytes."""
        self._edges = [self._restored(number) for number in range(self._virtual_edges)]
        self.settle()

    def _edge(self, number: int) -> VirtualEdge:
        return VirtualEdge(number, self._virtual_edges, self.topics, lambda version: self._catalogs[version])

    def _restored(self, number: int) -> VirtualEdge:
        edge = self._edge(number)
        self._fed[self.topics.notifications, number] = self._committed.get(number, 0)
        edge.restore(value for _, value in self.logs[self.topics.edge_state][number] if value is not None)
        return edge

    def _announce(self, record: Control) -> None:
        key = _CONTROL_KEYS[type(record)]
        for number in range(self._virtual_edges):
            self.append(self.topics.notifications, key, encode_control(record), number)

    def _write(self, records: list[OutRecord]) -> None:
        for record in records:
            self.append(record.topic, record.key, record.value, record.partition)

    def _run_edges(self) -> None:
        for number, edge in enumerate(self._edges):
            for offset, key, value in self._unread(self.topics.notifications, number, self._fed):
                edge.notification(offset, key or b"", value or b"")
            for offset, key, value in self._unread(self.topics.subscriptions, number, self._fed):
                edge.subscription(offset, key, value)
            edge.settle()
            self._write(edge.take())
            resume = edge.resume_offset
            self._committed[number] = self._fed[self.topics.notifications, number] if resume is None else resume

    def _unread(
        self, topic: str, partition: int, read: dict[tuple[str, int], int]
    ) -> list[tuple[int, bytes | None, bytes | None]]:
        start = read[topic, partition]
        log = self.logs[topic][partition]
        read[topic, partition] = len(log)
        return [(offset, key, value) for offset, (key, value) in enumerate(log[start:], start)]

    def _run_batch(self) -> bool:
        """Run one batch over everything that shards have not read; False if there is nothing."""
        shards: dict[str, list[RawRecords]] = defaultdict(list)
        by_topic = {relation.topic: relation for relation in self.catalog.relations.values()}
        for topic in [self.topics.registrations, *by_topic]:
            for partition in sorted(self.logs[topic]):
                self._gather(topic, partition, by_topic.get(topic), shards)
        if not shards:
            return False
        self._batch += 1
        for shard in sorted(shards):
            spec = ShardSpec(_EPOCH, shard, self.catalog, self.topics, self._virtual_edges)
            result = process_shard(spec, self._batch, self._states.get(shard), shards[shard])
            self._states[shard] = result.state
            self._write(result.out)
        self._announce(Progress(_EPOCH, self._batch, self.catalog.version, _TIME))
        return True

    def _gather(
        self, topic: str, partition: int, relation: Relation | None, shards: dict[str, list[RawRecords]]
    ) -> None:
        groups: dict[str, list[tuple[int, bytes | None, bytes | None]]] = defaultdict(list)
        unread = self._unread(topic, partition, self._read)
        for shard, record in zip(_shards(relation, [key for _, key, _ in unread]), unread, strict=True):
            groups[shard].append(record)
        for name, records in groups.items():
            offsets = np.array([offset for offset, _, _ in records], np.int64)
            shards[name].append(
                RawRecords(
                    topic=topic,
                    keys=[key for _, key, _ in records],
                    values=[value for _, _, value in records],
                    partition=np.full(len(records), partition, np.int32),
                    offset=offsets,
                    timestamp=np.array(self._stamps[topic, partition], np.int64)[offsets],
                )
            )


def _shards(relation: Relation | None, keys: list[bytes | None]) -> list[str]:
    """Return the shard of each record of a table (None: of `registrations`, whose keys are names of shards)."""
    if relation is None:
        return [(key or b"").decode() for key in keys]
    if not relation.bucket_by:
        return [relation.shard] * len(keys)
    return [relation.shards[bucket] for bucket in buckets_of(relation).of_keys(keys).tolist()]
