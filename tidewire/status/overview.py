"""What `tidewire status` knows: engine, tables and edges, read from Kafka and from the edges' `/health`.

Nothing here needs to run on the machine of the stack. Where each fact comes from:

    engine      the newest record of `batches`; its epoch is the offset of the engine's claim in `engines`
    tables      the catalog's topic; counters that shards leave in `engines`; `batches` against the topics' ends (lag)
    views       the same counters
    streams     the same, and what holds one back (streams.py)
    cells       the same of the cells of joins; who waits for one is told by the edges' `/health`
    edges       the consumer group's members and what each owns; `/health` of each for what it holds
    log         what its keeper leaves in `engines`
    processes   the status file of the data directory, or `/health` of an edge of an embedded stack
    curiosity   sums of all these: what was lost, what nobody asks (curiosity.py)
    headroom    where each of them has read to, against how long the topics keep their records

*Cost*: about 0.1 s, and the time to read `engines` backwards until every shard's newest counters are found.
"""

from __future__ import annotations

import http.client
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime

import msgspec

from catalog.schema.catalog import Catalog
from catalog.schema.placed_stage import home_of
from catalog.schema.relation import Relation
from connectors.http.address import parse_address
from connectors.kafka.catalog_versions import CatalogFold
from connectors.kafka.compacted_streams import compacted_streams
from connectors.kafka.failure import KafkaFailure, NotAuthorised, TopicUnknown
from connectors.kafka.reader import Reader
from connectors.kafka.record import KafkaRecord
from connectors.topics import Topics
from operators.control import Offsets, Progress, control_at
from operators.counters import ShardCounters, summed
from overlay.process.ownership import edge_address, edge_group
from tidewire.client.edge_connection import connect
from tidewire.stack.process_state import ProcessState, processes_in
from tidewire.status.curiosity import Curiosity, curiosity_of
from tidewire.status.edge_filters import cells_wanted_in
from tidewire.status.retention_headroom import Headroom, HeadroomRuler
from tidewire.status.streams import StreamState, streams_of

_BLOCK = 5_000
_HEALTH_SECONDS = 1.0


class Claim(msgspec.Struct, tag="claim", tag_field="kind"):
    """An engine's claim."""

    time: str
    checkpoint: str
    from_log: int = 0


class Trimmed(msgspec.Struct, tag="trimmed", tag_field="kind"):
    """Records of a partition were trimmed before they were read."""

    topic: str
    partition: str
    start: int
    end: int


class LogState(msgspec.Struct, tag="log", tag_field="kind"):
    """The log of publications, as its keeper last told it; `problem` is empty while all is well."""

    table: str
    seconds: float
    replay_days: int
    time: str
    number: int = -1
    end: dict[str, dict[str, int]] = {}
    problem: str = ""


class EngineState(msgspec.Struct):
    """The engine as its last progress shows it; `age` is in seconds, None before the first progress.

    from_log: how many groups began this epoch with what the log had of them (`tidewire rebuild`).
    """

    epoch: int | None = None
    claimed: str | None = None
    checkpoint: str | None = None
    batch: int | None = None
    catalog: int | None = None
    last_progress: str | None = None
    age: float | None = None
    from_log: int = 0


class TableState(msgspec.Struct):
    """A table: where its rows come from, what became of them, and how many wait. `lag` None: the topic is missing.

    `counters` are those of its `shards` together; `largest_bytes` is the state of the largest one; `partitions` are
    its topic's.
    """

    name: str
    topic: str
    lag: int | None
    counters: ShardCounters | None = None
    shards: int = 1
    largest_bytes: int = 0
    partitions: int = 0


class CellState(msgspec.Struct):
    """A cell: the tables of which it has copies, since when, how many of their records wait, and its counters.

    since: when its CREATE JOIN was written, UTC; `catalog` is the version.
    """

    tables: tuple[str, ...]
    catalog: int
    since: str
    lag: int
    counters: ShardCounters | None = None


class ViewState(msgspec.Struct):
    """A view: the group that computes it, and its counters: with rows while somebody asks it, else none.

    home: the shard of its table, of which there may be `shards`, or the cell of its tables.  catalog: the version that
    created it.  topic: where its rows are written, '' if nowhere.
    """

    name: str
    home: str
    reads: tuple[str, ...]
    catalog: int
    counters: ShardCounters | None = None
    shards: int = 1
    topic: str = ""


class WantedCell(msgspec.Struct):
    """Tables for which edges hold subscriptions back until there is a cell, and the addresses of these edges."""

    tables: tuple[str, ...]
    edges: list[str]


class EdgeState(msgspec.Struct):
    """An edge process. `health` is what it answered, None when it could not be reached from here."""

    address: str
    virtual_edges: list[int]
    health: dict[str, object] | None = None


class Overview(msgspec.Struct):
    """Everything that `tidewire status` shows."""

    bootstrap: str
    prefix: str
    virtual_edges: int
    catalog: int
    engine: EngineState
    tables: list[TableState]
    edges: list[EdgeState]
    dead_letters: int
    trimmed: list[Trimmed] = []
    log: LogState | None = None
    headroom: list[Headroom] = []
    processes: list[ProcessState] = []
    warnings: list[str] = []
    cells: list[CellState] = []
    wanted_cells: list[WantedCell] = []
    views: list[ViewState] = []
    streams: list[StreamState] = []
    curiosity: Curiosity = Curiosity()


_RECORD = msgspec.json.Decoder(ShardCounters | Claim | Trimmed | LogState)
_HEALTH = msgspec.json.Decoder(dict[str, object])


class _Found(msgspec.Struct):
    """What stands in `engines`."""

    counters: dict[str, ShardCounters] = {}
    trimmed: list[Trimmed] = []
    log: LogState | None = None


class Observer:
    """Looks at a running tidewire.

    Args:
        reader: of its Kafka cluster.
        bootstrap: the cluster's address, for the answer.
        topics: its topics.
        now: the present moment.
    """

    def __init__(self, reader: Reader, bootstrap: str, topics: Topics, now: Callable[[], datetime]) -> None:
        self._reader = reader
        self._admin = reader.admin
        self._bootstrap = bootstrap
        self._topics = topics
        self._now = now

    def look(self) -> Overview:
        """Return how everything is now, without warnings. *Raises* KafkaFailure, TopicUnknown if nothing was set up."""
        records = list(self._reader.read_to_end(self._topics.catalog))
        catalog = self._folded(records)
        progress = self._last_progress()
        shards = {shard for relation in catalog.relations.values() for shard in relation.shards}
        views = {shard for view in catalog.views.values() for shard in view.relation.shards}
        found = self._found(shards | catalog.cells.keys(), views)
        counters, partitions = found.counters, self._admin.topics()
        edges, streams = self._edges(), streams_of(catalog, counters, self._compacted(catalog))
        engine = self._engine(progress)
        tables = [
            self._table(relation, progress, counters, partitions.get(relation.topic, 0))
            for _, relation in sorted(catalog.relations.items())
        ]
        return Overview(
            bootstrap=self._bootstrap,
            prefix=self._topics.prefix,
            virtual_edges=self._admin.partitions(self._topics.subscriptions),
            catalog=catalog.version,
            engine=engine,
            tables=tables,
            edges=edges,
            dead_letters=self._kept(self._topics.dead_letters),
            trimmed=found.trimmed,
            log=found.log,
            headroom=self._headroom(progress, found.log),
            processes=next(filter(None, (processes_in(edge.health) for edge in edges)), []),
            cells=_cells(catalog, {record.offset: record.timestamp for record in records}, tables, counters),
            wanted_cells=wanted_of(edges),
            views=_views(catalog, counters),
            streams=streams,
            curiosity=curiosity_of(
                sum(gap.end - gap.start for gap in found.trimmed),
                sum(stream.holes for stream in streams),
                engine.from_log,
                (counters[shard] for shard in counters.keys() & (shards | views | catalog.cells.keys())),
                (edge.health for edge in edges),
            ),
        )

    def engine(self) -> EngineState:
        """Return what the engine has told of itself. *Raises* KafkaFailure."""
        return self._engine(self._last_progress())

    def catalog(self) -> Catalog:
        """Return the newest catalog."""
        return self._folded(self._reader.read_to_end(self._topics.catalog))

    def _folded(self, records: Iterable[KafkaRecord]) -> Catalog:
        return CatalogFold(self._topics.prefix).add_all((record.offset, record.value) for record in records).newest

    def _last_progress(self) -> Progress | None:
        for record in self._backwards(self._topics.batches, 10):
            found = control_at(record.topic, record.partition, record.offset, record.value)
            if isinstance(found, Progress):
                return found
        return None

    def _engine(self, progress: Progress | None) -> EngineState:
        if progress is None:
            return EngineState()
        state = EngineState(progress.epoch, batch=progress.batch, catalog=progress.catalog, last_progress=progress.time)
        told = datetime.fromisoformat(progress.time)
        state.age = round((self._now() - told.replace(tzinfo=told.tzinfo or UTC)).total_seconds(), 3)
        try:
            [record] = self._reader.read_range(self._topics.engines, 0, progress.epoch, progress.epoch + 1)
        except (KafkaFailure, ValueError):
            return state
        claim = _read(record.value)
        if isinstance(claim, Claim):
            state.claimed, state.checkpoint, state.from_log = claim.time, claim.checkpoint, claim.from_log
        return state

    def _found(self, shards: set[str], views: set[str]) -> _Found:
        """Return what `engines` says last, as far back as is read for the counters of `shards`.

        A view that nobody asks has told none for long, or never: of `views` are those found that stand a block further.
        """
        found, further = _Found(), 0
        for stored in self._backwards(self._topics.engines, _BLOCK):
            record = _read(stored.value)
            if isinstance(record, Trimmed):
                found.trimmed.append(record)
            elif isinstance(record, LogState):
                found.log = found.log or record
            elif isinstance(record, ShardCounters):
                found.counters.setdefault(record.shard, record)
            further += shards <= found.counters.keys()
            if further and (further > _BLOCK or views <= found.counters.keys()):
                break
        return found

    def _headroom(self, progress: Progress | None, log: LogState | None) -> list[Headroom]:
        """Return how long each of those who read may stay stopped."""
        ruler = HeadroomRuler(self._reader, self._now().timestamp())
        edges: Offsets = {}
        for (topic, partition), offset in self._admin.committed(edge_group(self._topics)).items():
            edges.setdefault(topic, {})[str(partition)] = offset
        readers = {"engine": progress.end if progress else {}, "log": log.end if log else {}, "edges": edges}
        return [room for who, read in readers.items() if (room := ruler.least(who, read))]

    def _backwards(self, topic: str, block: int) -> Iterator[KafkaRecord]:
        """Yield the topic's records, the newest first; read in blocks."""
        end, begin = self._admin.end_offsets(topic)[0], self._admin.begin_offsets(topic)[0]
        while end > begin:
            start = max(begin, end - block)
            yield from reversed(list(self._reader.read_range(topic, 0, start, end)))
            end = start

    def _table(
        self, relation: Relation, progress: Progress | None, counters: dict[str, ShardCounters], partitions: int
    ) -> TableState:
        parts = [counters[shard] for shard in relation.shards if shard in counters]
        return TableState(
            name=relation.name,
            topic=relation.topic,
            lag=self._lag(relation.topic, progress),
            counters=summed(parts) if parts else None,
            shards=relation.buckets,
            largest_bytes=max((part.bytes for part in parts), default=0),
            partitions=partitions,
        )

    def _lag(self, topic: str, progress: Progress | None) -> int | None:
        """Return how many records of `topic` no committed batch has read."""
        read = progress.end.get(topic, {}) if progress else {}
        try:
            ends, begins = self._admin.end_offsets(topic), self._admin.begin_offsets(topic)
        except TopicUnknown:
            return None
        return sum(max(0, end - max(begins[number], read.get(str(number), 0))) for number, end in ends.items())

    def _compacted(self, catalog: Catalog) -> set[str]:
        """Return the topics of streams that are compacted, as far as this user may ask."""
        try:
            return {stream.topic for stream in compacted_streams(self._admin.compacted, catalog.relations.values())}
        except NotAuthorised:
            return set()

    def _kept(self, topic: str) -> int:
        return sum(self._admin.end_offsets(topic).values()) - sum(self._admin.begin_offsets(topic).values())

    def _edges(self) -> list[EdgeState]:
        states: list[EdgeState] = []
        for member in self._admin.members(edge_group(self._topics)):
            owned = sorted(number for topic, number in member.owns if topic == self._topics.subscriptions)
            address = edge_address(member)
            if address is not None:
                states.append(EdgeState(address, owned, read_health(address)))
        return sorted(states, key=lambda state: state.address)


def _cells(
    catalog: Catalog, written: Mapping[int, int], tables: Iterable[TableState], counters: Mapping[str, ShardCounters]
) -> list[CellState]:
    """Return the cells of a catalog whose versions were `written` at so many milliseconds since 1970."""
    lags = {table.name: table.lag or 0 for table in tables}
    return [
        CellState(
            tables=cell.tables,
            catalog=cell.born,
            since=datetime.fromtimestamp(written.get(cell.born, 0) / 1000, UTC).isoformat(timespec="seconds"),
            lag=sum(lags[table] for table in cell.tables),
            counters=counters.get(name),
        )
        for name, cell in sorted(catalog.cells.items())
    ]


def _views(catalog: Catalog, counters: Mapping[str, ShardCounters]) -> list[ViewState]:
    """Return the views of a catalog."""
    views: list[ViewState] = []
    for view in catalog.views.values():
        parts = [counters[shard] for shard in view.relation.shards if shard in counters]
        whole = summed(parts) if parts else None
        named = view.name, home_of(view), view.reads, view.born
        views.append(ViewState(*named, whole, view.relation.buckets, view.topic))
    return views


def wanted_of(edges: Iterable[EdgeState]) -> list[WantedCell]:
    """Return for which cells edges hold subscriptions back, and which edges."""
    by_tables: dict[tuple[str, ...], list[str]] = {}
    for edge in edges:
        for tables in cells_wanted_in(edge.health):
            by_tables.setdefault(tables, []).append(edge.address)
    return [WantedCell(tables, addresses) for tables, addresses in sorted(by_tables.items())]


def _read(value: bytes | None) -> ShardCounters | Claim | Trimmed | LogState | None:
    try:
        return None if value is None else _RECORD.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def read_health(address: str, seconds: float = _HEALTH_SECONDS) -> dict[str, object] | None:
    """Return the answer of an edge's `GET /health`, None when it cannot be reached. No proxy is asked."""
    edge = parse_address(address)
    connection = connect(edge, seconds)
    try:
        connection.request("GET", f"{edge.path}/health")
        return _HEALTH.decode(connection.getresponse().read())
    except (OSError, http.client.HTTPException, msgspec.DecodeError):
        return None
    finally:
        connection.close()
