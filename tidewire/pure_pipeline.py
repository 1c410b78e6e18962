"""The whole chain in one process, without Kafka and Spark: logs are lists, a batch is a function call.

    decode -> order -> apply -> reformulate -> route -> encode -> edge

Groups run `shard.pipeline.process_group` and edges are `overlay.machine.virtual_edge.VirtualEdge`, the very code that
the stack runs; only the transport differs. Scenarios and property tests drive it; a step takes milliseconds.

`settle` runs everything to its end. For tests every part can also be moved on by itself, be interrupted where the stack
can be, and lose what it has in memory: `run_edge`, `lose_edge`, `run_batch`, `break_off`, `begin_epoch`.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from catalog.ddl.cell_ddl import create_join
from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from catalog.schema.relation import Relation
from connectors.kafka.partitioner import home_partition
from connectors.placement import Placement
from connectors.record import OutRecord, RawRecords
from connectors.topics import VIRTUAL_EDGES, Topics
from operators.control import Control, EpochBegins, Offsets, Progress, RegisterAll, Silence, encode_control
from operators.silenced import Silenced
from overlay.index.join_index import JoinIndex
from overlay.machine.virtual_edge import VirtualEdge
from overlay.subscriptions.summaries import PATIENT, Patience
from shard.bounds import Bounds
from shard.cell_seed import seed_of_cell
from shard.group_spec import GroupSpec
from shard.pipeline import process_group

_CONTROL_KEYS = {EpochBegins: b"@epoch", RegisterAll: b"@register", Progress: b"@progress"}

KeyValue = tuple[bytes | None, bytes | None]
Place = tuple[str, int]
Positions = dict[Place, int]
Result = tuple[bytes | None, list[OutRecord]]
_BOUNDS = Bounds()
FIRST_STAMP = 4_000_000_000_000_000
"""In the year 2096, in microseconds: no event of a stream that a test thinks of is ahead of its record."""


class PurePipeline:
    """One engine, `virtual_edges` edges, and the logs between them.

    `logs[topic][partition]` is a list of (key, value); a record's offset is its place in the list, and its timestamp
    `FIRST_STAMP` and the number of records appended before it anywhere. `clock` is the time that progress tells, in
    seconds since 1970; whoever wants time to pass adds to it. `stamps` has the timestamps of `logs`, `headers` the
    headers of those records that have one, by offset, and `groups` the states of groups by name.
    `place` says which groups there are; as in the stack, each shard is alone in one, and each
    cell is one. (Cells begin with the states of groups that have the shard's name.) `bounds` are what subscriptions may
    make a shard hold. The edges share an index of joins, as in one process.
    """

    def __init__(
        self,
        virtual_edges: int = VIRTUAL_EDGES,
        patience: Patience = PATIENT,
        place: Callable[[Catalog], Placement] = Placement.of,
        bounds: Bounds = _BOUNDS,
    ) -> None:
        self.topics = Topics()
        self.logs: dict[str, dict[int, list[KeyValue]]] = defaultdict(lambda: defaultdict(list))
        self.clock = 0
        self.epoch = 0
        self.groups: dict[str, bytes | None] = {}
        self._seeds: dict[str, bytes] = {}
        self.stamps: dict[Place, list[int]] = defaultdict(list)
        self.headers: dict[Place, dict[int, bytes]] = defaultdict(dict)
        self._appended = FIRST_STAMP
        self._silences = 0
        self._virtual_edges = virtual_edges
        self._patience = patience
        self._place = place
        self._held_to = bounds
        self._catalogs: list[Catalog] = []
        self._read: Positions = defaultdict(int)
        self._planned: Positions | None = None
        self._batch = -1
        self._bounds: tuple[Offsets, Offsets] = ({}, {})
        self._fed: Positions = defaultdict(int)
        self._committed: dict[int, int] = {}
        self._joins = JoinIndex()
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
        """Declare DDL, and let everything come to rest. Raises CatalogError, and then nothing has changed."""
        catalog = self.declare(ddl)
        self.settle()
        return catalog

    def declare(self, ddl: str) -> Catalog:
        """Append DDL to the catalog and announce it. Raises CatalogError, and then nothing has changed."""
        catalog = apply_ddl(self.catalog, ddl, len(self._catalogs))
        if self._planned is not None:
            self.run_batch()
        self._seed_cells(catalog)
        self._catalogs.append(catalog)
        self.append(self.topics.catalog, None, ddl.encode())
        if not self._announced:
            self._announce(EpochBegins(self.epoch, catalog.version))
            self._announce(RegisterAll(self.epoch, catalog.version))
            self._announced = True
        self.tell_progress()
        return catalog

    def cells_wanted(self) -> list[tuple[str, ...]]:
        """Return the sets of tables for whose cells subscriptions are held back."""
        return sorted({tables for edge in self.edges for tables in edge.cells_wanted()})

    def make_cells(self) -> None:
        """Declare the joins that subscriptions wait for, as an edge does, and let everything come to rest."""
        for tables in self.cells_wanted():
            self.apply(create_join(tables))

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

    def seed(self, group: str, state: bytes) -> None:
        """Let a group begin with `state`."""
        self.groups[group] = state

    def feed(self, records: Sequence[RawRecords], several: frozenset[str] = frozenset()) -> None:
        """Run one batch over records of relations' topics that come from elsewhere, and let the edges take it.

        They keep their partitions, offsets and times. `several` are the topics that have several partitions.
        """
        placement = self._place(self.catalog)
        taken: dict[str, list[RawRecords]] = defaultdict(list)
        for part in records:
            for groups, places in placement.of_records(part.topic, part.keys):
                for group in groups:
                    taken[group].append(part if places is None else part.take(places))
        results = {group: self._result(placement, group, parts, several) for group, parts in sorted(taken.items())}
        self._batch += 1
        for group, (state, out) in results.items():
            self.groups[group] = state
            self._write(out)
        self.tell_progress()
        self.settle()

    def silence(self, stream: str, upto: int) -> None:
        """Say that no more rows of a stream from before `upto` will come (microseconds), as an engine does."""
        relation = self.catalog.relations[stream]
        for partition in self._partitions(relation.topic):
            end = len(self.logs[relation.topic][partition])
            said = Silence(stream, partition, end, upto, epoch=self.epoch, born=relation.born)
            self.append(self.topics.registrations, relation.shard.encode(), encode_control(said), 0)

    def restart(self) -> None:
        """Lose all that is in memory: edges come back from `edge-state`, groups from their bytes."""
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
        log, fed = self.logs[self.topics.notifications][number], self._fed[self.topics.notifications, number]
        for offset in range(fed if edge.window_offset is None else edge.window_offset, fed):
            edge.collect(offset, log[offset][1])
        self.edges[number] = edge

    def _edge(self, number: int) -> VirtualEdge:
        return VirtualEdge(
            number, self._virtual_edges, self.topics, lambda version: self._catalogs[version], self._patience,
            joins=self._joins,
        )  # fmt: skip

    # -- the engine -----------------------------------------------------------------------------------------------

    def run_batch(self) -> bool:
        """Run one batch over everything that groups have not read; False if there is nothing."""
        results = self._results()
        if results is None:
            return False
        assert self._planned is not None
        start, self._read, self._planned = self._read, self._planned, None
        self._batch += 1
        self._bounds = _offsets(start), _offsets(self._read)
        for group, (state, out) in results.items():
            self.groups[group] = state
            self._write(out)
        self.tell_progress()
        return True

    def break_off(self, share: float) -> None:
        """Let the engine die when it has written `share` of its next batch; that batch is run again as it was."""
        for _, out in (self._results() or {}).values():
            self._write(out[: round(share * len(out))])

    def begin_epoch(self) -> None:
        """Begin anew with an empty checkpoint: catch up, then let every edge register everything again."""
        self.epoch += 1
        self.groups, self._read, self._planned, self._batch = {}, defaultdict(int), None, -1
        self._seeds = {}
        self._silences = len(self.logs[self.topics.silences][0])
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

    def _results(self) -> dict[str, Result] | None:
        """Return what the next batch makes of each group, None if nothing is unread.

        Until it has run, its end stays where it is now.
        """
        topics = {self.topics.registrations, *(relation.topic for relation in self.catalog.relations.values())}
        if self._planned is None:
            ends = {(topic, number): len(log) for topic in topics for number, log in self.logs[topic].items()}
            if all(self._read[place] == end for place, end in ends.items()):
                return None
            self._planned = defaultdict(int, self._read | ends)
        placement = self._place(self.catalog)
        taken: dict[str, list[RawRecords]] = defaultdict(list)
        for topic, number in sorted(self._planned):
            if topic in topics:
                self._gather((topic, number), placement, taken)
        return {group: self._result(placement, group, taken[group]) for group in sorted(taken)}

    def _result(
        self, placement: Placement, group: str, records: Sequence[RawRecords], several: frozenset[str] = frozenset()
    ) -> Result:
        members = placement.members(group)
        named = (self.epoch, group, self.catalog, self.topics, self._virtual_edges, several, members)
        spec = GroupSpec(
            *named,
            seed=self._seeds.get(group),
            bounds=self._held_to,
            counts={relation.topic: len(self._partitions(relation.topic)) for relation in self._streams()},
            silenced=self._silenced(),
        )
        result = process_group(spec, self._batch + 1, self.groups.get(group), records)
        return result.state, result.out

    def _streams(self) -> list[Relation]:
        return [relation for relation in self.catalog.relations.values() if relation.stream is not None]

    def _partitions(self, topic: str) -> range:
        """Return the partitions that a topic has: all up to the last that anything was written to."""
        return range(max(self.logs[topic], default=0) + 1)

    def _silenced(self) -> dict[str, tuple[Silenced, ...]]:
        """Return where silences have counted before the epoch began."""
        found: dict[str, tuple[Silenced, ...]] = {}
        for _, value in self.logs[self.topics.silences][0][: self._silences]:
            one = msgspec.json.decode(value or b"", type=Silenced)
            found[one.stream] = (*found.get(one.stream, ()), one)
        return found

    def _seed_cells(self, catalog: Catalog) -> None:
        """Make what the new cells of `catalog` begin with, of their tables' states between two batches."""
        for name, cell in catalog.cells.items():
            if self.catalog.cells.get(name) != cell:
                self._seeds[name] = seed_of_cell(cell, catalog, self.groups)

    def _gather(self, place: Place, placement: Placement, taken: dict[str, list[RawRecords]]) -> None:
        topic, partition = place
        assert self._planned is not None
        start, end = self._read[place], self._planned[place]
        keys = [key for key, _ in self.logs[topic][partition][start:end]]
        offsets: dict[str, list[int]] = defaultdict(list)
        if topic == self.topics.registrations:
            for offset, key in enumerate(keys, start):
                for named in placement.of_registration(key):
                    offsets[named].append(offset)
        elif keys:
            for groups, places in placement.of_records(topic, keys):
                part = range(start, end) if places is None else (places + start).tolist()
                offsets.update({group: [*part] for group in groups})
        for group, its in offsets.items():
            taken[group].append(self._records(place, its))

    def _records(self, place: Place, offsets: list[int]) -> RawRecords:
        topic, partition = place
        log, stamps = self.logs[topic][partition], self.stamps[place]
        return RawRecords(
            topic=topic,
            keys=[log[offset][0] for offset in offsets],
            values=[log[offset][1] for offset in offsets],
            partition=np.full(len(offsets), partition, np.int32),
            offset=np.array(offsets, np.int64),
            timestamp=np.array([stamps[offset] for offset in offsets], np.int64),
        )

    # -- logs -----------------------------------------------------------------------------------------------------

    def _write(self, records: list[OutRecord]) -> None:
        for record in records:
            if record.header is not None:
                place = record.topic, record.partition or 0
                self.headers[place][len(self.logs[place[0]][place[1]])] = record.header
            self.append(record.topic, record.key, record.value, record.partition)

    def _unread(
        self, topic: str, partition: int, read: Positions, most: int | None = None
    ) -> list[tuple[int, bytes | None, bytes | None]]:
        start = read[topic, partition]
        log = self.logs[topic][partition][start:]
        log = log if most is None else log[:most]
        read[topic, partition] = start + len(log)
        return [(offset, key, value) for offset, (key, value) in enumerate(log, start)]


def _offsets(positions: Positions) -> Offsets:
    found: Offsets = {}
    for (topic, partition), offset in positions.items():
        found.setdefault(topic, {})[str(partition)] = offset
    return found
