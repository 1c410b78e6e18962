"""The virtual edges that one process owns now, and the next step of all of them together.

Everything here is memory: records are fed in, `step` says what to write and which positions go with it, and the
process makes that one transaction. What has been fed in but not committed is thrown away by `clear`.

A *fence* decides when a subscription to an unknown table may be refused: the end of the virtual edge's notifications,
asked for after the subscription came. Once that far is read, no announcement of a newer catalog can still be
on its way, and so `apply` followed by `subscribe` is never refused by a race.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from catalog.schema.catalog import Catalog
from connectors.kafka.admin import Place
from connectors.kafka.partitioner import home_partition
from connectors.kafka.record import KafkaRecord
from connectors.record import OutRecord
from connectors.topics import Topics
from overlay.delivery.packed_deliveries import PACKED_KEY
from overlay.index.join_index import JoinIndex
from overlay.machine.virtual_edge import VirtualEdge
from overlay.maintain.contradictions import Contradiction
from overlay.process.compaction_policy import SnapshotPolicy
from overlay.subscriptions.bag_looks import Denied, Outcome
from state.row_digest import KEY_BYTES

STEP_RECORDS = 20_000
SETTLED = 10_000
"""At most so many held-back subscriptions get their final word at a time: about two seconds of refusals."""
BYTES_A_RECORD = 200
"""Packed deliveries count as so many records as their bytes would be."""


@dataclass(frozen=True, slots=True)
class Step:
    """What one transaction holds: records, the next offset of every place owned, and edges that wrote snapshots.

    `pushed` are deliveries to be told once it is committed, which are no records of it, and so are looks (`looked`).
    """

    records: list[OutRecord]
    positions: dict[Place, int]
    snapshots: list[int]
    pushed: list[OutRecord]
    looked: list[tuple[int, Outcome]] = field(default_factory=list)


@dataclass(slots=True)
class _Owned:
    edge: VirtualEdge
    policy: SnapshotPolicy
    fence: tuple[int, int] | None = None


class OwnedEdges:
    """Virtual edges of one process.

    Args:
        topics: names.
        partitions: how many virtual edges there are in all.
        catalogs: the catalog at a version.
        ends: end offsets of `notifications` for some partitions, asked of the broker now.
        snapshot_floor: see SnapshotPolicy.
        digest_key: what rows are hashed under (`connectors/digest_key.py`).
        joins_on_demand: whether somebody asks for the cells that joins lack.
    """

    def __init__(
        self,
        topics: Topics,
        partitions: int,
        catalogs: Callable[[int], Catalog],
        ends: Callable[[list[int]], Mapping[int, int]],
        snapshot_floor: int,
        digest_key: bytes = bytes(KEY_BYTES),
        joins_on_demand: bool = True,
    ) -> None:
        self._topics = topics
        self._partitions = partitions
        self._catalogs = catalogs
        self._ends = ends
        self._floor = snapshot_floor
        self._digest_key = digest_key
        self._joins_on_demand = joins_on_demand
        self._owned: dict[int, _Owned] = {}
        self._next: dict[Place, int] = {}
        self._out: list[OutRecord] = []
        self._packed = 0
        self._pushed: list[OutRecord] = []
        self._looked: list[tuple[int, Outcome]] = []
        self._joins = JoinIndex()

    @property
    def edges(self) -> dict[int, VirtualEdge]:
        """The virtual edges, by number; may be asked for by any thread."""
        return {number: owned.edge for number, owned in list(self._owned.items())}

    def clear(self) -> None:
        """Forget everything."""
        self._owned, self._next, self._out, self._packed, self._pushed = {}, {}, [], 0, []
        self._looked, self._joins = [], JoinIndex()

    def restore(self, number: int, values: Iterable[bytes | None]) -> VirtualEdge:
        """Own virtual edge `number`, as its records in `edge-state` describe it. *Raises* EdgeStateError."""
        edge = VirtualEdge(
            number, self._partitions, self._topics, self._catalogs,
            digest_key=self._digest_key, joins_on_demand=self._joins_on_demand, joins=self._joins,
        )  # fmt: skip
        policy = SnapshotPolicy(self._floor)

        def counted() -> Iterable[bytes | None]:
            for value in values:
                policy.wrote(len(value or b""))
                yield value

        edge.restore(counted())
        self._owned[number] = _Owned(edge, policy)
        return edge

    def begin(self, positions: Mapping[Place, int]) -> None:
        """Say from where the places owned are consumed."""
        self._next = dict(positions)

    def feed(self, record: KafkaRecord) -> bool:
        """Feed one record in; return whether enough came out to make it a step."""
        owned = self._owned[record.partition]
        if record.topic == self._topics.subscriptions:
            self.feed_subscriptions([record])
            return False
        self._notify(owned.edge, record)
        self._next[record.topic, record.partition] = record.offset + 1
        return len(self._out) + len(self._pushed) + self._packed >= STEP_RECORDS

    def feed_subscriptions(self, records: Sequence[KafkaRecord]) -> None:
        """Feed records of `subscriptions` in, each virtual edge's at once."""
        by_edge: dict[int, list[KafkaRecord]] = {}
        for record in records:
            by_edge.setdefault(record.partition, []).append(record)
        for number, mine in by_edge.items():
            columns = [record.offset for record in mine], [record.key for record in mine], [r.value for r in mine]
            self._owned[number].edge.subscribe_all(*columns)
            self._next[self._topics.subscriptions, number] = mine[-1].offset + 1

    def look(self, number: int, key: bytes) -> Denied | None:
        """Ask for the rows of a bag under a negative number; the answer comes with a step (`VirtualEdge.look`)."""
        owned = self._owned.get(home_partition(key, self._partitions))
        return Denied.NOT_NOW if owned is None else owned.edge.look(number, key)

    def forget_look(self, number: int, key: bytes) -> None:
        """Nobody waits for the answer of a look any more."""
        owned = self._owned.get(home_partition(key, self._partitions))
        if owned is not None:
            owned.edge.forget_look(number)

    def losses(self) -> list[tuple[int, str]]:
        """Return which virtual edges lost what since the last call."""
        return [(number, why) for number, owned in self._owned.items() for why in owned.edge.losses()]

    def contradictions(self) -> list[tuple[int, Contradiction]]:
        """Return the final answers of which a shard says something else since the last call, by virtual edge."""
        return [(number, each) for number, owned in self._owned.items() for each in owned.edge.contradictions()]

    def moved(self, positions: Mapping[Place, int], topic: str) -> None:
        """Note how far `topic` was consumed, transaction markers included; everything before was fed in."""
        self._next |= {place: offset for place, offset in positions.items() if place[0] == topic}

    def refuse_held(self) -> None:
        """Give the final word on held-back subscriptions whose fence was reached, on some of each virtual edge's.

        Where there are more than `SETTLED` the next call goes on.
        """
        reached = [
            owned
            for number, owned in self._owned.items()
            if owned.fence is not None and self._next[self._topics.notifications, number] >= owned.fence[0]
        ]
        for owned in reached:
            if owned.fence is not None and owned.edge.refuse_held(owned.fence[1], SETTLED // len(reached) + 1):
                owned.fence = None

    def raise_fences(self) -> None:
        """Ask for the ends of the virtual edges that hold subscriptions back. *Cost*: one round trip, if any does."""
        held = {
            number: owned.edge.held_through
            for number, owned in self._owned.items()
            if owned.fence is None and owned.edge.refusals_pending
        }
        for number, end in (self._ends(list(held)) if held else {}).items():
            through = held[number]
            if through is not None:
                self._owned[number].fence = (end, through)

    def cells_wanted(self) -> set[tuple[str, ...]]:
        """Return the sets of tables for whose cells subscriptions are held back."""
        return {tables for owned in self._owned.values() for tables in owned.edge.cells_wanted()}

    def step(self) -> Step:
        """Return what to write now; what was fed in before belongs to it."""
        snapshots: list[int] = []
        for number, owned in self._owned.items():
            self._take(owned.edge)
            if owned.policy.due:
                whole = owned.edge.snapshot_records()
                owned.policy.snapshot_taken(_size(whole))
                self._out += whole
                snapshots.append(number)
        records, self._out, self._packed = self._out, [], 0
        pushed, self._pushed = self._pushed, []
        looked, self._looked = self._looked, []
        return Step(records, self._positions(), snapshots, pushed, looked)

    def _positions(self) -> dict[Place, int]:
        """Return what to consume next after a restart: chunks that still wait for their progress are read again."""
        positions = dict(self._next)
        for number, owned in self._owned.items():
            resume = owned.edge.resume_offset
            if resume is not None:
                positions[self._topics.notifications, number] = resume
        return positions

    def _notify(self, edge: VirtualEdge, record: KafkaRecord) -> None:
        if edge.notification(record.offset, record.key, record.value):
            self._take(edge)

    def _take(self, edge: VirtualEdge) -> None:
        records = edge.take()
        self._out += records
        self._pushed += edge.pushed
        self._looked += edge.looked()
        packed = [record.value for record in records if record.key == PACKED_KEY]
        self._packed += sum(len(value or b"") for value in packed) // BYTES_A_RECORD
        self._owned[edge.number].policy.wrote(_size([r for r in records if r.topic == self._topics.edge_state]))


def _size(records: Sequence[OutRecord]) -> int:
    return sum(len(record.value or b"") for record in records)
