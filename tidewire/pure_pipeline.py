"""The whole chain in one process, without Kafka and Spark: logs are lists, a batch is a function call.

    decode -> order -> apply -> reformulate -> route -> encode -> edge

Shards run `shard.pipeline.process_shard` and edges are `overlay.machine.virtual_edge.VirtualEdge`, the very code that
the stack runs; only the transport differs. Scenarios and property tests drive it; a step takes milliseconds.

`settle` runs everything to its end. For tests every part can also be moved on by itself, be interrupted where the stack
can be, and lose what it has in memory: `run_edge`, `lose_edge`, `run_batch`, `break_off`, `begin_epoch`.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from catalog.schema.ddl import apply_ddl
from catalog.schema.relation import Catalog, Relation
from connectors.formats.bucket import buckets_of
from connectors.kafka.partitioner import home_partition
from connectors.record import OutRecord, RawRecords
from connectors.topics import VIRTUAL_EDGES, Topics
from operators.control import Control, EpochBegins, Offsets, Progress, RegisterAll, encode_control
from overlay.machine.virtual_edge import VirtualEdge
from overlay.subscriptions.summaries import PATIENT, Patience
from shard.pipeline import ShardSpec, process_shard

_CONTROL_KEYS = {EpochBegins: b"@epoch", RegisterAll: b"@register", Progress: b"@progress"}

KeyValue = tuple[bytes | None, bytes | None]
Place = tuple[str, int]
Positions = dict[Place, int]
Result = tuple[bytes | None, list[OutRecord]]


class PurePipeline:
    """One engine, `virtual_edges` edges, and the logs between them.

    `logs[topic][partition]` is a list of (key, value); a record's offset is its place in the list, and its
    timestamp the number of records appended before it anywhere. `clock` is the time that progress tells, in seconds
    since 1970; whoever wants time to pass adds to it. `stamps` has the timestamps of `logs`, and `shards` the states of
    shards by name.
    """

    def __init__(self, virtual_edges: int = VIRTUAL_EDGES, patience: Patience = PATIENT) -> None:
        self.topics = Topics()
        self.logs: dict[str, dict[int, list[KeyValue]]] = defaultdict(lambda: defaultdict(list))
        self.clock = 0
        self.epoch = 0
        self.shards: dict[str, bytes | None] = {}
        self.stamps: dict[Place, list[int]] = defaultdict(list)
        self._appended = 0
        self._virtual_edges = virtual_edges
        self._patience = patience
        self._catalogs: list[Catalog] = []
        self._read: Positions = defaultdict(int)
        self._planned: Positions | None = None
        self._batch = -1
        self._bounds: tuple[Offsets, Offsets] = ({}, {})
        self._fed: Positions = defaultdict(int)
        self._committed: dict[int, int] = {}
        self.edges = [self._edge(number) for number in range(virtual_edges)]
        self._announced = False

    # -- from outside ---------------------------------------------------------------------------------------------

    def append(self, topic: str, key: bytes | None, value: bytes | None, partition: int | None = None) -> None:
        """Write one record. An internal topic's key decides its partition where none is given; others have one."""
        if partition is None:
            home = topic == self.topics.subscriptions and key is not None
            partition = home_partition(key, self._virtual_edges) if home and key is not None else 0
        self.logs[topic][partition].append((key, value))
        self.stamps[topic, partition].append(self._appended)
        self._appended += 1

    def apply(self, ddl: str) -> Catalog:
        """Append DDL to the catalog and announce it. Raises CatalogError, and then nothing has changed."""
        catalog = apply_ddl(self.catalog, ddl, len(self._catalogs))
        if self._planned is not None:
            self.run_batch()
        self._catalogs.append(catalog)
        self.append(self.topics.catalog, None, ddl.encode())
        if not self._announced:
            self._announce(EpochBegins(self.epoch, catalog.version))
            self._announce(RegisterAll(self.epoch, catalog.version))
            self._announced = True
        self.tell_progress()
        self.settle()
        return catalog

    @property
    def catalog(self) -> Catalog:
        """The newest catalog."""
        return self._catalogs[-1] if self._catalogs else Catalog(prefix=self.topics.prefix)

    def answer(self, id: str) -> object:
        """Return the current answer of a subscription, as an edge's HTTP says it."""
        edge = self.edges[home_partition(id.encode(), self._virtual_edges)]
        view = edge.find(id.encode())
        return None if view is None else view.answer

    def settle(self) -> None:
        """Run edges and batches until nothing moves any more."""
        moving = True
        while moving:
            for number in range(self._virtual_edges):
                self.run_edge(number)
            moving = self.run_batch()

    def seed(self, shard: str, state: bytes) -> None:
        """Let a shard begin with `state`."""
        self.shards[shard] = state

    def feed(self, records: RawRecords, several: frozenset[str] = frozenset()) -> None:
        """Run one batch over records of a relation's topic that come from elsewhere, and let the edges take it.

        They keep their partitions, offsets and times. `several` are the topics that have several partitions.
        """
        shard = next(r.shard for r in self.catalog.relations.values() if r.topic == records.topic)
        self.shards[shard], out = self._result(shard, [records], several)
        self._batch += 1
        self._write(out)
        self.tell_progress()
        self.settle()

    def restart(self) -> None:
        """Lose all that is in memory: edges come back from `edge-state`, shards from their bytes."""
        for number in range(self._virtual_edges):
            self.lose_edge(number)
        self.settle()

    # -- edges ----------------------------------------------------------------------------------------------------

    def run_edge(self, number: int, most: int | None = None) -> None:
        """Move one edge on by one step: at most `most` notifications, then all subscriptions."""
        edge = self.edges[number]
        for offset, key, value in self._unread(self.topics.notifications, number, self._fed, most):
            edge.notification(offset, key or b"", value or b"")
        for offset, key, value in self._unread(self.topics.subscriptions, number, self._fed):
            edge.subscription(offset, key, value)
        if self._fed[self.topics.notifications, number] == len(self.logs[self.topics.notifications][number]):
            edge.refuse_held()
        self._write(edge.take())
        resume = edge.resume_offset
        self._committed[number] = self._fed[self.topics.notifications, number] if resume is None else resume

    def lose_edge(self, number: int, compact: bool = False) -> None:
        """Put another edge in the place of one, made from `edge-state`; `compact`: it wrote all of it again before."""
        if compact:
            self._write(self.edges[number].snapshot_records())
        edge = self._edge(number)
        self._fed[self.topics.notifications, number] = self._committed.get(number, 0)
        edge.restore(value for _, value in self.logs[self.topics.edge_state][number] if value is not None)
        self.edges[number] = edge

    def _edge(self, number: int) -> VirtualEdge:
        return VirtualEdge(
            number, self._virtual_edges, self.topics, lambda version: self._catalogs[version], self._patience
        )

    # -- the engine -----------------------------------------------------------------------------------------------

    def run_batch(self) -> bool:
        """Run one batch over everything that shards have not read; False if there is nothing."""
        results = self._results()
        if not results:
            return False
        assert self._planned is not None
        start, self._read, self._planned = self._read, self._planned, None
        self._batch += 1
        self._bounds = _offsets(start), _offsets(self._read)
        for shard, (state, out) in results.items():
            self.shards[shard] = state
            self._write(out)
        self.tell_progress()
        return True

    def break_off(self, share: float) -> None:
        """Let the engine die when it has written `share` of its next batch; that batch is run again as it was."""
        for _, out in self._results().values():
            self._write(out[: round(share * len(out))])

    def begin_epoch(self) -> None:
        """Begin anew with an empty checkpoint: catch up, then let every edge register everything again."""
        self.epoch += 1
        self.shards, self._read, self._planned, self._batch = {}, defaultdict(int), None, -1
        self._bounds = ({}, {})
        self._announce(EpochBegins(self.epoch, self.catalog.version))
        while self.run_batch():
            pass
        self._announce(RegisterAll(self.epoch, self.catalog.version))

    def tell_progress(self) -> None:
        """Tell the last batch, for the first time or again, as an idle engine does every second."""
        version = self.catalog.version
        time = dt.datetime.fromtimestamp(self.clock, dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self._announce(Progress(self.epoch, self._batch, version, time))
        start, end = self._bounds
        whole = Progress(self.epoch, self._batch, version, time, start, end, version)
        self.append(self.topics.batches, None, encode_control(whole), 0)

    def _announce(self, record: Control) -> None:
        key = _CONTROL_KEYS[type(record)]
        for number in range(self._virtual_edges):
            self.append(self.topics.notifications, key, encode_control(record), number)

    def _results(self) -> dict[str, Result]:
        """Return what the next batch makes of each shard; until it has run, its end stays where it is now."""
        by_topic = {relation.topic: relation for relation in self.catalog.relations.values()}
        topics = [self.topics.registrations, *by_topic]
        if self._planned is None:
            ends = {(topic, number): len(log) for topic in topics for number, log in self.logs[topic].items()}
            if all(self._read[place] == end for place, end in ends.items()):
                return {}
            self._planned = defaultdict(int, self._read | ends)
        shards: dict[str, list[RawRecords]] = defaultdict(list)
        for topic, number in sorted(self._planned):
            if topic in topics:
                self._gather((topic, number), by_topic.get(topic), shards)
        return {shard: self._result(shard, shards[shard]) for shard in sorted(shards)}

    def _result(self, shard: str, records: Sequence[RawRecords], several: frozenset[str] = frozenset()) -> Result:
        spec = ShardSpec(self.epoch, shard, self.catalog, self.topics, self._virtual_edges, several)
        result = process_shard(spec, self._batch + 1, self.shards.get(shard), records)
        return result.state, result.out

    def _gather(self, place: Place, relation: Relation | None, shards: dict[str, list[RawRecords]]) -> None:
        topic, partition = place
        assert self._planned is not None
        start, end = self._read[place], self._planned[place]
        groups: dict[str, list[tuple[int, bytes | None, bytes | None]]] = defaultdict(list)
        part = self.logs[topic][partition][start:end]
        names = _shards(relation, [key for key, _ in part])
        for offset, (shard, (key, value)) in enumerate(zip(names, part, strict=True), start):
            groups[shard].append((offset, key, value))
        for name, records in groups.items():
            offsets = np.array([offset for offset, _, _ in records], np.int64)
            shards[name].append(
                RawRecords(
                    topic=topic,
                    keys=[key for _, key, _ in records],
                    values=[value for _, _, value in records],
                    partition=np.full(len(records), partition, np.int32),
                    offset=offsets,
                    timestamp=np.array(self.stamps[topic, partition], np.int64)[offsets],
                )
            )

    # -- logs -----------------------------------------------------------------------------------------------------

    def _write(self, records: list[OutRecord]) -> None:
        for record in records:
            self.append(record.topic, record.key, record.value, record.partition)

    def _unread(
        self, topic: str, partition: int, read: Positions, most: int | None = None
    ) -> list[tuple[int, bytes | None, bytes | None]]:
        start = read[topic, partition]
        log = self.logs[topic][partition][start:]
        log = log if most is None else log[:most]
        read[topic, partition] = start + len(log)
        return [(offset, key, value) for offset, (key, value) in enumerate(log, start)]


def _shards(relation: Relation | None, keys: list[bytes | None]) -> list[str]:
    """Return the shard of each record of a table (None: of `registrations`, whose keys are names of shards)."""
    if relation is None:
        return [(key or b"").decode() for key in keys]
    if not relation.bucket_by:
        return [relation.shard] * len(keys)
    return [relation.shards[bucket] for bucket in buckets_of(relation).of_keys(keys).tolist()]


def _offsets(positions: Positions) -> Offsets:
    found: Offsets = {}
    for (topic, partition), offset in positions.items():
        found.setdefault(topic, {})[str(partition)] = offset
    return found
